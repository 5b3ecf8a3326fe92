"""What a practice host sees of the machine: its own processes, told by a mark in their environment."""

import json
import os
import sys
from pathlib import Path
from typing import Any

JsonObject = dict[str, Any]


def root() -> Path:
    """The host's state folder."""
    return Path(os.environ["PRACTICE_ROOT"])


def environment(pid: int) -> dict[str, str]:
    """Environment of a process; empty when it may not be read or is gone."""
    try:
        data = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return {}
    pairs = (p.decode("utf-8", "surrogateescape").partition("=") for p in data.split(b"\0") if b"=" in p)
    return {name: value for name, _, value in pairs}


def processes() -> dict[int, dict[str, str]]:
    """Living processes of this host: pid -> environment."""
    mark = os.environ["PRACTICE_HOST"]
    found: dict[int, dict[str, str]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            variables = environment(int(entry.name))
            if variables.get("PRACTICE_HOST") == mark and alive(int(entry.name)):
                found[int(entry.name)] = variables
    return found


def stat(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the third on: state, parent, group …; empty when it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    fields = stat(pid)
    return bool(fields) and fields[0] not in ("Z", "X")


def comm(pid: int) -> str:
    """Name of a process, cut to 15 characters by the kernel."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").rstrip("\n")
    except OSError:
        return ""


def words(pid: int) -> list[str]:
    """Command line of a process."""
    try:
        data = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return []
    return [w.decode("utf-8", "replace") for w in data.rstrip(b"\0").split(b"\0")] if data else []


def read_json(path: Path) -> JsonObject | None:
    """A JSON object, or None when it is not there or half written."""
    try:
        content: JsonObject = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content


def write_json(path: Path, content: JsonObject) -> None:
    """Write a JSON object in one go."""
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    new.write_text(json.dumps(content), encoding="utf-8")
    new.replace(path)


def complain(text: str, status: int) -> int:
    """Print to stderr; gives the exit status."""
    print(text, file=sys.stderr)
    return status
