"""The machine that the story's launches run on: this one, reached over SSH, or a practice host to try the story itself."""

import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import paramiko

from bot.practice.engines.install import make_environment
from bot.practice.hosts import PracticeHost, models
from bot.practice.hosts.host import Cards
from bot.practice.hosts.shell import Shell
from bot.practice.hosts.sshd import SshServer, make_key

NAME = "gpu-1"
#: account of the process that holds the card in the story
OTHER = "mlteam"
_HOLD = """import argparse, time
parser = argparse.ArgumentParser()
parser.add_argument("--config")
parser.add_argument("--hold-gib", type=int)
given = parser.parse_args()
import torch
held = torch.empty(given.hold_gib << 30, dtype=torch.uint8, device="cuda")
print("held", flush=True)
time.sleep(900)
"""


@dataclass(kw_only=True)
class Machine:
    """What the catalog and the bot need to know of it."""

    user: str
    port: int
    known_hosts_line: str
    identity: Path
    python: str
    model: str
    #: what answers on the SSH port, for the report
    ssh: str
    #: environment of the launches
    env: dict[str, str] = field(default_factory=dict)
    practice: PracticeHost | None = None
    _others: list["subprocess.Popen[str]"] = field(default_factory=list)

    def smi(self, *options: str) -> str:
        """Output of nvidia-smi there."""
        path, environment = "nvidia-smi", None
        if self.practice:
            path, environment = str(self.practice.shell.state / "bin/nvidia-smi"), self.practice.shell.environment()
        done = subprocess.run([path, *options], capture_output=True, text=True, env=environment, check=False)
        return done.stdout + done.stderr

    def memory_mib(self) -> int:
        """Memory in use on the first card."""
        return int(self.smi("--query-gpu=memory.used", "--format=csv,noheader,nounits").split()[0])

    def take_card(self, folder: Path, gib: int) -> str:
        """Somebody else's process takes memory on the card; gives its account."""
        if self.practice:
            self.practice.start_training([0], gib * 1024, owner=OTHER)
            return OTHER
        folder.mkdir(parents=True, exist_ok=True)
        script = folder / "train.py"
        script.write_text(_HOLD)
        folder.chmod(0o755)
        owner = add_account(OTHER)
        command = [sys.executable, str(script), "--config", "configs/pretrain-7b.yaml", "--hold-gib", str(gib)]
        self._others.append(
            subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                text=True,
                user=owner,
                cwd=folder,
                start_new_session=True,
                env={
                    "PATH": os.environ["PATH"],
                    "HOME": str(folder),
                    "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", ""),
                },
            )  # fmt: skip
        )
        line = self._others[-1].stdout.readline() if self._others[-1].stdout else ""
        if line.strip() != "held":
            raise RuntimeError(f"the other process did not get its memory: {line}")
        return owner or pwd.getpwuid(os.getuid()).pw_name

    def free_card(self) -> None:
        """End that process."""
        if self.practice:
            for job in self.practice._training:
                job.kill()
                job.wait()
                (self.practice.shell.state / f"gpu/{job.pid}.json").unlink(missing_ok=True)
            self.practice._training = []
        for other in self._others:
            other.kill()
            other.wait()
        self._others = []


def add_account(name: str) -> str | None:
    """An account of that name; None where we may not make one."""
    if os.getuid() != 0:
        return None
    try:
        pwd.getpwnam(name)
    except KeyError:
        with Path("/etc/passwd").open("a") as file:
            file.write(f"{name}:x:1907:1907::/nonexistent:/bin/sh\n")
        with Path("/etc/group").open("a") as file:
            file.write(f"{name}:x:1907:\n")
    return name


@contextmanager
def practice_machine(data: Path) -> Iterator[Machine]:
    """A practice host with one card and no systemd."""
    identity = data / "id"
    host = PracticeHost(
        data / "hosts", NAME, Cards(name="NVIDIA H200", count=1, memory_mib=143771, compute_cap="9.0", power_limit_w=700),
        user="serve", systemd=False, user_key=make_key(identity), settings={"PRACTICE_START_S": "3"},
    )  # fmt: skip
    port = host.start()
    models.write_model(host.root / "opt/models", models.qwen_27b())
    make_environment(host.root / "opt/llm/env", ["sglang"], host.shell.variables())
    try:
        yield Machine(
            user="serve", port=port, known_hosts_line=host.known_hosts_line, identity=identity, practice=host,
            python="/opt/llm/env/bin/python3", model="/opt/models/Qwen3.6-27B", ssh="a practice host's",
        )  # fmt: skip
    finally:
        host.stop()


class _Plain(Shell):
    """A shell that changes nothing of what is asked."""

    def environment(self) -> dict[str, str]:
        return {
            name: os.environ[name]
            for name in ("HOME", "USER", "LOGNAME", "SHELL", "LANG", "PATH")
            if name in os.environ
        }

    @property
    def home(self) -> Path:
        return Path.home()

    def translate(self, text: bytes) -> bytes:
        return text

    def link_processes(self) -> None:
        """There is one view of /proc."""

    def link_cgroups(self) -> None:
        """They are the machine's own."""


@contextmanager
def this_machine(data: Path, *, python: str, model: str, sshd: str | None, sshd_libraries: str) -> Iterator[Machine]:
    """This machine over OpenSSH's sshd where there is one, else over a server in this process that changes no command."""
    data.mkdir(parents=True, exist_ok=True)
    identity = data / "id"
    key = make_key(identity)
    user = pwd.getpwuid(os.getuid()).pw_name
    given: dict[str, Any] = {"user": user, "identity": identity, "python": python, "model": model}
    try:
        server = OpenSsh(data, sshd, sshd_libraries, f"{key.get_name()} {key.get_base64()}")
    except (OSError, RuntimeError) as error:
        print(f"no OpenSSH sshd: {error}", flush=True)
        shell = _Plain(name=NAME, user=user, root=Path("/nonexistent-root"), mark=NAME)
        host_key = make_key(data / "host_key")
        own = SshServer(shell, host_key, key)
        line = f"[127.0.0.1]:{own.port} {host_key.get_name()} {host_key.get_base64()}"
        try:
            yield Machine(port=own.port, known_hosts_line=line, ssh="a server in the story's own process", **given)
        finally:
            own.close()
        return
    try:
        yield Machine(port=server.port, known_hosts_line=server.known_hosts_line, ssh=server.version, **given)
    finally:
        server.close()


class OpenSsh:
    """An sshd of its own on a free loopback port. `libraries`: folder with its shared libraries, "" for the system's."""

    def __init__(self, data: Path, sshd: str | None, libraries: str, authorized: str) -> None:
        program = sshd or shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
        if not program:
            raise RuntimeError("sshd is not installed")
        import socket

        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        host_key = make_key(data / "host_key")
        self.known_hosts_line = f"[127.0.0.1]:{self.port} {host_key.get_name()} {host_key.get_base64()}"
        (data / "authorized_keys").write_text(authorized + "\n")
        add_sshd_account()
        lines = [
            f"Port {self.port}", "ListenAddress 127.0.0.1", f"HostKey {data}/host_key",
            f"AuthorizedKeysFile {data}/authorized_keys", "PidFile none", "StrictModes no", "UsePAM no",
            "PermitRootLogin prohibit-password", "PasswordAuthentication no", "KbdInteractiveAuthentication no",
            f"SetEnv PATH={os.environ['PATH']}",
        ]  # fmt: skip
        (data / "sshd_config").write_text("\n".join(lines) + "\n")
        environment = {"PATH": os.environ["PATH"]} | ({"LD_LIBRARY_PATH": libraries} if libraries else {})
        said = subprocess.run([program, "-V"], capture_output=True, text=True, env=environment, check=False)
        self.version = next((w for w in (said.stderr + said.stdout).splitlines() if "OpenSSH" in w), "OpenSSH sshd")
        log = data / "sshd.log"
        self._process = subprocess.Popen(
            [program, "-D", "-f", str(data / "sshd_config"), "-E", str(log)], env=environment, stdin=subprocess.DEVNULL
        )
        import time

        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    self._log_in(data)
                    return
            if self._process.poll() is not None:
                break
            time.sleep(0.1)
        raise RuntimeError(f"sshd did not start: {log.read_text() if log.exists() else ''}")

    def _log_in(self, data: Path) -> None:
        """Try a command. Raises RuntimeError with the log."""
        client = paramiko.SSHClient()
        client.set_missing_host_key_policy(paramiko.AutoAddPolicy())
        name = pwd.getpwuid(os.getuid()).pw_name
        try:
            client.connect(
                "127.0.0.1", self.port, name, key_filename=str(data / "id"), look_for_keys=False, allow_agent=False
            )
            _, out, _ = client.exec_command("echo $PATH; id; command -v nvidia-smi python3")
            print("over SSH:", out.read().decode().replace("\n", " | "), flush=True)
        except (paramiko.SSHException, OSError) as error:
            self.close()
            raise RuntimeError(f"no login: {error}: {(data / 'sshd.log').read_text()[-2000:]}") from error
        finally:
            client.close()

    def close(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.wait()


def add_sshd_account() -> None:
    """What an sshd of root needs to separate privileges."""
    if os.getuid() != 0:
        return
    Path("/run/sshd").mkdir(parents=True, exist_ok=True)
    try:
        pwd.getpwnam("sshd")
    except KeyError:
        with Path("/etc/passwd").open("a") as file:
            file.write("sshd:x:1908:65534::/run/sshd:/usr/sbin/nologin\n")
