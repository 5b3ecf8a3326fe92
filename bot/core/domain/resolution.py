"""Outcome of matching a Command with the catalog."""

from dataclasses import dataclass

from bot.core.domain.command import Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One config that fits, with what a person chooses by."""

    config: str
    host: str | None
    model: str
    revision: str
    decode_tok_s: float | None = None
    #: state and number of its newest launch
    last_state: str | None = None
    last_number: int | None = None
    launches: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """One config is meant. `host` is the one asked for, else the config's own."""

    candidate: Candidate
    host: str | None
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ambiguous:
    """Several fit, best first; `count` says how many, `candidates` holds the best twenty."""

    candidates: tuple[Candidate, ...]
    count: int
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotFound:
    """None fits. code: "nothing_named", "no_match", "no_reference"; `nearest` are configs that fit most of it."""

    code: str
    nearest: tuple[Candidate, ...] = ()
    reasons: tuple[Reason, ...] = ()


Resolution = Resolved | Ambiguous | NotFound
