"""Shell histories (bash, zsh, fish) to entries."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from typing import NamedTuple

from bot.core.discovery.artefact import Artefact
from bot.core.discovery.shell_parser import parse_shell

_BASH_TIME = re.compile(r"#(\d{9,11})\s*")
_NUMBERED = re.compile(r"\s*(\d{1,6})\*?\s{2}(?:\[?\d{4}-\d\d-\d\d[ T][\d:]{8}\]?\s+)?")
_ZSH_ENTRY = re.compile(r": (\d+):\d+;(.*)", re.DOTALL)
#: lines that a here-document or a quoted text is followed through, and the size of an entry that is
_LINES = 400
_QUOTED_LINES = 50
_GOING_ON = 50_000
#: numbers that make a printed history of one that has other lines too
_NUMBERS = 3


class Entry(NamedTuple):
    """One entered command. `line`: number of its first line in the file. It may hold secrets: it is never shown."""

    text: str
    line: int
    at: datetime | None = None


def entries(artefact: Artefact) -> Iterator[Entry]:
    """All entries, oldest first."""
    shell = artefact.shell or shell_of(artefact)
    if shell == "fish":
        return _fish(artefact.text)
    if shell == "zsh":
        return _zsh(artefact.text)
    return _bash(_numbered(artefact.text))


def shell_of(artefact: Artefact) -> str:
    """Which shell wrote a history, by its name and its first line."""
    if "fish_history" in artefact.path or artefact.text.startswith("- cmd: "):
        return "fish"
    if "zsh" in artefact.path or _ZSH_ENTRY.match(artefact.text[:200].partition("\n")[0]):
        return "zsh"
    return "bash"


def _moment(seconds: str) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (OverflowError, ValueError, OSError):
        return None


def _numbered(text: str) -> str:
    """What the command `history` prints has numbers, and times where they are kept; not on an entry's later lines."""
    head = [line for line in text[:5000].split("\n") if line.strip()][:-1][:20]
    counts = [int(match[1]) for line in head if (match := _NUMBERED.match(line))]
    if not head or not _NUMBERED.match(head[0]) or any(b != a + 1 for a, b in pairwise(counts)):
        return text
    if len(counts) < len(head) and len(counts) < _NUMBERS:
        return text
    return "\n".join(_NUMBERED.sub("", line, count=1) for line in text.split("\n"))


def _bash(text: str) -> Iterator[Entry]:
    """With time stamps (`#1763600001`) what stands between two is an entry; without, a line is one unless something in
    it goes on."""
    lines = text.split("\n")
    if re.search(r"(?m)^#\d{9,11}\s*$", text[:20_000]) is None:
        yield from _unstamped(lines)
        return
    at: datetime | None = None
    pending: list[str] = []
    started = 0
    for number, line in enumerate(lines, start=1):
        stamp = _BASH_TIME.fullmatch(line) if line[:1] == "#" else None
        if stamp:
            if pending:
                yield Entry("\n".join(pending), started, at)
                pending = []
            at = _moment(stamp[1])
            continue
        started = started if pending else number
        pending.append(line.rstrip("\r"))
    if pending:
        yield Entry("\n".join(pending), started, at)


def _unstamped(lines: list[str]) -> Iterator[Entry]:
    position = 0
    while position < len(lines):
        end = _end_of_entry(lines, position)
        text = "\n".join(line.rstrip("\r") for line in lines[position:end]) if end - position > 1 else lines[position]
        yield Entry(text.rstrip("\r"), position + 1)
        position = end


def _end_of_entry(lines: list[str], start: int) -> int:
    """Behind the last line of an entry: past backslashes, here-documents and quotes that go on. What nothing ends was
    broken off: it is a line of its own."""
    end = start
    while end < len(lines) - 1 and _continues(lines[end]):
        end += 1
    first = end = end + 1
    while _may_go_on(text := "\n".join(line.rstrip("\r") for line in lines[start:end])):
        awaited = parse_shell(text).awaited
        if not awaited:
            break
        reach = min(end + (_QUOTED_LINES if awaited in "'\"" else _LINES), len(lines))
        closing = next((n for n in range(end, reach) if awaited in lines[n] and _closes(lines[n], awaited)), None)
        if closing is None:
            return first
        end = closing + 1
    return end


def _may_go_on(text: str) -> bool:
    return len(text) < _GOING_ON and ("<<" in text or text.count("'") % 2 == 1 or text.count('"') % 2 == 1)


def _closes(line: str, awaited: str) -> bool:
    """Whether a line is the delimiter, or holds a quote that stands as a closing one does."""
    if awaited not in ("'", '"'):
        return line.rstrip("\r").lstrip("\t") == awaited
    return re.search(rf"(?:^|[^\s=]){awaited}(?:[\s;&|)]|$)", line) is not None


def _continues(line: str) -> bool:
    stripped = line.rstrip("\r")
    return (len(stripped) - len(stripped.rstrip("\\"))) % 2 == 1


def _zsh(text: str) -> Iterator[Entry]:
    """Extended or plain; a newline inside an entry is written as backslash, newline."""
    pending: list[str] = []
    started = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if not pending:
            started = number
        if line.endswith("\\"):
            # zsh puts a blank behind a backslash that ends an entry
            pending.append(line[:-1])
            continue
        pending.append(line)
        whole = "\n".join(pending)
        pending = []
        match = _ZSH_ENTRY.fullmatch(whole)
        yield Entry(match[2], started, _moment(match[1])) if match else Entry(whole, started)
    if pending:
        yield Entry("\n".join(pending), started)


def _fish(text: str) -> Iterator[Entry]:
    """`- cmd: …` with `when:`; newlines and backslashes in the command are escaped."""
    command: str | None = None
    started = 0
    at: datetime | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith("- cmd: "):
            if command is not None:
                yield Entry(command, started, at)
            command, started, at = _unescape_fish(line[7:]), number, None
        elif (match := re.fullmatch(r"\s+when: (\d+)\s*", line)) and command is not None:
            at = _moment(match[1])
    if command is not None:
        yield Entry(command, started, at)


def _unescape_fish(text: str) -> str:
    return re.sub(r"\\(\\|n)", lambda match: "\n" if match[1] == "n" else "\\", text)
