"""Real parts for tests: an OpenSSH sshd, systemd hosts, a PostgreSQL cluster."""
