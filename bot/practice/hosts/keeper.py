"""Ends everything of the practice hosts once the practice itself is gone, however it ended.

`keeper.py MARK…` waits until its standard input is closed, which also happens when the practice is killed, and then
kills every process whose environment carries one of these marks. Standard library only: it runs as a file.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

_ROUNDS = 5


def watch(marks: Iterable[str]) -> "subprocess.Popen[bytes]":
    """Start a keeper; it acts when this process ends, or when its standard input is closed."""
    return subprocess.Popen(
        [str(Path(sys.executable).resolve()), "-IS", str(Path(__file__).resolve()), *marks],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def kill_all(marks: set[bytes]) -> bool:
    """Kill the processes with these marks; whether there were any."""
    found = False
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            if marks.intersection((entry / "environ").read_bytes().split(b"\0")):
                found = True
                os.kill(int(entry.name), signal.SIGKILL)
    return found


def main(arguments: list[str]) -> None:
    """Wait for the end of standard input, then clear up."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.read()
    marks = {b"PRACTICE_HOST=" + mark.encode() for mark in arguments}
    for _ in range(_ROUNDS):
        if not kill_all(marks):
            return
        time.sleep(0.1)


if __name__ == "__main__":
    main(sys.argv[1:])
