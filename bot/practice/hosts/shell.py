"""The shell of a practice host: its environment, and its own view of absolute paths.

A practice host lives in a folder that stands for its "/". Commands reach it as text, so paths such as /opt/models or
/etc/systemd/system are read as folders below that root, and what comes back shows them short again. Loops over /proc
see the host's own processes. Nothing of the machine's own configuration, homes or processes is read or changed.
"""

import contextlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_TOP = b"etc|run|sys/fs/cgroup|var/lib|var/log|var/spool|home|root|opt|srv|mnt|data|lib/systemd|usr/lib/systemd"
#: a script may put a root of its own, which is empty, before a path: "$R/etc/passwd"
_PREFIXED = rb"(?:(?<![\w./])|(?<=\$R))"
_OWN = re.compile(_PREFIXED + rb"/(?:" + _TOP + rb"|\.dockerenv)(?=[/\s\"';:)*,\]}]|$)")
_MEMINFO = re.compile(rb"/proc/meminfo\b")
_CGROUP = re.compile(rb"/proc/(?!self)([^/\s\"'*]+)/cgroup\b")
_SLICE = "/user.slice/user-1000.slice/user@1000.service/app.slice"
_LOOP = re.compile(rb"/proc/(?=\[0-9\]|\*/)|(?<=\$R)/proc\b/?")


@dataclass(frozen=True)
class Shell:
    """How commands of one practice host are run. `mark` is in the environment of every process of the host."""

    name: str
    user: str
    #: folder that stands for "/"
    root: Path
    mark: str
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def state(self) -> Path:
        """Folder for what the practice itself keeps."""
        return self.root / ".practice"

    @property
    def home(self) -> Path:
        """Home of the account."""
        return self.root / "home" / self.user

    def environment(self) -> dict[str, str]:
        """Environment of a login."""
        return {
            "HOME": str(self.home),
            "USER": self.user,
            "LOGNAME": self.user,
            "SHELL": "/bin/sh",
            "LANG": "C.UTF-8",
            "PATH": f"{self.state}/bin:/usr/bin:/bin",
            "XDG_RUNTIME_DIR": f"{self.root}/run/user/1000",
            **self.variables(),
        }

    def variables(self) -> dict[str, str]:
        """What every process of the practice host carries."""
        return {
            "PRACTICE_HOST": self.mark,
            "PRACTICE_NAME": self.name,
            "PRACTICE_ROOT": str(self.state),
            "PRACTICE_USER": self.user,
            "PRACTICE_GPU_DIR": str(self.state / "gpu"),
            **self.settings,
        }

    def translate(self, text: bytes) -> bytes:
        """A command as this host reads it."""
        root, state = os.fsencode(self.root), os.fsencode(self.state)

        def own(found: re.Match[bytes]) -> bytes:
            inside = text.startswith(root, found.start())
            return found.group() if inside else root + found.group()

        text = _OWN.sub(own, text)
        text = _MEMINFO.sub(state + b"/meminfo", text)
        text = _CGROUP.sub(lambda m: state + b"/cgroup/" + m.group(1), text)
        if _LOOP.search(text):
            self.link_processes()
            text = _LOOP.sub(lambda m: state + m.group(), text)
        return text

    def link_processes(self) -> None:
        """Bring the folder of the host's own processes up to date."""
        folder = self.state / "proc"
        now = {str(pid) for pid in processes(self.mark)}
        there = {p.name for p in folder.iterdir()}
        for pid in now - there:
            with contextlib.suppress(FileExistsError):
                (folder / pid).symlink_to(f"/proc/{pid}")
        for pid in there - now:
            (folder / pid).unlink(missing_ok=True)

    def link_cgroups(self) -> None:
        """Write the control groups of the units that run."""
        members: dict[str, list[int]] = {}
        units = _units(self.state)
        for pid in processes(self.mark):
            invocation = _variables(pid).get(b"INVOCATION_ID", b"").decode()
            if invocation in units:
                members.setdefault(f"{_SLICE}/{units[invocation]}", []).append(pid)
        for group, pids in members.items():
            folder = self.root / "sys/fs/cgroup" / group.lstrip("/")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "cgroup.procs").write_text("".join(f"{p}\n" for p in pids), encoding="utf-8")
            for pid in pids:
                (self.state / "cgroup" / str(pid)).write_text(f"0::{group}\n", encoding="utf-8")


class Outward:
    """Shows the host's own paths short in its output. Feed it chunks; `end` gives what was held back."""

    def __init__(self, root: Path) -> None:
        self._prefix = os.fsencode(root) + b"/"
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """What may be shown by now."""
        text = (self._held + data).replace(self._prefix, b"/")
        keep = next((n for n in range(len(self._prefix) - 1, 0, -1) if text.endswith(self._prefix[:n])), 0)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def end(self) -> bytes:
        """The rest."""
        return self._held


def processes(mark: str) -> list[int]:
    """Living processes with this mark."""
    wanted = mark.encode()
    entries = (int(e.name) for e in Path("/proc").iterdir() if e.name.isdigit())
    return [pid for pid in entries if _variables(pid).get(b"PRACTICE_HOST") == wanted]


def leftovers(root: Path) -> list[int]:
    """Processes that were started from a practice host's folder and have lost their mark."""
    prefix = os.fsencode(root) + b"/"
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if (entry / "cmdline").read_bytes().startswith(prefix):
                    found.append(int(entry.name))
    return found


def _variables(pid: int) -> dict[bytes, bytes]:
    try:
        data = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return {}
    return {k: v for k, _, v in (p.partition(b"=") for p in data.split(b"\0"))}


def _units(state: Path) -> dict[str, str]:
    """Invocation id -> unit name."""
    found = {}
    for path in (state / "units").glob("*.json"):
        with contextlib.suppress(OSError, ValueError):
            content = json.loads(path.read_text(encoding="utf-8"))
            if content.get("InvocationID"):
                found[content["InvocationID"]] = content["Id"]
    return found
