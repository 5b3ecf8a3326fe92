"""The practice workspace and practice hosts: the whole job with no Slack and no GPU (extra practice)."""
