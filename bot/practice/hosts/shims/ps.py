"""ps of a practice host: its own processes, with the account that they are shown under."""

import os
import sys
import time
from pathlib import Path

from .view import comm, environment, processes, stat, words

_ALIASES = {
    "cmd": "args",
    "command": "args",
    "ucmd": "comm",
    "ucomm": "comm",
    "uname": "user",
    "euser": "user",
    "ruser": "user",
    "rssize": "rss",
    "pgrp": "pgid",
    "sess": "sid",
    "state": "s",
    "stat": "s",
    "tty": "tt",
    "tname": "tt",
    "%cpu": "pcpu",
    "%mem": "pmem",
}
_WIDE = {"user": 8, "comm": 15, "args": 0}
_HEADINGS = {
    "args": "COMMAND",
    "comm": "COMMAND",
    "etimes": "ELAPSED",
    "etime": "ELAPSED",
    "s": "S",
    "tt": "TT",
    "pcpu": "%CPU",
}
_VALUE_OPTIONS = (
    "-o",
    "-O",
    "--format",
    "-p",
    "--pid",
    "-u",
    "-U",
    "--user",
    "-C",
    "-g",
    "--ppid",
    "--sort",
    "-s",
    "--sid",
)


def main(arguments: list[str]) -> int:
    """Run with these arguments."""
    columns: list[tuple[str, str | None]] = []
    pids: set[int] | None = None
    commands: set[str] = set()
    parents: set[int] = set()
    everything = False
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if not word.startswith("--") and word.startswith("-") and len(word) > 2 and word[1:].endswith("o"):
            everything = everything or "e" in word or "A" in word
            name = "-o"
        elif word.startswith("-p") and len(word) > 2:
            name, equals, value = "-p", "=", word[2:]
        if name in _VALUE_OPTIONS and not equals and rest:
            value = rest.pop(0)
        if name in ("-o", "--format", "-O", "o"):
            for part in [value] if "=" in value and "," not in value else value.split(","):
                column, equals, heading = part.partition("=")
                column = column.strip().partition(":")[0]
                columns.append((_ALIASES.get(column, column), heading if equals else None))
        elif name in ("-p", "--pid"):
            pids = (pids or set()) | {int(p) for p in value.replace(",", " ").split() if p.isdigit()}
        elif name == "-C":
            commands |= set(value.split(","))
        elif name == "--ppid":
            parents |= {int(p) for p in value.replace(",", " ").split()}
        elif name in ("-e", "-A", "-ef", "ax", "aux", "-eo", "axo", "-ww", "ww", "auxww"):
            everything = everything or name not in ("-ww", "ww")
            if name == "-ef":
                columns = columns or [(c, None) for c in ("user", "pid", "ppid", "pcpu", "stime", "tt", "time", "args")]
            elif name.startswith("aux"):
                columns = columns or [
                    (c, None) for c in ("user", "pid", "pcpu", "pmem", "vsz", "rss", "tt", "s", "start", "time", "args")
                ]
    columns = columns or [(c, None) for c in ("pid", "tt", "time", "comm")]
    own = processes()
    chosen = [p for p in sorted(own) if (pids is None or p in pids)]
    if commands:
        chosen = [p for p in chosen if comm(p) in commands]
    if parents:
        chosen = [p for p in chosen if int(stat(p)[1] or 0) in parents]
    if pids is None and not everything and not commands and not parents:
        chosen = [p for p in chosen if p in (os.getpid(), os.getppid())]
    if any(h != "" for _, h in columns):
        print(" ".join(_pad(c, h if h is not None else _HEADINGS.get(c, c.upper())) for c, h in columns).rstrip())
    for pid in chosen:
        print(" ".join(_pad(c, _value(c, pid)) for c, _ in columns).rstrip())
    return 0 if chosen else 1


def _pad(column: str, text: str) -> str:
    return text.ljust(_WIDE[column]) if column in _WIDE else text.rjust(7)


def _value(column: str, pid: int) -> str:
    fields = stat(pid)
    if not fields:
        return "-"
    ticks = os.sysconf("SC_CLK_TCK")
    up = float(Path("/proc/uptime").read_text(encoding="utf-8").split()[0])
    age = max(0, int(up - int(fields[19]) / ticks))
    cpu = (int(fields[11]) + int(fields[12])) // ticks
    started = time.localtime(time.time() - age)
    line = " ".join(words(pid)) or f"[{comm(pid)}]"
    known = {
        "pid": str(pid),
        "ppid": fields[1],
        "pgid": fields[2],
        "sid": fields[3],
        "s": fields[0],
        "user": environment(pid).get("PRACTICE_USER", "serve"),
        "uid": "1000",
        "etimes": str(age),
        "etime": f"{age // 60:02d}:{age % 60:02d}",
        "time": f"{cpu // 3600:02d}:{cpu // 60 % 60:02d}:{cpu % 60:02d}",
        "rss": str(int(fields[21]) * os.sysconf("SC_PAGE_SIZE") // 1024),
        "vsz": str(int(fields[20]) // 1024),
        "pcpu": "0.0",
        "pmem": "0.0",
        "tt": "?",
        "nice": fields[16],
        "ni": fields[16],
        "start": time.strftime("%H:%M", started),
        "stime": time.strftime("%H:%M", started),
        "lstart": time.strftime("%a %b %e %H:%M:%S %Y", started),
        "comm": comm(pid),
        "args": line,
        "cgroup": "-",
        "unit": "-",
    }
    return known.get(column, "-")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
