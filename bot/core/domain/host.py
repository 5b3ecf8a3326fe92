"""Hosts and the inventory."""

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
