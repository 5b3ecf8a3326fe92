"""Hosts and the inventory."""

import re
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A machine or container reachable by SSH."""

    name: str
    #: DNS name, IP address, or a Host alias of ~/.ssh/config
    address: str
    port: int | None = None
    user: str | None = None
    #: as people write it: "2x NVIDIA RTX A6000 48GB"
    gpus: str = ""
    tags: tuple[str, ...] = ()
    #: nothing is started, stopped or restarted here without an approval
    protected: bool = False
    #: jump host, as `ProxyJump` in ssh
    via: str | None = None
    identity_file: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """All known hosts, by name."""

    hosts: dict[str, Host] = field(default_factory=dict)


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
#: names and addresses go into ProxyCommand lines of ssh_config, which a shell reads
_ADDRESS = re.compile(r"[A-Za-z0-9_\[:][A-Za-z0-9_.:%\]\[-]{0,252}")


def host_faults(host: Host) -> tuple[str, ...]:
    """What makes a host unusable, in words."""
    faults = []
    if not _NAME.fullmatch(host.name):
        faults.append("a host's name is made of letters, digits, dots, dashes and underscores")
    if not _ADDRESS.fullmatch(host.address):
        faults.append(f"{host.address!r} is no DNS name, address, or Host of ssh_config")
    if host.user is not None and not re.fullmatch(r"[^\s:@'\"`$;|&<>\\-][^\s:'\"`$;|&<>\\]{0,63}", host.user):
        faults.append(f"{host.user!r} is no login name")
    if host.port is not None and not 0 < host.port < 65536:
        faults.append(f"{host.port} is no port (1 to 65535)")
    if not host.gpus.isprintable():
        faults.append("its GPUs are said in one line")
    return tuple(faults)
