"""SSH: the `Remote` port on paramiko.

`endpoint` reads ~/.ssh/config into routes, `host_keys` keeps pins, `identities` finds keys, `connection` opens and
keeps one tuned transport, `pool` shares connections between threads, `wrapping` makes a command independent of the
login shell, `channels` sends on channels, `session` runs one command on one, `forward` carries local ports, `remote`
ties them together.
"""
