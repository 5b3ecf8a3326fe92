"""Now, sleeping, and the scheduler that only fires triggers."""
