"""Python tracebacks in a log of many processes: who raised first, and what only repeats it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.core.diagnosis.lines import LogLine
from bot.core.diagnosis.phases import CONSEQUENCE

_HEADER = re.compile(r"traceback \(most recent call last\)", re.IGNORECASE)
_FRAME = re.compile(r"file \"?[^\"]+\"?, line \d+", re.IGNORECASE)
_EXCEPTION = re.compile(
    r"^(?:[\w.]+\.)?(?P<name>[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Timeout|Warning|Enabled|NotFound)\w*)\b(?::|$)"
)
#: what stands before the text of a line and tells its process: journal, docker, vLLM, SGLang, log level and place
_PREFIX = re.compile(
    r"^(?P<outer>(?:[A-Z][a-z]{2} [ \d]\d [\d:]{8} \S+ \S+?(?:\[\d+\])?: |[\w.-]+\s+\| )?)"
    r"(?P<process>(?:\([\w .-]*pid=\d+[^)]*\) ?|\[rank\d+\]: ?|\[\d{4}-\d\d-\d\d [\d:.]+(?P<rank>(?: \w+)*)\] )?)"
    r"(?:(?:ERROR|WARNING|INFO|CRITICAL) [\d-]+ [\d:]+ \[[^\]]+\] ?)?"
)
_LONGEST = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Traceback:
    """One traceback: indexes into the kept lines, the process it came from, its frames and its exception."""

    first: int
    last: int
    process: str
    frames: tuple[str, ...]
    exception: str

    @property
    def repeats(self) -> bool:
        """Whether its exception only says that another process failed."""
        return bool(CONSEQUENCE.search(self.exception.lower())) or not self.exception


def split_prefix(text: str) -> tuple[str, str]:
    """(process, rest) of a line: "(EngineCore pid=7) x" gives ("EngineCore pid=7", "x")."""
    match = _PREFIX.match(text)
    if match is None or not match.end():
        return "", text
    process = match["process"].strip(" ()[]:")
    if match["rank"] is not None:
        process = match["rank"].strip()
    return process, text[match.end() :]


def find_tracebacks(lines: Sequence[LogLine]) -> tuple[Traceback, ...]:
    """All tracebacks, in the order of their first lines. Interleaved ranks are told apart by their prefixes."""
    parts = [split_prefix(line.text) for line in lines]
    found = []
    for index, (process, rest) in enumerate(parts):
        if _HEADER.search(rest):
            found.append(_read(parts, index, process))
    return tuple(found)


def _read(parts: Sequence[tuple[str, str]], first: int, process: str) -> Traceback:
    frames: list[str] = []
    last, exception = first, ""
    for index in range(first + 1, min(len(parts), first + _LONGEST)):
        other, rest = parts[index]
        if other != process and other:
            continue
        if _HEADER.search(rest):
            break
        last = index
        if _FRAME.search(rest):
            frames.append(rest.strip())
        elif _EXCEPTION.match(rest.strip()) and not rest.startswith("    "):
            exception = rest.strip()
            break
    return Traceback(first=first, last=last, process=process, frames=tuple(frames), exception=exception)


def root_tracebacks(tracebacks: Sequence[Traceback]) -> tuple[Traceback, ...]:
    """One traceback per distinct exception, those that only repeat another left out; earliest first."""
    seen: set[str] = set()
    roots = []
    for traceback in tracebacks:
        key = re.sub(r"\d+|0x[0-9a-f]+", "#", traceback.exception)
        if not traceback.repeats and key not in seen:
            seen.add(key)
            roots.append(traceback)
    return tuple(roots)
