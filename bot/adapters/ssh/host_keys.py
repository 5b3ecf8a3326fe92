"""Host keys: a pin file of our own, and the user's known_hosts read-only."""

import base64
import fnmatch
import hashlib
import hmac
import os
import tempfile
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from bot.errors import BadInputError


@dataclass(frozen=True, slots=True)
class HostKey:
    """A public host key: its type ("ssh-ed25519") and its bytes."""

    kind: str
    blob: bytes

    @property
    def fingerprint(self) -> str:
        """As ssh-keygen -l shows it: SHA256:…"""
        return "SHA256:" + base64.b64encode(hashlib.sha256(self.blob).digest()).decode().rstrip("=")


class Standing(Enum):
    """What is known of a key that a host shows."""

    PINNED = "pinned"
    UNKNOWN = "unknown"
    CHANGED = "changed"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class _Line:
    marker: str
    names: str
    key: HostKey
    file: Path
    number: int


class HostKeys:
    """Pins in `own`; where that says nothing of a host, the files in `others` decide. Thread-safe."""

    def __init__(self, own: Path, others: Sequence[Path]) -> None:
        self._own = own
        self._others = tuple(others)
        self._lock = threading.Lock()

    def judge(self, name: str, key: HostKey, further: Iterable[Path] = ()) -> tuple[Standing, str]:
        """Standing of a key shown under `name`, and the place ("file:line") of the pin that decides."""
        lines = self._lines(name, further)
        for line in lines:
            if line.marker == "@revoked" and line.key == key:
                return Standing.REVOKED, f"{line.file}:{line.number}"
        lines = _deciding(lines, self._own)
        for line in lines:
            if line.key == key:
                return Standing.PINNED, f"{line.file}:{line.number}"
        if lines:
            return Standing.CHANGED, f"{lines[0].file}:{lines[0].number}"
        return Standing.UNKNOWN, ""

    def kinds(self, name: str, further: Iterable[Path] = ()) -> tuple[str, ...]:
        """Key types that are known for a host, so that these are asked for first."""
        return tuple(dict.fromkeys(line.key.kind for line in _deciding(self._lines(name, further), self._own)))

    def pin(self, name: str, key: HostKey) -> None:
        """Make `key` the only pinned key of `name` in our own file."""
        with self._lock:
            text = _read(self._own)
            kept = [
                raw
                for number, raw in enumerate(text.splitlines(), 1)
                if (line := _parse(raw, self._own, number)) is None or line.marker or not _matches(line.names, name)
            ]
            kept.append(f"{name} {key.kind} {base64.b64encode(key.blob).decode()}")
            _replace(self._own, "\n".join(kept) + "\n")

    def _lines(self, name: str, further: Iterable[Path]) -> list[_Line]:
        with self._lock:
            found = []
            for file in (self._own, *self._others, *further):
                for number, raw in enumerate(_read(file).splitlines(), 1):
                    line = _parse(raw, file, number)
                    if line is not None and line.marker != "@cert-authority" and _matches(line.names, name):
                        found.append(line)
            return found


def _deciding(lines: list[_Line], own: Path) -> list[_Line]:
    """Lines that count: ours where there are any, else the user's."""
    plain = [line for line in lines if not line.marker]
    ours = [line for line in plain if line.file == own]
    return ours or plain


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise BadInputError(f"host keys in {file} cannot be read: {error}", remedy=f"make {file} readable") from error


def _parse(raw: str, file: Path, number: int) -> _Line | None:
    """A known_hosts line: [marker] names type base64 [comment]. None for blanks, comments and lines that are broken."""
    words = raw.split()
    if not words or words[0].startswith("#"):
        return None
    marker = words.pop(0) if words[0].startswith("@") else ""
    if len(words) < 3:
        return None
    try:
        return _Line(marker, words[0], HostKey(words[1], base64.b64decode(words[2], validate=True)), file, number)
    except ValueError:
        return None


def _matches(names: str, name: str) -> bool:
    """Whether a known_hosts name field (list, patterns, `!`, or hashed) speaks of `name`."""
    if names.startswith("|1|"):
        try:
            salt, digest = (base64.b64decode(part) for part in names[3:].split("|"))
        except ValueError:
            return False
        return hmac.compare_digest(hmac.new(salt, name.encode(), "sha1").digest(), digest)
    patterns = [pattern.lower() for pattern in names.split(",")]
    lowered = name.lower()
    if any(p.startswith("!") and _one_matches(p[1:], lowered) for p in patterns):
        return False
    return any(_one_matches(p, lowered) for p in patterns)


def _one_matches(pattern: str, name: str) -> bool:
    # brackets belong to "[host]:port" here, so only * and ? are patterns
    return fnmatch.fnmatchcase(name, pattern.replace("[", "[[]"))


def _replace(file: Path, text: str) -> None:
    """Write a file whole or not at all."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=file.name)
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
        Path(temporary).replace(file)
    except OSError as error:
        raise BadInputError(
            f"host keys cannot be written to {file}: {error}", remedy=f"make {file.parent} writable for the bot"
        ) from error
