"""Read a log of any size: from a stream of chunks to the few thousand lines that can matter.

A small log is kept whole. Of a large one the head and the tail are kept, the first line of every template (the line
without its digits) that holds one of the anchor words, what follows each traceback header, and samples of the steady
state. Time is linear with a small factor (bytes methods only, no pattern is run over the whole log); memory does not
grow with the log.
"""

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate, islice
from typing import cast

Chunks = str | bytes | Iterable[str] | Iterable[bytes]

#: logs up to this many bytes are kept whole
SMALL_LOG_BYTES = 256 * 1024
BLOCK_BYTES = 1024 * 1024
#: one line longer than this is cut into pieces that share its number
LONGEST_LINE_BYTES = 64 * 1024
#: characters kept of one line
LINE_CHARACTERS = 2000
HEAD_LINES = 200
TAIL_LINES = 300
MOST_LINES = 1200
MOST_TEMPLATES = 60_000
MOST_TRACEBACKS = 40
TRACEBACK_LINES = 70
#: beyond this much text that is new line after line only the plainest anchors are looked for
UNREPEATED_BYTES = 6 * 1024 * 1024
HITS_PER_BLOCK = 40

_DIGITS = b"0123456789abcdef"
_TRACEBACK = b"traceback (most recent"

#: words (lower case) that a line telling of a failure holds
STRONG_ANCHORS = tuple(
    word.encode()
    for word in (
        "error",
        "fail",
        "exception",
        "fatal",
        "out of memory",
        "killed",
        "xid",
        "assert",
        "cannot ",
        "no space left",
        "address already",
        "illegal",
        "oom",
        "unable to",
        "could not",
        "couldn't",
        "no such file",
        "not found",
        "denied",
        "timeout",
        "timed out",
        "restart counter",
    )
)
#: the shortest list, for a log in which hardly two lines are alike
PLAINEST_ANCHORS = STRONG_ANCHORS[:12]
#: words that give context: phases, warnings, causes that are said without alarm
WEAK_ANCHORS = tuple(
    word.encode()
    for word in (
        "warn",
        "unsupported",
        "not support",
        "invalid",
        "unknown",
        "undefined symbol",
        "unrecognized",
        "nvrm",
        "refused",
        "divisible",
        "too small",
        "too many",
        "mismatch",
        "unbalanced",
        "watchdog",
        "signal",
        "sigquit",
        "sigterm",
        "sigkill",
        "exited",
        "requires",
        "is not ",
        "throttl",
        "power limit",
        "peer access",
        "p2p",
        "all-reduce",
        "allreduce",
        "moe config",
        "moe kernel config",
        "server_args=",
        "non-default args",
        "load weight",
        "loading weights took",
        "kv cache",
        "memory pool end",
        "cuda graph",
        "capturing",
        "startup complete",
        "ready to roll",
        "listening on",
        "torch distributed",
        "nccl version",
        "bad address",
    )
)
#: lines of the steady state: the first and the last of each block are enough
SAMPLED_ANCHORS = (
    b"decode batch",
    b"accept len",
    b"acceptance length",
    b"draft acceptance",
    b"generation throughput",
    b"/health",
)


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of a log: its number from 1 (0: it is from elsewhere, such as the kernel log) and its cleaned text."""

    number: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogExcerpt:
    """The lines kept of a log, in order, and how many it has."""

    lines: tuple[LogLine, ...]
    total_lines: int
    whole: bool


@dataclass(slots=True)
class _Sieve:
    """Keeps what matters while blocks of whole lines go by."""

    strong: dict[int, bytes] = field(default_factory=dict)
    weak: dict[int, bytes] = field(default_factory=dict)
    #: hashes of the templates seen
    seen: set[int] = field(default_factory=set)
    tail: deque[tuple[int, bytes]] = field(default_factory=lambda: deque(maxlen=TAIL_LINES))
    count: int = 0
    tracebacks: int = 0
    unrepeated: int = 0
    #: the first lines of the next block that belong to a traceback already begun
    owed: int = 0

    def feed(self, block: bytes) -> None:
        """Take one block of whole lines (without the last newline)."""
        lines = block.split(b"\n")
        first = self.count + 1
        if first <= HEAD_LINES:
            for offset, line in enumerate(lines[: HEAD_LINES - self.count]):
                self.strong[first + offset] = line[:LINE_CHARACTERS]
        lowered = block.lower()
        if self.unrepeated < UNREPEATED_BYTES:
            self._anchored(lines, self._fresh(block), first)
        else:
            self._anchored_directly(lines, lowered, first)
        self._after_tracebacks(lines, lowered, first)
        self._samples(block, lowered, first)
        self.tail.extend(
            (first + i, lines[i][:LINE_CHARACTERS]) for i in range(max(0, len(lines) - TAIL_LINES), len(lines))
        )
        self.count += len(lines)

    def _fresh(self, block: bytes) -> list[int]:
        """Indexes of the lines whose template was not seen before, in order."""
        keys = block.translate(None, _DIGITS).split(b"\n")
        last = len(keys) - 1
        first_of = dict(zip(reversed(keys), range(last, -1, -1), strict=True))
        seen = self.seen
        fresh: list[int] = []
        for key, index in first_of.items():
            template = hash(key)
            if template not in seen:
                fresh.append(index)
                if len(seen) < MOST_TEMPLATES:
                    seen.add(template)
        return sorted(fresh)

    def _anchored(self, lines: list[bytes], fresh: list[int], first: int) -> None:
        """Keep the new lines that hold an anchor."""
        joined = b"\n".join([lines[i] for i in fresh]).lower()
        self.unrepeated += len(joined)
        starts = _line_starts(joined)
        self._mark(STRONG_ANCHORS, joined, starts, lines, fresh, first, self.strong)
        self._mark(WEAK_ANCHORS, joined, starts, lines, fresh, first, self.weak)

    def _anchored_directly(self, lines: list[bytes], lowered: bytes, first: int) -> None:
        """The same for a log in which hardly two lines are alike: few anchors, at most HITS_PER_BLOCK of each."""
        for anchor in PLAINEST_ANCHORS:
            at, number, counted = lowered.find(anchor), 0, 0
            for _ in range(HITS_PER_BLOCK):
                if at < 0:
                    break
                number += lowered.count(b"\n", counted, at)
                counted = at
                if len(self.strong) >= MOST_LINES:
                    _thin(self.strong)
                self.strong[first + number] = lines[number][:LINE_CHARACTERS]
                stop = lowered.find(b"\n", at)
                at = lowered.find(anchor, stop) if stop >= 0 else -1

    def _mark(
        self,
        anchors: tuple[bytes, ...],
        joined: bytes,
        starts: list[int],
        lines: list[bytes],
        fresh: list[int],
        first: int,
        kept: dict[int, bytes],
    ) -> None:
        for anchor in anchors:
            at = joined.find(anchor)
            line = 0
            while at >= 0:
                line = bisect_right(starts, at, line) - 1
                index = fresh[line]
                if len(kept) >= MOST_LINES:
                    _thin(kept)
                kept[first + index] = lines[index][:LINE_CHARACTERS]
                at = joined.find(anchor, starts[line + 1] if line + 1 < len(starts) else len(joined))

    def _after_tracebacks(self, lines: list[bytes], lowered: bytes, first: int) -> None:
        """Keep the lines after each of the first traceback headers, repeated or not: frames tell where a rank was."""
        for index in range(min(self.owed, len(lines))):
            self.strong[first + index] = lines[index][:LINE_CHARACTERS]
        self.owed = max(0, self.owed - len(lines))
        at = lowered.find(_TRACEBACK)
        number, scanned = 0, 0
        while at >= 0 and self.tracebacks < MOST_TRACEBACKS:
            self.tracebacks += 1
            number += lowered.count(b"\n", scanned, at)
            scanned = at
            stop = min(len(lines), number + TRACEBACK_LINES)
            for index in range(number, stop):
                self.strong[first + index] = lines[index][:LINE_CHARACTERS]
            self.owed = max(self.owed, number + TRACEBACK_LINES - len(lines))
            at = lowered.find(_TRACEBACK, at + 1)

    def _samples(self, block: bytes, lowered: bytes, first: int) -> None:
        for anchor in SAMPLED_ANCHORS:
            for at in {lowered.find(anchor), lowered.rfind(anchor)} - {-1}:
                if len(self.weak) >= MOST_LINES:
                    _thin(self.weak)
                start = block.rfind(b"\n", 0, at) + 1
                stop = block.find(b"\n", at)
                self.weak[first + block.count(b"\n", 0, at)] = block[start : stop if stop >= 0 else None][
                    :LINE_CHARACTERS
                ]

    def kept(self) -> list[tuple[int, bytes]]:
        """All that was kept, in order."""
        merged = {**self.weak, **self.strong, **dict(self.tail)}
        return sorted(merged.items())


def _thin(kept: dict[int, bytes]) -> None:
    """Drop the middle third: the first lines name causes, the last ones say how it ended."""
    numbers = sorted(kept)
    third = len(numbers) // 3
    for number in numbers[third * 2 : -max(1, third // 2)]:
        del kept[number]


def _line_starts(text: bytes) -> list[int]:
    return [0, *accumulate(len(line) + 1 for line in text.split(b"\n")[:-1])]


def _as_chunks(source: Chunks) -> Iterator[bytes]:
    """Pieces of up to about BLOCK_BYTES, many small chunks (lines) joined at once."""
    if isinstance(source, str | bytes):
        yield source.encode(errors="replace") if isinstance(source, str) else source
        return
    chunks = iter(source)
    count = 1
    while batch := list(islice(chunks, count)):
        if isinstance(batch[0], str):
            piece = "".join(cast(list[str], batch)).encode(errors="replace")
        else:
            piece = b"".join(cast(list[bytes], batch))
        yield piece
        count = max(1, min(count * 4, BLOCK_BYTES * len(batch) // (len(piece) + 1)))


def _blocks(source: Chunks) -> Iterator[bytes]:
    """Blocks of whole lines, about BLOCK_BYTES each, without their last newline."""
    parts: list[bytes] = []
    size = 0
    for chunk in _as_chunks(source):
        parts.append(chunk)
        size += len(chunk)
        if size < BLOCK_BYTES:
            continue
        buffer = b"".join(parts)
        cut = buffer.rfind(b"\n")
        if cut < 0 and len(buffer) > LONGEST_LINE_BYTES * 32:
            # one endless line (a progress bar without newlines): its middle is dropped, its number stays
            buffer = buffer[:LONGEST_LINE_BYTES] + b"\r" + buffer[-LONGEST_LINE_BYTES:]
        start = 0
        while cut - start > BLOCK_BYTES * 2:
            stop = buffer.rfind(b"\n", start, start + BLOCK_BYTES)
            if stop < 0:
                stop = buffer.find(b"\n", start)
            yield buffer[start:stop]
            start = stop + 1
        if cut >= start:
            yield buffer[start:cut]
            start = cut + 1
        parts = [buffer[start:]]
        size = len(parts[0])
    rest = b"".join(parts)
    if rest:
        yield rest.removesuffix(b"\n")


_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]|\x08")
_PROGRESS = re.compile(r"\d{1,3}%\s?\||\d+/\d+ \[|%\s+completed \|", re.IGNORECASE)


def clean(raw: bytes) -> list[str]:
    """Texts of one physical line: escapes stripped, carriage-return progress bars reduced to their last state."""
    text = raw.decode(errors="replace").replace("\x00", "")
    if "\x1b" in text or "\x08" in text:
        text = _ANSI.sub("", text)
    text = text.rstrip("\r")
    if "\r" not in text:
        return [text.rstrip()]
    parts = [part.rstrip() for part in text.split("\r") if part.strip()]
    return [part for i, part in enumerate(parts) if i == len(parts) - 1 or not _PROGRESS.search(part)] or [""]


def read_log(source: Chunks) -> LogExcerpt:
    """Read a log: a whole text, or any iterable of chunks (a file opened in either mode, a list of blocks).

    Chunks are joined as they are: a list of lines must keep its newlines.
    """
    sieve = _Sieve()
    first_blocks: list[bytes] = []
    size = 0
    for block in _blocks(source):
        if size <= SMALL_LOG_BYTES:
            size += len(block) + 1
            first_blocks.append(block)
            if size <= SMALL_LOG_BYTES:
                continue
            for held in first_blocks:
                sieve.feed(held)
            first_blocks = []
        else:
            sieve.feed(block)
    whole = size <= SMALL_LOG_BYTES
    if whole:
        raw = list(enumerate(b"\n".join(first_blocks).split(b"\n"), 1)) if first_blocks else []
        total = len(raw)
    else:
        raw, total = sieve.kept(), sieve.count
    lines = tuple(LogLine(number, text[:LINE_CHARACTERS]) for number, part in raw for text in clean(part))
    return LogExcerpt(lines=lines, total_lines=total, whole=whole)
