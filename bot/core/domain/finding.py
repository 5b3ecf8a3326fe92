"""Findings: one judged check, in preflight and in health alike."""

from dataclasses import dataclass
from enum import StrEnum


class Judgement(StrEnum):
    """How a check came out."""

    OK = "ok"
    WARN = "warn"
    #: preflight: nothing is started; health: broken
    REFUSE = "refuse"
    #: could not be looked at; `summary` says why. Never shown as ok
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One check's result."""

    #: module name of the check, e.g. "gpu_free"
    check: str
    judgement: Judgement
    #: one sentence for a person
    summary: str
    #: what was seen, a line each
    evidence: tuple[str, ...] = ()
    #: the next step, one sentence
    remedy: str = ""
