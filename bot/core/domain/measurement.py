"""Workloads and measured speed. All tokens are counted from `usage`, never from streamed chunks."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Load shape of one measurement."""

    concurrency: tuple[int, ...] = (1,)
    prompt_tokens: int = 128
    output_tokens: int = 256
    #: stop a level after this long even when the spread is still wide
    max_level_s: float = 30.0
    #: False: each prompt is different, so that no prefix comes from the cache
    reuse_prompts: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """Result at one concurrency."""

    concurrency: int
    requests: int
    failed: int
    #: all streams together, output tokens per second of wall time
    aggregate_tok_s: float | None
    #: one stream's decode speed: median over requests of (tokens - 1) / (last - first token)
    decode_tok_s: float | None
    #: interquartile range of decode_tok_s in per cent of its median
    spread_pct: float | None
    ttft_ms_p50: float | None
    ttft_ms_p95: float | None
    ttft_ms_p99: float | None
    itl_ms_p50: float | None
    itl_ms_p95: float | None
    #: decode tok/s of each request, for verdicts
    samples: tuple[float, ...] = ()
    stopped_because: str = ""
    errors: tuple[str, ...] = ()
    #: gap between chunks with text; a chunk may carry several tokens
    itl_ms_p99: float | None = None
    tokens_per_chunk: float | None = None
    #: output tokens of all measured requests, from `usage`
    tokens: int = 0
    #: growth of the server's own token counter in the same time; None: it shows none
    counted_tokens: float | None = None
    #: of one prompt, median, as the server counted
    prompt_tokens: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One measurement of one server."""

    measured_at: datetime
    workload: Workload
    levels: tuple[Level, ...] = ()
    #: run-scoped: 1 + accepted / drafts from counter differences or per-request fields; None: no speculation or unknown
    accept_length: float | None = None
    #: per draft position, 0 to 1
    acceptance_per_position: tuple[float, ...] = ()
    #: verify steps that the acceptance figures stand on
    drafts: float | None = None
    #: doubts about fairness, a sentence each ("another process held 12 GB on GPU 0"); empty: alone and warm
    caveats: tuple[str, ...] = ()
    #: kind of each caveat, in the same order: see measuring.fairness
    doubts: tuple[str, ...] = ()
    #: what was noticed and does not touch the number, a sentence each
    notes: tuple[str, ...] = ()
    #: how it was run: "on the host" or "through a forwarded port"
    where: str = "on the host"
    #: what else is needed to compare: engine_version, driver, model_hash, gpu …
    facts: dict[str, str] = field(default_factory=dict)

    def level(self, concurrency: int) -> Level | None:
        """The level at this concurrency, or None."""
        return next((level for level in self.levels if level.concurrency == concurrency), None)


class VerdictKind(StrEnum):
    """Outcome of a comparison."""

    FASTER = "faster"
    SAME = "same within noise"
    SLOWER = "slower"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Comparison with a baseline; change and interval in per cent of the baseline (negative: slower)."""

    kind: VerdictKind
    change_pct: float | None
    low_pct: float | None
    high_pct: float | None
    #: named method: "bootstrap of the ratio of medians, 95 %"
    method: str
    #: what was compared, in words, and what differs besides speed
    notes: tuple[str, ...] = ()
