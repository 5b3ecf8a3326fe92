"""Log lines in each engine's own shape. Everything goes to stderr as the engines do, and is flushed at once."""

# ruff: noqa: UP031 - words of the engines are kept as they print them

from __future__ import annotations

import sys
import threading
import time

_LOCK = threading.Lock()


def write(text: str) -> None:
    """Write as it is."""
    with _LOCK:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            pass


class Sglang:
    """`[2026-12-02 06:40:24] text`, with ` TP0` where ranks speak."""

    def __init__(self, ranks: int) -> None:
        self.rank = " TP0" if ranks > 1 else ""

    def line(self, text: str, rank: bool = False) -> None:
        """One line; `rank`: said by the first rank."""
        stamp = time.strftime("%Y-%m-%d %H:%M:%S")
        write("[{}{}] {}\n".format(stamp, self.rank if rank else "", text))


class Vllm:
    """`(EngineCore pid=1) INFO 12-01 06:37:59 [core.py:133] text`."""

    def line(self, who: str, pid: int, where: str, text: str, level: str = "INFO") -> None:
        """One line of a process."""
        stamp = time.strftime("%m-%d %H:%M:%S")
        for part in text.split("\n"):
            write("(%s pid=%d) %s %s [%s] %s\n" % (who, pid, level, stamp, where, part))


class Llama:
    """`0.00.001.053 I srv  llama_server: text`: time since exec."""

    def __init__(self) -> None:
        self.began = time.monotonic()

    def line(self, level: str, text: str) -> None:
        """One line."""
        micro = int((time.monotonic() - self.began) * 1e6)
        minutes, rest = divmod(micro, 60_000_000)
        seconds, rest = divmod(rest, 1_000_000)
        milli, micro = divmod(rest, 1000)
        write("%d.%02d.%03d.%03d %s %s\n" % (minutes, seconds, milli, micro, level, text))


class Bar:
    """A tqdm bar: rewritten with carriage returns on one physical line, ended by a line feed."""

    def __init__(self, total: int, label: str, completed: bool = False) -> None:
        self.total = total
        self.label = label
        self.completed = completed
        self.began = time.monotonic()
        write("\n")
        self.show(0)

    def show(self, done: int, label: str = "") -> None:
        """Rewrite the bar."""
        spent = time.monotonic() - self.began
        rate = done / spent if spent > 0 and done else 0.0
        left = (self.total - done) / rate if rate else 0.0
        speed = "?it/s" if not rate else (f"{rate:5.2f}it/s" if rate >= 1 else "%5.2fs/it" % (1 / rate))
        clock = "%02d:%02d<%s, %s" % (
            spent // 60,
            spent % 60,
            "%02d:%02d" % (left // 60, left % 60) if rate else "?",
            speed,
        )
        percent = 100 * done // self.total
        if self.completed:
            text = "%s: %3d%% Completed | %d/%d [%s]" % (self.label, percent, done, self.total, clock)
        else:
            cells = 10 * done // self.total
            middle = "█" * cells + " " * (10 - cells)
            text = "%s: %3d%%|%s| %d/%d [%s]" % (label or self.label, percent, middle, done, self.total, clock)
        write("\r" + text)

    def close(self) -> None:
        """End the physical line."""
        write("\n")


def traceback(frames: list[str], error: str) -> str:
    """A traceback: `frames` are 'path:line:function:code'."""
    lines = ["Traceback (most recent call last):"]
    for frame in frames:
        path, number, function, code = frame.split(":", 3)
        lines.append(f'  File "{path}", line {number}, in {function}')
        if code:
            lines.append("    " + code)
    return "\n".join([*lines, error]) + "\n"


def site(module: str) -> str:
    """Where a module of this environment would lie, for tracebacks."""
    lib = "python%d.%d" % sys.version_info[:2]
    return f"{sys.prefix}/lib/{lib}/site-packages/{module}"
