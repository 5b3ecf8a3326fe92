"""Accept length of this run: from counter differences or per-request fields, never from gauges, which go stale."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.core.domain.engine import EngineMetrics

CounterReader = Callable[[str], EngineMetrics]


@dataclass(frozen=True, slots=True, kw_only=True)
class Speculation:
    """What speculation did. accept_length = 1 + accepted / drafts: the target's own token counts."""

    accept_length: float
    #: verify steps
    drafts: float
    #: chance that the draft token of each position was accepted, 0 to 1
    per_position: tuple[float, ...] = ()
    source: str = ""


def speculation(result: Mapping[str, Any], read: CounterReader | None) -> Speculation | None:
    """Speculation during the run that `result` (the script's final record) tells of; None: none, or nothing told."""
    return (
        _from_counters(result["levels"], read) or _from_stream(result["levels"]) or _from_native(result.get("native"))
    )


def _from_counters(levels: Sequence[Mapping[str, Any]], read: CounterReader | None) -> Speculation | None:
    if read is None:
        return None
    drafts = accepted = 0.0
    positions: list[float] = []
    for level in levels:
        if not level.get("metrics_before") or not level.get("metrics_after"):
            continue
        before, after = read(level["metrics_before"]), read(level["metrics_after"])
        drafts += difference(before.drafts_total, after.drafts_total)
        accepted += difference(before.accepted_tokens_total, after.accepted_tokens_total)
        old = before.accepted_per_position_total
        for i, total in enumerate(after.accepted_per_position_total):
            positions.extend([0.0] * (i + 1 - len(positions)))
            positions[i] += difference(old[i] if i < len(old) else 0.0, total)
    if drafts <= 0:
        return None
    return Speculation(
        accept_length=1 + accepted / drafts,
        drafts=drafts,
        per_position=tuple(p / drafts for p in positions),
        source="counters",
    )


def difference(before: float | None, after: float | None) -> float:
    """Growth of a counter; 0 when it is missing or was reset."""
    return max(0.0, (after or 0.0) - (before or 0.0)) if after is not None else 0.0


def _from_stream(levels: Sequence[Mapping[str, Any]]) -> Speculation | None:
    """From `timings` of each answer: the first token comes from the prompt, each later step gives one token of the
    target and the accepted drafts."""
    told = [level["drafted"] for level in levels if level.get("drafted")]
    accepted = sum(t["accepted"] for t in told)
    steps = sum(t["tokens"] - t["requests"] for t in told) - accepted
    if steps <= 0:
        return None
    return Speculation(accept_length=1 + accepted / steps, drafts=steps, source="timings of each answer")


def _from_native(native: Mapping[str, Any] | None) -> Speculation | None:
    """From `meta_info` of a few requests: tokens per verify step."""
    if not native or not native.get("steps"):
        return None
    histogram = native.get("histogram") or []
    total = sum(histogram)
    return Speculation(
        accept_length=native["tokens"] / native["steps"],
        drafts=native["steps"],
        per_position=tuple(sum(histogram[i:]) / total for i in range(1, len(histogram))) if total else (),
        source=f"meta_info of {native.get('requests', 0)} requests",
    )
