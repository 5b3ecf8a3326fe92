"""Diagnoses of failed or slow launches."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceLine:
    """A line of the log that speaks for the cause; `number` counts from 1."""

    number: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Why a launch failed or is slow. kind "unknown" is an honest answer; `evidence` then holds the most telling
    lines."""

    kind: str
    #: one sentence
    cause: str
    #: what to do, one or two sentences
    fix: str
    evidence: tuple[EvidenceLine, ...] = ()
    #: neutral overrides for a retry, computed from the log's own numbers, e.g. {"memory_fraction": 0.8}
    overrides: Mapping[str, Any] = field(default_factory=dict)
    #: "high" or "low"
    confidence: str = "high"
    #: other kinds that may be meant, best first
    alternatives: tuple[str, ...] = ()
