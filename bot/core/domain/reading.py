"""A reading: a value that was looked up, or unknown with the reason. Unknown is never healthy, free or zero."""

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Known(Generic[T]):
    """A value that was read."""

    value: T


@dataclass(frozen=True, slots=True)
class Unknown:
    """No value, and why: "nvidia-smi: command not found"."""

    reason: str


Reading = Known[T] | Unknown
