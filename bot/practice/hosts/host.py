"""One practice host: its folder, its tools, its SSH server, and what runs on it before anybody starts anything."""

import contextlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import paramiko

from bot.practice.hosts.shell import Shell, leftovers, processes
from bot.practice.hosts.sshd import SshServer, make_key
from bot.practice.hosts.tools import write_tools

_MEMINFO = "MemTotal:       527886240 kB\nMemAvailable:   489120032 kB\nSwapFree:        8388604 kB\n"
_OS_RELEASE = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_ID="12"\n'
#: exec'd with argv[0] set, so that ps shows what such a job looks like
_TRAINING = "import time\nwhile True:\n    time.sleep(60)\n"


@dataclass(frozen=True, kw_only=True)
class Cards:
    """GPUs of a host."""

    name: str
    count: int
    memory_mib: int
    compute_cap: str = "8.6"
    power_limit_w: int = 300


class PracticeHost:
    """A host on 127.0.0.1. It lives in `data`/`name`, its "/"; `settings` are PRACTICE_* variables."""

    def __init__(
        self,
        data: Path,
        name: str,
        cards: Cards,
        *,
        user: str = "serve",
        systemd: bool = True,
        user_key: paramiko.PKey,
        settings: dict[str, str] | None = None,
    ) -> None:
        self.name = name
        self._cards = cards
        self._user_key = user_key
        mark = f"{name}-{uuid.uuid4().hex[:12]}"
        self.shell = Shell(name=name, user=user, root=data / name, mark=mark, settings=settings or {})
        self._systemd = systemd
        self._host_key = make_key(data / "keys" / f"{name}.key")
        self._server: SshServer | None = None
        self._training: list[subprocess.Popen[bytes]] = []

    # --- life

    def start(self, port: int = 0) -> int:
        """Write what the host consists of and listen; gives the port."""
        for pid in leftovers(self.root):
            # of a practice in the same folder that was killed
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._write()
        self._server = SshServer(self.shell, self._host_key, self._user_key, port)
        return self._server.port

    def stop(self) -> None:
        """Stop answering and end every process of this host, whoever started it."""
        if self._server is not None:
            self._server.close()
        for _ in range(3):
            for pid in self._own():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            for job in self._training:
                job.wait()
            self._training = []
            if not self._own():
                return
            time.sleep(0.05)

    def _own(self) -> list[int]:
        return sorted({*processes(self.shell.mark), *leftovers(self.shell.root)})

    @property
    def port(self) -> int:
        """Port of the SSH server."""
        assert self._server is not None
        return self._server.port

    @property
    def known_hosts_line(self) -> str:
        """The pinned key, as ~/.ssh/known_hosts has it."""
        return f"[127.0.0.1]:{self.port} {self._host_key.get_name()} {self._host_key.get_base64()}"

    # --- what is on it

    @property
    def home(self) -> Path:
        """Home of the account."""
        return self.shell.home

    @property
    def root(self) -> Path:
        """Folder that stands for "/"."""
        return self.shell.root

    def _write(self) -> None:
        root, state, user = self.root, self.shell.state, self.shell.user
        for old in (state, root / "run"):
            if old.exists():
                shutil.rmtree(old)
        for name in ("gpu", "units", "journal", "proc", "cgroup"):
            (state / name).mkdir(parents=True)
        folders = (
            "etc/systemd/system",
            "run/user/1000/systemd",
            "var/lib/systemd/linger",
            "var/log",
            "root",
            "opt",
            "srv",
        )
        for folder in (*folders, "mnt", "data", "sys/fs/cgroup", f"home/{user}"):
            (root / folder).mkdir(parents=True, exist_ok=True)
        (state / "meminfo").write_text(_MEMINFO, encoding="utf-8")
        (root / "etc/os-release").write_text(_OS_RELEASE, encoding="utf-8")
        accounts = [f"{user}:x:{uid}:{uid}::/home/{user}:/bin/sh\n" for uid in sorted({1000, os.getuid()})]
        (root / "etc/passwd").write_text("".join(accounts), encoding="utf-8")
        write_tools(state, systemd=self._systemd)
        if self._systemd:
            (root / "run/systemd/system").mkdir(parents=True)
            (root / "var/lib/systemd/linger" / user).touch()
            os.mknod(root / "run/user/1000/systemd/private", stat.S_IFSOCK | 0o600)
        self._write_cards()

    def _write_cards(self) -> None:
        cards = [
            {
                "index": index,
                "name": self._cards.name,
                "memory_mib": self._cards.memory_mib,
                "uuid": f"GPU-{uuid.uuid5(uuid.NAMESPACE_DNS, f'{self.name}-{index}')}",
                "compute_cap": self._cards.compute_cap,
                "power_limit": self._cards.power_limit_w,
            }
            for index in range(self._cards.count)
        ]
        (self.shell.state / "gpu/gpus.json").write_text(json.dumps({"gpus": cards}), encoding="utf-8")

    def start_training(self, gpus: Sequence[int], mib_each: int, *, owner: str) -> int:
        """A real process `python train.py` of somebody else that holds memory; gives its pid."""
        script = self.home / "train" / "train.py"
        script.parent.mkdir(exist_ok=True)
        script.write_text(_TRAINING, encoding="utf-8")
        environment = self.shell.environment() | {"PRACTICE_USER": owner, "PYTHONHOME": sys.base_prefix}
        job = subprocess.Popen(
            ["python", "train.py", "--config", "configs/pretrain-7b.yaml"],
            executable=str(self.shell.state / "bin" / "python"),
            cwd=script.parent,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._training.append(job)
        holding = {"pid": job.pid, "name": "python", "busy": True, "gpus": {str(g): mib_each for g in gpus}}
        (self.shell.state / f"gpu/{job.pid}.json").write_text(json.dumps(holding), encoding="utf-8")
        return job.pid

    def miss_library(self, library: str | None) -> None:
        """From now on engines cannot load this shared library; None: they can."""
        path = self.shell.state / "missing-library"
        if library:
            path.write_text(library, encoding="utf-8")
        else:
            path.unlink(missing_ok=True)
