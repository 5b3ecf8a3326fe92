"""Child processes under the names that the engines give them, and the way an engine ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable

#: sleeps until its parent is gone; the name in ps is argv[0], the name in comm is set here
_CHILD = """
import ctypes, os, signal, time
try:
    libc = ctypes.CDLL(None)
    libc.prctl(15, %r, 0, 0, 0)
    if %r:
        libc.prctl(1, int(signal.SIGKILL), 0, 0, 0)
except (OSError, AttributeError):
    pass
while os.getppid() != 1 or not %r:
    time.sleep(2)
"""


class Children:
    """Children of an engine. Where PRACTICE_ORPHANS is set, they outlive a killed launcher, as happens in real life."""

    def __init__(self) -> None:
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self, name: str) -> int:
        """Start a child with this name; gives its pid."""
        bound = "PRACTICE_ORPHANS" not in os.environ
        environment: dict[str, str] = dict(os.environ, PYTHONHOME=sys.base_prefix)
        child = subprocess.Popen(
            [name], executable=sys.executable, stdin=subprocess.PIPE, env=environment, stdout=subprocess.DEVNULL
        )
        assert child.stdin is not None
        child.stdin.write((_CHILD % (name.encode()[:15], bound, bound)).encode())
        child.stdin.close()
        self.running.append(child)
        return child.pid

    def kill(self) -> None:
        """End them all and reap them."""
        for child in self.running:
            if child.poll() is None:
                child.kill()
        for child in self.running:
            child.wait()
        self.running = []


def on_term(work: Callable[[int], None]) -> None:
    """Call `work(signal number)` on SIGTERM and SIGINT."""

    def handle(number: int, _frame: object) -> None:
        work(number)

    signal.signal(signal.SIGTERM, handle)
    signal.signal(signal.SIGINT, handle)
