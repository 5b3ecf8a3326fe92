"""A host of its own for tests: systemd, journal, sshd, sudo and an nvidia-smi, in a container (tests/rig/hosts)."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bot.adapters.ssh.remote import SshRemote
from bot.core.domain.host import Host
from bot.core.domain.shell import ShellCommand
from bot.errors import RelaunchError
from tests.rig import needs

_SCRIPT = Path(__file__).with_name("hosts")
_RIG = Path(os.environ.get("RIG", "/var/lib/relaunch-rig"))
_BUILD_LIMIT_S = 600


class RigHost:
    """One booted host. Root and the accounts made with `add_user` log in with the rig's key."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.address = ""
        self._remotes: list[SshRemote] = []

    @property
    def root(self) -> Path:
        """Its "/", as seen from here."""
        return _RIG / "hosts" / self.name / "root"

    @property
    def known_hosts_line(self) -> str:
        """Its host key, as ~/.ssh/known_hosts has it."""
        lines = (_RIG / "known_hosts").read_text().splitlines()
        return next(line for line in lines if line.startswith(f"{self.address} "))

    def up(self) -> None:
        """Boot it; returns when its sshd answers."""
        self.address = rig("up", self.name).split()[-1]

    def down(self) -> None:
        """End it and forget it."""
        for remote in self._remotes:
            remote.close()
        rig("down", self.name)

    def run(self, script: str, *, check: bool = True) -> str:
        """Run a script as root inside, past SSH."""
        done = subprocess.run(
            [str(_SCRIPT), "exec", self.name, "sh", "-c", script], capture_output=True, text=True, timeout=60
        )
        if check and done.returncode != 0:
            raise RuntimeError(f"{script}: {done.stdout}{done.stderr}")
        return done.stdout

    def add_user(self, name: str, *, sudo: bool = False) -> None:
        """An ordinary account that logs in with the rig's key, with or without passwordless sudo."""
        self.run(
            f"id {name} >/dev/null 2>&1 || useradd -m -s /bin/bash {name}; cp -r /root/.ssh /home/{name}/; "
            f"chown -R {name}: /home/{name}/.ssh"
        )
        if sudo:
            self.run(f"echo '{name} ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/{name}")

    def cut(self) -> None:
        """Take its network away; packets are lost in silence."""
        rig("cut", self.name)

    def mend(self) -> None:
        """Give the network back."""
        rig("mend", self.name)

    def pause(self) -> None:
        """Freeze its processes; its kernel still takes connections."""
        rig("pause", self.name)

    def resume(self) -> None:
        """Thaw its processes."""
        rig("resume", self.name)

    def reboot(self) -> None:
        """Reboot it; returns when it answers again."""
        rig("reboot", self.name)

    def crash(self) -> None:
        """Cut its power: nothing is stopped in order. Returns when it has booted again and answers."""
        rig("crash", self.name)

    def set_gpu_processes(self, processes: list[dict[str, Any]], used_mib: int = 1) -> None:
        """What its nvidia-smi shows: processes as {"pid": 1, "mib": 9, "name": "x"}, and the memory of GPU 0."""
        path = _RIG / "hosts" / self.name / "gpus.json"
        state = json.loads(path.read_text())
        state["processes"] = processes
        state["gpus"][0]["memory.used"] = used_mib
        path.write_text(json.dumps(state))

    def change_gpus(self, **values: Any) -> list[dict[str, Any]]:
        """Fields of all its GPUs, by their names in nvidia-smi; gives the GPUs."""
        path = _RIG / "hosts" / self.name / "gpus.json"
        state = json.loads(path.read_text())
        for gpu in state["gpus"]:
            gpu.update(values)
        path.write_text(json.dumps(state))
        gpus: list[dict[str, Any]] = state["gpus"]
        return gpus

    def host(self, user: str = "root", **changes: Any) -> Host:
        """It as a host of the inventory."""
        given = {
            "name": self.name,
            "address": self.address,
            "user": user,
            "identity_file": str(_RIG / "id_ed25519"),
        }
        return Host(**{**given, **changes})

    def remote(self, *, connect_timeout_s: float = 5.0) -> SshRemote:
        """An SshRemote that knows the host keys of all rig hosts."""
        remote = SshRemote(
            known_hosts=_RIG / "pins",
            user_config=None,
            user_known_hosts=_RIG / "known_hosts",
            connect_timeout_s=connect_timeout_s,
            default_identities=(),
            use_agent=False,
        )
        self._remotes.append(remote)
        return remote

    def until(self, script: str, *, timeout_s: float = 20.0) -> str:
        """Run a script inside until it succeeds."""
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                return self.run(script)
            except RuntimeError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)


def rig(*arguments: str, timeout_s: float = 120) -> str:
    """Run tests/rig/hosts."""
    done = subprocess.run([str(_SCRIPT), *arguments], capture_output=True, text=True, timeout=timeout_s)
    if done.returncode != 0:
        raise RuntimeError(f"hosts {' '.join(arguments)}: {done.stderr.strip()[-500:]}")
    return done.stdout.strip()


def build() -> None:
    """Make the base that all hosts share, unless it is there."""
    if os.geteuid() != 0:
        needs.missing("booting systemd hosts needs root")
    try:
        rig("build", timeout_s=_BUILD_LIMIT_S)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        needs.missing(f"systemd hosts cannot be made here: {error}")


def base() -> Path:
    """ "/" of all hosts, before they change it."""
    return _RIG / "base"


def hosts() -> Iterator[RigHost]:
    """Names that no other test run uses."""
    number = 0
    while True:
        number += 1
        yield RigHost(f"t{os.getpid()}-{number}")


def reached(remote: SshRemote, host: Host) -> bool:
    """Whether a host answers."""
    try:
        return remote.run(host, ShellCommand(text="true", timeout_s=5)).ok
    except RelaunchError:
        return False
