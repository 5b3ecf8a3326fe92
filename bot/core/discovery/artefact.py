"""Raw artefacts as a host gives them, and guessing what a copied file is."""

import base64
import binascii
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

#: more of one file is not read
TEXT_LIMIT = 64_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Artefact:
    """One piece of a host. `path` names a file, or the command that gave the text ("ps aux", "docker inspect x").
    It holds secrets in clear: its repr shows neither text nor command line."""

    path: str
    #: unit, dropin, env_file, script, history, proc, ps, compose, inspect, log, cron, procfile, supervisor, tmux
    kind: str
    text: str = field(default="", repr=False)
    shell: str | None = None
    user: str | None = None
    pid: int | None = None
    ppid: int | None = None
    cmdline: tuple[str, ...] = field(default=(), repr=False)
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    exe: str | None = None
    cgroup: str | None = None
    #: only the lines that matter were kept: their numbers are not those of the file
    excerpt: bool = False
    #: when the file was written or the process started, where known
    changed_at: datetime | None = None


def decode(data: bytes) -> str:
    """Text of bytes that may be anything: NUL bytes and what is no UTF-8 become replacement characters."""
    return data[:TEXT_LIMIT].decode("utf-8", errors="replace").replace("\0", "�")


def decode_history(data: bytes) -> str:
    """Text of a history. zsh writes some bytes of other alphabets as 0x83 and the byte with its sixth bit turned, which
    is never UTF-8 as it stands."""
    data = data[:TEXT_LIMIT]
    if b"\x83" not in data:
        return decode(data)
    return decode(b"\n".join(line if _is_text(line) else _unmetafied(line) for line in data.split(b"\n")))


def _unmetafied(line: bytes) -> bytes:
    plain = re.sub(rb"\x83([\x00-\xff])", lambda pair: bytes((pair[1][0] ^ 32,)), line)
    # what is no text either way is read as it stands
    return plain if _is_text(plain) else line


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def artefact_from_row(row: Mapping[str, Any]) -> Artefact:
    """An artefact of a JSONL row: `path`, `kind`, `text` or `b64`, and the fields of a process."""
    text = row.get("text")
    if text is None and row.get("b64") is not None:
        try:
            data = base64.b64decode(row["b64"], validate=False)
            text = decode_history(data) if row.get("kind") == "history" else decode(data)
        except (binascii.Error, ValueError):
            text = ""
    environ, cmdline = row.get("environ"), row.get("cmdline")
    return Artefact(
        path=str(row.get("path") or ""),
        kind=str(row.get("kind") or ""),
        text=str(text or "").replace("\0", "�"),
        shell=_text(row.get("shell")),
        user=_text(row.get("user")),
        pid=_number(row.get("pid")),
        ppid=_number(row.get("ppid")),
        cmdline=tuple(str(word) for word in cmdline) if isinstance(cmdline, list) else (),
        environ={str(k): str(v) for k, v in environ.items()} if isinstance(environ, Mapping) else {},
        cwd=_text(row.get("cwd")),
        exe=_text(row.get("exe")),
        cgroup=_text(row.get("cgroup")),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: object) -> int | None:
    return int(value) if isinstance(value, int | str) and str(value).isdigit() else None


_BY_PATH: Sequence[tuple[re.Pattern[str], str]] = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        (r".*\.(service|container)\.d/.*\.conf", "dropin"),
        (r".*/service\.d/.*\.conf", "dropin"),
        (r".*\.(service|container)", "unit"),
        (r".*[_.-](bash_history|zsh_history|sh_history|history)|.*/fish_history|.*\.(bash|zsh)_history", "history"),
        (r".*/?(docker-)?compose[\w.-]*\.ya?ml", "compose"),
        (r".*/?Procfile[\w.-]*", "procfile"),
        (r".*/(crontabs?|cron)/[^/]+|.*/cron\.d/[^/]+|.*/crontab(\.txt)?|crontab(\.txt)?", "cron"),
        (r".*/supervisor/.*\.(conf|ini)|.*supervisord?\.conf", "supervisor"),
        (r".*/ps(\.txt|-aux.*|_aux.*|-ef.*)?|ps(\.txt|[ -]aux.*|[ -]ef.*)?", "ps"),
        (r".*\.log(\.\d+)?|.*/log|journal[:_-].*|.*\.journal\.txt", "log"),
        (r".*/?\.env[\w.-]*|.*\.env|/etc/(default|sysconfig)/[^/]+", "env_file"),
        (r".*\.(sh|bash|zsh|fish|command)|/etc/init\.d/[^/]+|.*/(run|start|launch|serve)[\w-]*", "script"),
    )
)
_BY_TEXT: Sequence[tuple[re.Pattern[str], str]] = tuple(
    (re.compile(pattern, re.MULTILINE), kind)
    for pattern, kind in (
        (r"\A#!.*\b(ba|z|da|k|fi)?sh\b", "script"),
        (r"^\[(Service|Container)\]\s*$", "unit"),
        (r"\A\s*\[\s*\{\s*\"(Id|AppArmorProfile|Created|Path|Name)\"", "inspect"),
        (r"^- cmd: ", "history"),
        (r"^: \d+:\d+;", "history"),
        (r"\A#\d{9,}\n", "history"),
        (r"\A\s*(USER\s+PID|UID\s+PID|PID\s)", "ps"),
        (
            r"server_args=ServerArgs\(|non-default args: |args: Namespace\(|llama_model_loader: |srv +load_model: ",
            "log",
        ),
        (r"^services:\s*$", "compose"),
        (r"^\[program:", "supervisor"),
        (r"^@reboot |^(\S+\s+){5}\S+", "cron"),
    )
)


def guess_kind(path: str, text: str) -> str | None:
    """Kind of a copied file by its name, else by its text; None for something else."""
    for pattern, kind in _BY_PATH:
        if pattern.fullmatch(path):
            return kind
    head = text[:20_000]
    for pattern, kind in _BY_TEXT:
        if pattern.search(head):
            return kind
    return None


def artefacts_from_paths(entries: Iterable[tuple[str, bytes]]) -> tuple[Artefact, ...]:
    """Artefacts of copied files. A copy keeps its place on the host where its path shows one (`copy/etc/systemd/…`)."""
    found: list[Artefact] = []
    for path, data in entries:
        if data[:4] == b"\x7fELF":
            continue
        place = original_path(path)
        text = decode_history(data) if "history" in place else decode(data)
        kind = guess_kind(place, text)
        if kind is not None:
            found.append(
                Artefact(path=place, kind=kind, text=text, shell=_shell(place, text), user=user_of_path(place))
            )
    return tuple(found)


def original_path(path: str) -> str:
    """The path that a copied file had on its host, as far as its folders show."""
    match = re.search(r"(?:^|/)((?:etc|home|root|srv|opt|var|usr|data|run|mnt)/.*)", path)
    return "/" + match[1] if match else path


def _shell(path: str, text: str) -> str | None:
    if "fish" in path or re.search(r"^- cmd: ", text[:5000], re.MULTILINE):
        return "fish"
    return "zsh" if "zsh" in path or re.search(r"^: \d+:\d+;", text[:5000], re.MULTILINE) else None


def user_of_path(path: str) -> str | None:
    """The account whose home (or crontab) a path lies in."""
    match = re.match(r"(?:/export|/data|/mnt/\w+)?/(?:home|Users)/([^/]+)/", path) or re.match(
        r"/var/spool/cron/(?:crontabs/|tabs/)?([^/]+)$", path
    )
    if match:
        return match[1]
    return "root" if path.startswith("/root/") else None


def home_of_path(path: str) -> str | None:
    """The home folder that a path lies in."""
    match = re.match(r"((?:/export|/data|/mnt/\w+)?/(?:home|Users)/[^/]+)/", path)
    if match:
        return match[1]
    return "/root" if path.startswith("/root/") else None
