"""Records of the load script, levels and measurements for tests."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from bot.core.domain.engine import EngineMetrics
from bot.core.domain.measurement import Level, Measurement, Workload

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
CARD = {
    "index": "0", "uuid": "GPU-a", "name": "NVIDIA H200", "driver": "580.159.04", "sm_mhz": "1980",
    "sm_max_mhz": "1980", "power_w": "600", "power_limit_w": "700.00", "temperature_c": "60",
    "reasons": "0x0000000000000000",
}  # fmt: skip


def counters(page: str) -> EngineMetrics:
    """Counters of a page of the form "tokens=5 drafts=2"; names as in EngineMetrics without `_total`."""
    found: dict[str, Any] = {}
    for word in page.split():
        name, _, value = word.partition("=")
        if "," in value:
            found[f"{name}_total"] = tuple(float(v) for v in value.split(","))
        else:
            found[f"{name}_total"] = float(value)
    return EngineMetrics(**found)


def level_record(**more: Any) -> dict[str, Any]:
    """One level of a calm result at concurrency 1: 8 answers of 256 tokens at 50 tok/s."""
    record: dict[str, Any] = {
        "concurrency": 1, "requests": 8, "failed": 0, "dropped": 0, "aggregate_tok_s": 49.0, "decode_tok_s": 50.0,
        "spread_pct": 1.0, "ttft_ms": {"p50": 80.0, "p95": 90.0, "p99": 95.0},
        "itl_ms": {"p50": 20.0, "p95": 21.0, "p99": 22.0}, "samples": [50.0] * 8, "stopped_because": "time up",
        "errors": [], "tokens": 2048, "counted_from": "usage", "tokens_per_chunk": 1.0, "short": 0,
        "prompt_tokens": 128, "prompt_tokens_total": 1024, "cached_tokens": 0, "cached_of": 1024, "drafted": None,
        "warmup": {"requests": 2, "failed": 0, "seconds": 11.0, "slowest_ttft_ms": 90.0, "tokens": 512},
        "client_busy": 0.02, "metrics_before": None, "metrics_after": None, "per_request": [],
    }  # fmt: skip
    return {**record, **more}


def result_record(*levels: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The script's final record."""
    record: dict[str, Any] = {
        "type": "result", "model": "qwen", "endpoint": "chat", "options": ["ignore_eos"], "temperature": 0.0,
        "levels": list(levels) or [level_record()], "native": None,
        "gpu": {"samples": [], "apps": [], "error": "not asked for"},
        "idle": {"metrics": [None], "seconds": 1.0, "slots": None}, "python": "3.11.2",
    }  # fmt: skip
    return {**record, **more}


def level(concurrency: int, samples: Sequence[float], **more: Any) -> Level:
    """A level with these decode speeds."""
    fields: dict[str, Any] = {
        "concurrency": concurrency, "requests": len(samples), "failed": 0, "aggregate_tok_s": sum(samples) or None,
        "decode_tok_s": sorted(samples)[len(samples) // 2] if samples else None, "spread_pct": 2.0,
        "ttft_ms_p50": 80.0, "ttft_ms_p95": 90.0, "ttft_ms_p99": 95.0, "itl_ms_p50": 20.0, "itl_ms_p95": 22.0,
    }  # fmt: skip
    return Level(samples=tuple(samples), **(fields | more))


def around(tok_s: float, n: int = 10, pct: float = 1.0, seed: int = 0) -> list[float]:
    """n speeds with a standard deviation of `pct`."""
    source = random.Random(seed)
    return [source.gauss(tok_s, tok_s * pct / 100) for _ in range(n)]


def measured(tok_s: float, *, concurrency: int = 1, seed: int = 0, **more: Any) -> Measurement:
    """A calm measurement at one concurrency."""
    n = 10 * concurrency
    fields: dict[str, Any] = {
        "measured_at": NOON,
        "workload": Workload(concurrency=(concurrency,)),
        "levels": (level(concurrency, around(tok_s, n, seed=seed)),),
    }
    return Measurement(**(fields | more))


def pair(
    source: random.Random, change: float, *, widths: Sequence[int], n: int, within: float, between: float
) -> tuple[list[Level], list[Level]]:
    """Two simulated runs of n waves a concurrency, the second one faster by `change`. Answers scatter by `within`, each
    launch as a whole by `between`; all are shares of the speed."""

    def run(speed: float) -> list[Level]:
        speed *= source.gauss(1, between)
        return [level(w, [speed * source.gauss(1, within) for _ in range(n * w)]) for w in widths]

    return run(50.0), run(50.0 * (1 + change))
