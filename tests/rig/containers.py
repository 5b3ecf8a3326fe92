"""A host with containers for tests: this machine over a private sshd, with a podman or a docker of its own."""

import json
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.ssh.remote import SshRemote
from bot.core.domain.host import Host
from bot.core.domain.shell import ShellCommand, ShellResult
from tests.rig import needs
from tests.rig.host import base, build
from tests.rig.sshd import Sshd

#: a Python and what it needs, from the base of the systemd hosts; its recipe is part of its name
IMAGE = "localhost/relaunch-python:1"
_CARD: dict[str, Any] = {
    "name": "NVIDIA RTX A6000", "memory.total": 49140, "memory.used": 1, "utilization.gpu": 0, "temperature.gpu": 34,
    "power.draw": 22.5, "power.limit": 300.0, "clocks.sm": 210, "clocks.max.sm": 2100, "pstate": "P8",
}  # fmt: skip
_PARTS = (
    "bin", "lib", "lib64", "sbin", "usr/bin", "usr/lib64", "usr/lib/python3", "usr/lib/python3.11",
    "usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "etc/passwd", "etc/group", "etc/ld.so.cache",
)  # fmt: skip
#: where a mixture of both cgroup versions is mounted, crun starts nothing: hide the one that holds no controllers
_ONE_CGROUP_VERSION = 'umount /sys/fs/cgroup/unified 2>/dev/null; exec "$@"'


class ContainerHost:
    """podman or docker as root, reached by SSH, with a store of its own. The image is made once a machine."""

    def __init__(self, folder: Path, tool: str = "podman") -> None:
        needs.program(tool)
        build()
        self.folder = folder
        self.tool = tool
        self._daemon: subprocess.Popen[bytes] | None = None
        self._gpus = [{**_CARD, "index": n, "uuid": f"GPU-0000000{n}-b0c5-0000-0000-00000000000{n}"} for n in (0, 1)]
        shared = base().parent / f"images-{tool}"
        shared.mkdir(parents=True, exist_ok=True)
        around = [needs.program("unshare"), "-m", "sh", "-c", _ONE_CGROUP_VERSION, "sh"]
        (folder / "root/usr/local/bin").mkdir(parents=True)
        path = {"PATH": f"{self.root}/usr/local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        settings = _settings(folder, shared) if tool == "podman" else {"DOCKER_HOST": f"unix://{folder}/docker.sock"}
        self.sshd = Sshd(folder, name="boxes", around=around, variables={**settings, **path})
        self.remote: SshRemote = self.sshd.remote()
        if tool == "docker":
            self._start_daemon(around, shared)
        self._make_image(shared)
        self._try()

    @property
    def name(self) -> str:
        """Its name in the inventory."""
        return self.sshd.name

    @property
    def root(self) -> Path:
        """Files that containers are given; programs in its usr/local/bin come before this machine's."""
        return self.folder / "root"

    def change_gpus(self, **values: Any) -> list[dict[str, Any]]:
        """Two cards, which `root`'s nvidia-smi shows; gives them."""
        for card in self._gpus:
            card.update(values)
        (self.root / "gpus.json").write_text(
            json.dumps({"driver": "580.95.05", "cuda": "13.0", "gpus": self._gpus, "processes": []})
        )
        return self._gpus

    def host(self, user: str = "root") -> Host:
        """It as a host of the inventory."""
        return self.sshd.host(user=user)

    def run(self, script: str, *, check: bool = True) -> str:
        """Run a script there."""
        done = self.result(script)
        if check and done.exit_status != 0:
            raise RuntimeError(f"{script}: {done.stdout}{done.stderr}")
        return done.stdout

    def result(self, script: str) -> ShellResult:
        """Run a script there, and give how it ended."""
        return self.remote.run(self.host(), ShellCommand(text=script, timeout_s=60.0))

    def until(self, script: str, *, timeout_s: float = 20.0) -> str:
        """Run a script until it succeeds."""
        deadline = time.monotonic() + timeout_s
        while (done := self.result(script)).exit_status != 0:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{script}: {done.stdout}{done.stderr}")
        return done.stdout

    def remove_all(self) -> None:
        """Remove its containers."""
        at_once = " -t 0" if self.tool == "podman" else ""
        self.run(f"{self.tool} ps -aq | xargs -r {self.tool} rm -f{at_once} >/dev/null 2>&1; true")

    def close(self) -> None:
        """End the containers, docker and sshd."""
        self.remove_all()
        self.sshd.close()
        if self._daemon is not None:
            self._daemon.terminate()
            self._daemon.wait(20)

    def _start_daemon(self, around: Sequence[str], shared: Path) -> None:
        """A dockerd of our own, one at a time on its store."""
        words = [
            needs.program("flock"),
            "--no-fork",
            str(shared.parent / "docker.lock"),
            *around,
            # it ends with the test run, however that ends
            *(needs.program("setpriv"), "--pdeathsig", "TERM", needs.program("dockerd")),
        ]
        words += [f"--data-root={shared}", f"--exec-root={self.folder}/exec", f"--pidfile={self.folder}/docker.pid"]
        words += [f"--host=unix://{self.folder}/docker.sock", "--iptables=false", "--ip6tables=false", "--bridge=none"]
        with (self.folder / "dockerd.log").open("wb") as log:
            self._daemon = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            self.until("docker version", timeout_s=30.0)
        except RuntimeError as error:
            self.close()
            # also where all real parts are demanded: the same tests run over podman
            pytest.skip(f"dockerd does not start here: {error}")

    def _make_image(self, shared: Path) -> None:
        parts = " ".join(part for part in _PARTS if (base() / part).exists())
        into = f"export CONTAINERS_STORAGE_CONF={self.folder}/shared.conf; " if self.tool == "podman" else ""
        self.run(
            f"{into}exec 9>{shared}.lock; flock 9; {self.tool} image inspect {IMAGE} >/dev/null 2>&1 || "
            f"tar -C {base()} -c {parts} | {self.tool} import - {IMAGE}"
        )

    def _try(self) -> None:
        """Skip where no container can run at all, with the tool's own words."""
        done = self.result(f"{self.tool} run --rm --network=host {IMAGE} /usr/bin/python3 -c 'print(6*7)'")
        if done.stdout.strip() != "42":
            said = (done.stderr or done.stdout).strip()[-300:]
            self.close()
            # also where all real parts are demanded: within some virtual machines no container can be run
            pytest.skip(f"{self.tool} cannot run a container here: {said}")


def _settings(folder: Path, shared: Path) -> dict[str, str]:
    """Variables of podman: a store of our own, and no limits above this account's."""
    limits = [f'"{name}=1024:1024"' for name in ("nofile", "nproc")]
    (folder / "containers.conf").write_text(
        f'[containers]\ndefault_ulimits = [{", ".join(limits)}]\n[engine]\ncgroup_manager = "cgroupfs"\n'
        'events_logger = "file"\n'
    )
    store = '[storage]\ndriver = "overlay"\ngraphroot = "{}"\nrunroot = "{}"\n'
    (folder / "shared.conf").write_text(store.format(shared, f"{folder}/run-shared"))
    own = store.format(f"{folder}/store", f"{folder}/run")
    (folder / "storage.conf").write_text(f'{own}[storage.options]\nadditionalimagestores = ["{shared}"]\n')
    return {
        "CONTAINERS_CONF": f"{folder}/containers.conf",
        "CONTAINERS_STORAGE_CONF": f"{folder}/storage.conf",
    }
