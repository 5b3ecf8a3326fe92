"""Which earlier measurement a new one is compared with: one baseline per revision, host and workload."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from bot.core.domain.measurement import Measurement, Workload
from bot.core.measuring.fairness import DISTURBING


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One measurement of one launch that became ready."""

    launch: str
    #: launch number that people see
    number: int
    revision: str
    host: str
    measurement: Measurement
    #: a person said "pin this as baseline"
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """The baseline, or None, and why this one ("pinned", "best of 4 measurements of this revision", …)."""

    baseline: Candidate | None
    why: str


def choose_baseline(
    candidates: Sequence[Candidate],
    *,
    host: str,
    workload: Workload,
    revision: str | None = None,
    exclude: str | None = None,
) -> Choice:
    """The pinned measurement on this host, else the best proven one. `revision` limits it to one revision (None: any of
    the config: "around 70 before"); `exclude` is the launch that is being judged. A disturbed measurement is taken only
    where there is no other."""
    usable = [
        c
        for c in candidates
        if c.host == host
        and c.launch != exclude
        and (revision is None or c.revision == revision)
        and comparable(c.measurement.workload, workload)
        and speed(c.measurement, workload) is not None
    ]
    pinned = [c for c in usable if c.pinned]
    if pinned:
        return Choice(max(pinned, key=lambda c: c.measurement.measured_at), "pinned")
    if not usable:
        return Choice(None, _why_none(candidates, host, workload, exclude))
    calm = [c for c in usable if not DISTURBING & set(c.measurement.doubts)]
    best = max(calm or usable, key=lambda c: (speed(c.measurement, workload) or 0.0, c.number))
    what = "this revision" if revision else "this config"
    why = (
        f"best of {len(calm or usable)} on this host of {what}"
        if len(calm or usable) > 1
        else f"the only one of {what}"
    )
    return Choice(best, why if calm else f"{why}; it was disturbed")


def comparable(a: Workload, b: Workload) -> bool:
    """Whether two load shapes share a concurrency and have about the same lengths."""
    return (
        bool(set(a.concurrency) & set(b.concurrency))
        and a.reuse_prompts == b.reuse_prompts
        and _near(a.prompt_tokens, b.prompt_tokens, 1.5)
        and _near(a.output_tokens, b.output_tokens, 2.0)
    )


def _near(a: int, b: int, ratio: float) -> bool:
    return max(a, b) <= ratio * max(1, min(a, b))


def speed(measurement: Measurement, workload: Workload) -> float | None:
    """Decode tok/s at the lowest concurrency of `workload` that was measured; None without one.

    The median over requests less half its interquartile range over √n: a lucky short run does not become the best."""
    for width in sorted(workload.concurrency):
        level = measurement.level(width)
        if level and level.decode_tok_s and level.requests:
            doubt_pct = (level.spread_pct or 0.0) / 2 / math.sqrt(level.requests)
            return level.decode_tok_s * (1 - doubt_pct / 100)
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Normal:
    """What is normal for a config on a host at one concurrency, tok/s of one stream."""

    concurrency: int
    launches: int
    low: float
    typical: float
    high: float


def normal(candidates: Sequence[Candidate], *, host: str, concurrency: int) -> Normal | None:
    """Range and mean of undisturbed measurements ("what is normal for qwen?"); None without any."""
    speeds = [
        level.decode_tok_s
        for c in candidates
        if c.host == host and not DISTURBING & set(c.measurement.doubts)
        if (level := c.measurement.level(concurrency)) and level.decode_tok_s
    ]
    if not speeds:
        return None
    return Normal(
        concurrency=concurrency, launches=len(speeds), low=min(speeds), typical=fmean(speeds), high=max(speeds)
    )


def _why_none(candidates: Sequence[Candidate], host: str, workload: Workload, exclude: str | None) -> str:
    others = [c for c in candidates if c.launch != exclude]
    if not others:
        return "nothing was measured before"
    if not any(c.host == host for c in others):
        hosts = ", ".join(sorted({c.host for c in others}))
        return f"measured on {hosts} only: machines of one kind differ by 7 %"
    if not any(comparable(c.measurement.workload, workload) for c in others if c.host == host):
        return "measured with other prompt or answer lengths only"
    return "no measurement of this revision on this host"
