"""Practice versions of host tools, copied into each practice host as package `practice_host`; standard library only.

Environment: PRACTICE_ROOT is the host's own state folder, PRACTICE_HOST marks every process of the host, PRACTICE_USER
is the account that a process is shown under.
"""
