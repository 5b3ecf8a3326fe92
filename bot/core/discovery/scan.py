"""The live scan: what the script in templates/scripts/scan.sh.j2 needs, reading its output, and what to fetch next."""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence

from bot.core.discovery.artefact import Artefact, decode, decode_history, guess_kind, user_of_path
from bot.core.discovery.discover import find_missing
from bot.core.domain.engine import Engine
from bot.core.domain.shell import ShellCommand, quote

SCAN_TEMPLATE = "scripts/scan.sh.j2"
#: what a line must hold to be of interest; an extended regular expression for grep and awk
HINTS = "vllm|sglang|llama-server|llama.cpp|sgl-|launch_server|VLLM::"
#: most files of a second look
FOLLOW_LIMIT = 60
_KINDS = frozenset(
    ("unit", "dropin", "env_file", "log", "history", "script", "compose", "cron", "procfile", "supervisor", "inspect",
     "tmux", "file")
)  # fmt: skip
_PLAIN_PATH = re.compile(r"/[A-Za-z0-9._@+/: -]{1,400}")
_PRIVATE = re.compile(
    r"/(proc|sys|dev)/|/\.ssh/|/etc/(shadow|gshadow|sudoers)|/\.(aws|gnupg|kube|docker)/|\.(pem|key)$"
)
#: programs of the system and interpreters: no scripts of anybody
_BINARY = re.compile(r"^/(usr/)?s?bin/|/(python|pypy|node|perl|ruby)[\d.]*$|/venv/bin/[^/]*$|/\.venv/bin/[^/]*$")


def scan_context(*, root: str = "", paths: Sequence[str] = ()) -> Mapping[str, object]:
    """Values for the template. `paths`: files to fetch instead of scanning. `root`: a folder to take for /."""
    return {
        "root": quote(root),
        "hints": HINTS,
        "paths": [quote(path) for path in paths],
        "file_limit_bytes": 256_000,
        "total_limit_bytes": 8_000_000,
        "file_count": 100,
        "history_limit_bytes": 60_000_000,
        "history_kept_bytes": 2_000_000,
    }


def scan_command(script: str, *, timeout_s: float = 30.0) -> ShellCommand:
    """The rendered script as a command. It goes over stdin: the account's own shell need not be a POSIX one."""
    return ShellCommand(text="sh -s", stdin=script.encode(), timeout_s=timeout_s, output_limit_bytes=40_000_000)


def parse_scan(output: str) -> tuple[Artefact, ...]:
    """The artefacts in a scan's output. Half a record (a connection that broke) and lines of others are skipped."""
    code = "base64"
    found: list[Artefact] = []
    for head, bodies in _records(output):
        if head[0] == "relaunch-scan":
            code = head[2] if len(head) > 2 else code
        elif head[0] == "proc":
            process = _process(head, bodies, code)
            if process is not None:
                found.append(process)
        elif head[0] in _KINDS and len(head) > 1:
            artefact = _file(head, bodies, code)
            if artefact is not None:
                found.append(artefact)
    return tuple(found)


def is_complete(output: str) -> bool:
    """Whether a scan came to its end; else something is missing, and the answer must say so."""
    return output.rstrip().endswith("=done")


def _records(output: str) -> Iterator[tuple[list[str], list[list[str]]]]:
    """(fields of the first line, bodies) of each whole record."""
    head: list[str] | None = None
    bodies: list[list[str]] = [[]]
    for line in output.splitlines():
        if line == "=end":
            if head is not None:
                yield head, bodies
            head = None
        elif line == "=environ" and head is not None:
            bodies.append([])
        elif line.startswith("=relaunch-scan "):
            yield line[1:].split(), [[]]
        elif line.startswith("="):
            head, bodies = line[1:].split(" "), [[]]
        elif head is not None:
            bodies[-1].append(line)


def _decoded(lines: Sequence[str], code: str) -> bytes:
    text = "".join("".join(line.split()) for line in lines)
    try:
        return bytes.fromhex(text) if code == "hex" else base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        return b""


def _field(head: Sequence[str], number: int, code: str) -> str | None:
    text = head[number].rstrip("-") if number < len(head) else ""
    return decode(_decoded([text], code)) or None if text else None


def _process(head: Sequence[str], bodies: Sequence[Sequence[str]], code: str) -> Artefact | None:
    if len(head) < 4 or not head[1].isdigit():
        return None
    cmdline = _decoded(bodies[0], code).decode("utf-8", "replace")
    environ = _decoded(bodies[1], code).decode("utf-8", "replace") if len(bodies) > 1 else ""
    pairs = (item.partition("=") for item in environ.split("\0") if "=" in item)
    return Artefact(
        path=f"/proc/{head[1]}",
        kind="proc",
        pid=int(head[1]),
        ppid=int(head[2]) if head[2].isdigit() else None,
        user=_field(head, 3, code),
        cwd=_alive(_field(head, 4, code)),
        exe=_alive(_field(head, 5, code)),
        cgroup=_field(head, 6, code),
        # awk ends the last word with a line of its own
        cmdline=tuple(cmdline.rstrip("\0").split("\0")) if cmdline else (),
        environ={name: value for name, _, value in pairs},
    )


def _alive(path: str | None) -> str | None:
    """A link of /proc without the note that its target is gone."""
    return path.removesuffix(" (deleted)") if path else path


def _file(head: Sequence[str], bodies: Sequence[Sequence[str]], code: str) -> Artefact | None:
    data = _decoded(bodies[0], code)
    path = _field(head, 1, code)
    if path is None or not data.strip():
        return None
    text = decode_history(data) if head[0] == "history" else decode(data)
    kind: str | None = head[0]
    if kind == "file":
        kind = guess_kind(path, text) or ("script" if data[:4] != b"\x7fELF" and b"\0" not in data else None)
    if kind is None:
        return None
    return Artefact(path=path, kind=kind, text=text, user=user_of_path(path), excerpt=kind == "history")


def follow_ups(artefacts: Sequence[Artefact], engines: Mapping[str, Engine]) -> tuple[str, ...]:
    """Files that the artefacts name and that are not among them: scripts of units, histories and scripts, environment
    files. At most FOLLOW_LIMIT; never keys, nor what is no plain path."""
    missing = find_missing(artefacts, engines)
    there = {one.path for one in artefacts}
    wanted = (
        path
        for path in missing
        if path not in there and _PLAIN_PATH.fullmatch(path) and not _PRIVATE.search(path) and not _BINARY.search(path)
    )
    return tuple(dict.fromkeys(wanted))[:FOLLOW_LIMIT]
