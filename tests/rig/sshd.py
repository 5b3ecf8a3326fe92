"""A private OpenSSH sshd on a free loopback port, with keys of its own."""

import contextlib
import getpass
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.adapters.ssh.remote import SshRemote
from bot.core.domain.host import Host
from tests.rig import needs


class Sshd:
    """One sshd. `options` are lines of sshd_config that come before ours; `around` is a command that starts it, and
    `variables` are set in every session."""

    def __init__(
        self,
        folder: Path,
        options: Sequence[str] = (),
        *,
        name: str = "gpu1",
        around: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self.name = name
        self.port = free_port()
        self.host_key = make_key(folder / "host_key")
        self.client_key = make_key(folder / "id_ed25519")
        self.user = getpass.getuser()
        (folder / "authorized_keys").write_text((folder / "id_ed25519.pub").read_text())
        (folder / "home").mkdir(exist_ok=True)
        self.config = folder / "sshd_config"
        self.log = folder / "sshd.log"
        ours = [
            f"Port {self.port}",
            "ListenAddress 127.0.0.1",
            f"HostKey {self.host_key}",
            f"AuthorizedKeysFile {folder}/authorized_keys",
            f"PidFile {folder}/sshd.pid",
            "StrictModes no",
            "UsePAM no",
            "PermitRootLogin prohibit-password",
            "PasswordAuthentication no",
            "KbdInteractiveAuthentication no",
            "MaxStartups 200",
            # the account's own shell start-up files are no part of the tests
            " ".join(["SetEnv", *(f"{k}={v}" for k, v in {"HOME": f"{folder}/home", **(variables or {})}.items())]),
        ]
        self.config.write_text("\n".join([*options, *ours]) + "\n")
        self._around = tuple(around)
        self._process: subprocess.Popen[bytes] | None = None
        self._remotes: list[SshRemote] = []
        self.start()

    def start(self) -> None:
        """Listen; returns when it does."""
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)  # where a root sshd separates privileges
        command = [*self._around, needs.program("sshd"), "-D", "-f", str(self.config), "-E", str(self.log)]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            if self._process.poll() is not None:
                break
        raise RuntimeError(f"sshd did not start:\n{self.log.read_text() if self.log.exists() else ''}")

    def stop(self) -> None:
        """Stop listening and end all sessions."""
        if self._process is not None:
            self.kill_sessions()
            self._process.terminate()
            self._process.wait(10)
            self._process = None

    def close(self) -> None:
        """End the remotes made here, then sshd."""
        for remote in self._remotes:
            remote.close()
        self.stop()

    def sessions(self) -> list[int]:
        """Pids of the sshd processes that serve a connection."""
        assert self._process is not None
        return [pid for pid in _descendants(self._process.pid) if _command_name(pid).startswith("sshd")]

    def kill_sessions(self) -> None:
        """Cut every connection, as a reboot would."""
        for pid in self.sessions():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def host(self, **changes: object) -> Host:
        """This sshd as a host of the inventory."""
        given: dict[str, object] = {
            "name": self.name,
            "address": "127.0.0.1",
            "port": self.port,
            "user": self.user,
            "identity_file": str(self.client_key),
        }
        return Host(**{**given, **changes})  # type: ignore[arg-type]  # fields by name

    @property
    def known_hosts_line(self) -> str:
        """Line that pins its key."""
        kind, blob = self.host_key.with_suffix(".pub").read_text().split()[:2]
        return f"[127.0.0.1]:{self.port} {kind} {blob}\n"

    def remote(
        self,
        *,
        trusted: bool = True,
        config: str | None = None,
        user_known_hosts: str | None = None,
        identities: Sequence[Path] = (),
        use_agent: bool = False,
        connect_timeout_s: float = 5.0,
    ) -> SshRemote:
        """An SshRemote that knows this sshd's key (unless not `trusted`) and nothing of who runs the tests."""
        pins = self.folder / f"pins{len(self._remotes)}"
        if trusted:
            pins.write_text(self.known_hosts_line)
        remote = SshRemote(
            known_hosts=pins,
            user_config=_written(self.folder / f"config{len(self._remotes)}", config),
            user_known_hosts=_written(self.folder / f"known{len(self._remotes)}", user_known_hosts),
            connect_timeout_s=connect_timeout_s,
            default_identities=identities,
            use_agent=use_agent,
        )
        self._remotes.append(remote)
        return remote


def free_port() -> int:
    """A loopback TCP port that is free now."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


def make_key(path: Path, kind: str = "ed25519", passphrase: str = "", *options: str) -> Path:
    """A key pair at `path` and `path`.pub."""
    if not path.exists():
        command = [needs.program("ssh-keygen"), "-q", "-t", kind, "-N", passphrase, "-C", "test", "-f", str(path)]
        subprocess.run([*command, *options], check=True)
    return path


def _written(path: Path, text: str | None) -> Path | None:
    if text is None:
        return None
    path.write_text(text)
    return path


def _descendants(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in task.read_text().split():
                found += [int(child), *_descendants(int(child))]
    return found


def _command_name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
