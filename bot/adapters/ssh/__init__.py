"""SSH: connection pool, remote commands, host keys."""
