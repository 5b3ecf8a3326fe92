"""Values of nvidia-smi's CSV form."""

import re

_ABSENT = re.compile(r"\[?(N/A|Not Supported|Unknown Error|Insufficient Permissions|GPU requires reset)\]?|ERR!|", re.I)


def fields(line: str, count: int) -> list[str] | None:
    """A row's fields, or None when it is no row of `count` fields. The last field may hold commas itself."""
    parts = [part.strip() for part in line.split(",", count - 1)]
    return parts if len(parts) == count else None


def text(value: str) -> str | None:
    """A field, or None where the driver has no value for it."""
    return None if _ABSENT.fullmatch(value) else value


def number(value: str) -> float | None:
    """A number with or without its unit, or None."""
    match = re.match(r"-?\d+(\.\d+)?", value)
    return float(match[0]) if match and text(value) is not None else None


def whole(value: str) -> int | None:
    """A whole number with or without its unit, or None."""
    found = number(value)
    return None if found is None else int(found)
