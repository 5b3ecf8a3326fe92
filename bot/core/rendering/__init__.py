"""Template and context to a Slack payload; Slack limits are checked here."""
