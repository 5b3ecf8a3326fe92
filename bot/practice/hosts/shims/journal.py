"""The journal of a practice host: one file of JSON lines per manager, written by supervisors, read by journalctl."""

import base64
import fcntl
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .view import root

LINE_BYTES = 48 * 1024
_BOOT = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"


@dataclass(frozen=True)
class Entry:
    """One entry. `message` is bytes, as a program may write anything."""

    number: int
    at_us: int
    message: bytes
    fields: dict[str, str]

    @property
    def cursor(self) -> str:
        """A position that can be gone back to."""
        return f"s={_BOOT};i={self.number:x};b={_BOOT};m=0;t={self.at_us:x};x=0"

    def printable(self) -> str | None:
        """The message as text; None when it holds what a terminal must not get."""
        try:
            text = self.message.decode("utf-8")
        except UnicodeDecodeError:
            return None
        return text if all(c in "\t\n" or ord(c) >= 32 for c in text) else None

    def as_json(self) -> dict[str, Any]:
        """The shape of `-o json`: what is not printable is a list of bytes."""
        text = self.printable()
        return {
            "__CURSOR": self.cursor,
            "__REALTIME_TIMESTAMP": str(self.at_us),
            "__MONOTONIC_TIMESTAMP": str(self.at_us % 10**12),
            "_BOOT_ID": _BOOT,
            "_HOSTNAME": os.environ.get("PRACTICE_NAME", "host"),
            **self.fields,
            "MESSAGE": text if text is not None else list(self.message),
        }


def path(scope: str) -> Path:
    """The file of a manager."""
    return root() / "journal" / f"{scope}.jsonl"


def append(scope: str, message: bytes, fields: dict[str, str]) -> None:
    """Write one entry; long lines are cut into several, as journald does."""
    for start in range(0, max(1, len(message)), LINE_BYTES):
        piece = message[start : start + LINE_BYTES]
        with path(scope).open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            record = {
                "t": time.time_ns() // 1000,
                "m": base64.b64encode(piece).decode(),
                "f": fields,
            }
            file.write(json.dumps(record, separators=(",", ":")).encode() + b"\n")


def entries(scope: str, start: int = 0) -> Iterator[tuple[Entry, int]]:
    """(entry, offset behind it) from a byte offset on. Numbers are offsets, so a cursor is a place in the file."""
    file_path = path(scope)
    if not file_path.exists():
        return
    with file_path.open("rb") as file:
        file.seek(start)
        offset = start
        for line in file:
            if not line.endswith(b"\n"):
                return
            following = offset + len(line)
            record = json.loads(line)
            yield Entry(following, record["t"], base64.b64decode(record["m"]), record["f"]), following
            offset = following


def cursor_offset(cursor: str) -> int:
    """Byte offset behind the entry of a cursor."""
    for part in cursor.split(";"):
        if part.startswith("i="):
            return int(part[2:], 16)
    raise ValueError(cursor)
