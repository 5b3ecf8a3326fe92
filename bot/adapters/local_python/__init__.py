"""Runs a script's text in this machine's Python, as a child process."""

import contextlib
import subprocess
import sys
import threading
from collections.abc import Iterator

_CHUNK_BYTES = 65536
_GRACE_S = 2.0


class SubprocessPython:
    """LocalPython on subprocess. The script arrives over stdin, so that secrets in it are not in the process list."""

    def __init__(self, executable: str = sys.executable) -> None:
        self._executable = executable

    @contextlib.contextmanager
    def stream(self, script: bytes, argument: str) -> Iterator[Iterator[bytes]]:
        """Chunks of stdout, the last ones being what stderr said; leaving the context ends the script."""
        process = subprocess.Popen(
            [self._executable, "-", argument], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        feeder = threading.Thread(target=_feed, args=(process, script), daemon=True)
        feeder.start()
        try:
            yield _chunks(process)
        finally:
            _end(process)
            feeder.join(_GRACE_S)


def _feed(process: subprocess.Popen[bytes], script: bytes) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError):
        process.stdin.write(script)
        process.stdin.close()


def _chunks(process: subprocess.Popen[bytes]) -> Iterator[bytes]:
    assert process.stdout is not None
    while chunk := process.stdout.read1(_CHUNK_BYTES):  # type: ignore[attr-defined]  # Popen pipes are BufferedReader
        yield chunk


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout:
        process.stdout.close()
