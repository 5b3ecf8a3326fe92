"""Launches and their milestones."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class LaunchState(StrEnum):
    """Life of one launch."""

    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    STOPPING = "stopping"
    STOPPED = "stopped"
    #: was running, found gone without our doing
    LOST = "lost"
    CANCELLED = "cancelled"


class Phase(StrEnum):
    """Phases of a start, in their usual order. With a draft model some come twice."""

    SPAWNED = "spawned"
    ARGUMENTS = "arguments"
    DISTRIBUTED = "distributed"
    WEIGHTS = "weights"
    KV_CACHE = "kv_cache"
    GRAPHS = "graphs"
    WARMUP = "warmup"
    LISTENING = "listening"
    READY = "ready"


@dataclass(frozen=True, slots=True, kw_only=True)
class Milestone:
    """A phase reached, or progress within it."""

    phase: Phase
    #: short and factual: "weights 8/15", "KV cache 519865 tokens"
    text: str
    #: 0 to 1 within the phase, where the log says it
    fraction: float | None = None
    #: repeats for the draft model
    draft: bool = False
    reached_at: datetime | None = None
