"""From a Host and ~/.ssh/config to a route: the machines to log in to, jump hosts first."""

import getpass
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import paramiko

from bot.core.domain.host import Host
from bot.errors import BadInputError, PermanentError

#: ssh itself stops at 16 levels of Include
_MAX_INCLUDES = 16
_MAX_JUMPS = 8
#: both may end up in the shell line of a ProxyCommand; ssh refuses the same characters
_ADDRESS = re.compile(r"(?!-)[\w.:%\[\]-]+")
_USER = re.compile(r"(?!-)[^\s'`\";&<>|(){}$\\]+")
_INCLUDE = re.compile(r"^\s*include(?:\s+|\s*=\s*)(.+?)\s*$", re.IGNORECASE)
_BLOCK = re.compile(r"^\s*(?:host|match)(?:\s|=)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One machine to log in to."""

    #: as the inventory or the ProxyJump line names it
    name: str
    address: str
    port: int
    user: str
    #: private keys named for it, tried first
    identity_files: tuple[str, ...] = ()
    #: use no key but those named
    identities_only: bool = False
    use_agent: bool = True
    #: command whose stdin and stdout reach the machine, instead of a TCP connection
    proxy_command: str | None = None
    #: name to look up in known_hosts instead of the address
    host_key_alias: str | None = None
    #: further known_hosts files to read, never written
    known_hosts_files: tuple[str, ...] = ()

    @property
    def host_key_name(self) -> str:
        """Name as in known_hosts: the address, with the port in brackets when it is not 22."""
        if self.host_key_alias:
            return self.host_key_alias
        return self.address if self.port == 22 else f"[{self.address}]:{self.port}"

    def __str__(self) -> str:
        place = self.address if self.port == 22 else f"{self.address}:{self.port}"
        return self.name if place == self.name else f"{self.name} ({place})"


Route = tuple[Endpoint, ...]


class SshConfig:
    """~/.ssh/config, read again whenever the file changes."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._stamp: tuple[int, int] | None = None
        self._text = ""
        self._routes: dict[Host, Route] = {}

    def route(self, host: Host) -> Route:
        """Machines to pass through and the host itself, in the order of logging in.

        Raises BadInputError when the config file cannot be read, PermanentError for a circle of jump hosts."""
        if self._refresh():
            self._routes.clear()
        route = self._routes.get(host)
        if route is None:
            route = self._routes[host] = self._find(host)
        return route

    def _find(self, host: Host) -> Route:
        target = self._endpoint(host.address, user=host.user, port=host.port, name=host.name)
        if host.identity_file:
            files = (str(Path(host.identity_file).expanduser()), *target[0].identity_files)
            target = (replace(target[0], identity_files=files), target[1])
        jump = host.via if host.via is not None else target[1]
        return (*self._jumps(jump, (host.name,)), target[0])

    def _jumps(self, jump: str | None, seen: tuple[str, ...]) -> Route:
        """Endpoints of one ProxyJump value; the jump hosts of its first machine come before it."""
        if not jump or jump.lower() == "none":
            return ()
        route: list[Endpoint] = []
        for number, hop in enumerate(part.strip() for part in jump.split(",")):
            user, address, port = _split_hop(hop)
            if address in seen or len(seen) > _MAX_JUMPS:
                raise PermanentError(
                    f"{seen[0]}: its jump hosts go in a circle ({' -> '.join((*seen, address))})",
                    remedy="correct ProxyJump in ~/.ssh/config, or `via` of the host",
                    host=seen[0],
                )
            endpoint, further = self._endpoint(address, user=user, port=port, name=address)
            if number == 0:
                route.extend(self._jumps(further, (*seen, address)))
            route.append(endpoint)
        return tuple(route)

    def _endpoint(self, address: str, *, user: str | None, port: int | None, name: str) -> tuple[Endpoint, str | None]:
        """The endpoint of one address or alias, and its own ProxyJump."""
        if not _ADDRESS.fullmatch(address) or (user is not None and not _USER.fullmatch(user)):
            raise BadInputError(
                f"{name}: {user or ''}@{address} is no user and address that ssh takes",
                remedy="correct the host in the inventory",
                host=name,
            )
        try:
            # what the inventory says comes first, so that it also reaches the %p and %r of a ProxyCommand
            ours = f"Host *\nPort {port}\n" if port else ""
            ours += f"Host *\nUser {user}\n" if user else ""
            found = paramiko.SSHConfig.from_text(ours + self._text).lookup(address)
            configured_port = int(found.get("port", 22))
        except (paramiko.SSHException, ValueError, KeyError, ImportError) as error:
            raise BadInputError(
                f"{name}: {self._path} cannot be used: {error}", remedy=f"correct {self._path}", host=name
            ) from error
        files = tuple(str(Path(f).expanduser()) for f in found.get("identityfile", []) if f.lower() != "none")
        known = (
            ()
            if self._path is None
            else tuple(
                str(Path(f).expanduser()) for f in found.get("userknownhostsfile", "").split() if f.lower() != "none"
            )
        )
        endpoint = Endpoint(
            name=name,
            address=found.get("hostname", address),
            port=configured_port,
            user=found.get("user") or getpass.getuser(),
            identity_files=files,
            identities_only=found.get("identitiesonly", "no").lower() == "yes",
            use_agent=found.get("identityagent", "").lower() != "none",
            proxy_command=found.get("proxycommand"),
            host_key_alias=found.get("hostkeyalias"),
            known_hosts_files=known,
        )
        return endpoint, found.get("proxyjump")

    def _refresh(self) -> bool:
        """Read the file again if it changed; says whether it did."""
        stamp, text = None, ""
        try:
            if self._path is not None and self._path.exists():
                status = self._path.stat()
                stamp = (status.st_mtime_ns, status.st_size)
                if stamp == self._stamp:
                    return False
                text = "\n".join(_lines(self._path, self._path.parent, 0))
                paramiko.SSHConfig.from_text(text)
        except (OSError, paramiko.SSHException) as error:
            raise BadInputError(
                f"{self._path} cannot be read: {error}", remedy=f"correct {self._path}; `ssh -G HOST` checks it"
            ) from error
        changed = stamp != self._stamp
        self._stamp, self._text = stamp, text
        return changed


def _lines(path: Path, base: Path, depth: int) -> Iterator[str]:
    """Lines of a config file with its Include lines replaced (paramiko knows none). After an include inside a
    Host block the block goes on."""
    block = "Host *"
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        include = _INCLUDE.match(line)
        if not include:
            if _BLOCK.match(line):
                block = line
            yield line
            continue
        if depth >= _MAX_INCLUDES:
            raise paramiko.SSHException(f"{path}: Include goes deeper than {_MAX_INCLUDES} files")
        for pattern in include.group(1).replace('"', "").split():
            for file in _matching(pattern, base):
                yield from _lines(file, base, depth + 1)
        yield block


def _matching(pattern: str, base: Path) -> list[Path]:
    path = Path(pattern).expanduser()
    if not path.is_absolute():
        path = base / path
    root = Path(path.anchor)
    return sorted(p for p in root.glob(str(path.relative_to(root))) if p.is_file())


def _split_hop(hop: str) -> tuple[str | None, str, int | None]:
    """`[user@]host[:port]`, also `ssh://…` and `[v6]:port`."""
    hop = hop.removeprefix("ssh://").rstrip("/")
    user, at, place = hop.rpartition("@")
    match = re.fullmatch(r"\[(.+)\](?::(\d+))?", place) or re.fullmatch(r"([^:]+)(?::(\d+))?", place)
    if match is None:  # a bare IPv6 address
        return (user if at else None), place, None
    return (user if at else None), match.group(1), int(match.group(2)) if match.group(2) else None
