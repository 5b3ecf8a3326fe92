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


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """What is known of one launch for the question "why is it slower?". None: not known; never guessed."""

    #: "run 9", "now": how it is named to people
    name: str = ""
    #: neutral settings (DESIGN 5) and engine flags that differ in meaning, name -> value
    settings: Mapping[str, Any] = field(default_factory=dict)
    #: "engine", "torch", "driver", "model_hash", ... -> version
    versions: Mapping[str, str] = field(default_factory=dict)
    decode_tok_s: float | None = None
    #: mean tokens per verification step, the bonus token included
    accept_length: float | None = None
    #: whether decode steps run as CUDA graphs
    cuda_graphs: bool | None = None
    attention_backend: str | None = None
    #: under load
    sm_clock_mhz: float | None = None
    max_sm_clock_mhz: float | None = None
    #: "SW power cap", "HW thermal slowdown", ...
    throttle_reasons: tuple[str, ...] = ()
    power_limit_w: float | None = None
    #: whether GPU peer-to-peer traffic is used
    p2p: bool | None = None
    #: commands of other processes on the same GPUs
    tenants: tuple[str, ...] = ()
    #: False: measured before caches and graphs were warm
    warm: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PastPair:
    """Two measured launches that differ in one setting only: what that setting is worth here."""

    setting: str
    before: Any
    after: Any
    #: decode speed after divided by before
    factor: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedDifference:
    """One difference between a slow launch and the best one, the weightiest first."""

    #: "speculative_steps", "accept_length", "cuda_graphs", "sm_clock_mhz", "tenants", "engine" ...
    what: str
    current: str
    best: str
    #: expected speed of the current launch when only this were as in the best one, divided by its speed now;
    #: None: not known what it is worth
    factor: float | None = None
    #: where `factor` comes from: "history", "arithmetic", "rule of thumb", ""
    basis: str = ""
    #: 0 to 100
    weight: int = 0
    #: neutral overrides that take this difference away; empty: no setting does
    overrides: Mapping[str, Any] = field(default_factory=dict)
