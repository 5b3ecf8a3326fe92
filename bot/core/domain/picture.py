"""Pictures for the thread, and what they are drawn from."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchPoint:
    """One measured launch. `low` and `high`: quartiles of its requests. `change`: what differs from the launch before,
    short ("3 → 1 steps"); empty: nothing. `doubtful`: the measurement was disturbed."""

    number: int
    measured_at: datetime
    decode_tok_s: float
    low: float | None = None
    high: float | None = None
    change: str = ""
    doubtful: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """A PNG and the text that stands for it: what it shows, with the numbers."""

    png: bytes = field(repr=False)
    title: str
    alt_text: str
