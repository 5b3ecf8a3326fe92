"""HTTP to model servers."""
