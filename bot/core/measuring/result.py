"""The script's final record -> Measurement."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from bot.core.domain.measurement import Level, Measurement, Workload
from bot.core.measuring.fairness import doubts
from bot.core.measuring.speculation import CounterReader, speculation

MAX_ERRORS = 20


def measurement_from(
    result: Mapping[str, Any],
    *,
    workload: Workload,
    measured_at: datetime,
    read: CounterReader | None = None,
    where: str = "on the host",
    facts: Mapping[str, str] | None = None,
) -> Measurement:
    """Make a Measurement. `read` reads a page of the engine's counters (Engine.parse_metrics); without it neither
    requests of others nor speculation can be told from counters. `facts` is added to what the script saw itself."""
    spec = speculation(result, read)
    doubted = doubts(result, workload, read)
    return Measurement(
        measured_at=measured_at,
        workload=workload,
        levels=tuple(level_from(level, read) for level in result["levels"]),
        accept_length=round(spec.accept_length, 3) if spec else None,
        acceptance_per_position=tuple(round(p, 3) for p in spec.per_position) if spec else (),
        drafts=spec.drafts if spec else None,
        caveats=tuple(d.text for d in doubted),
        doubts=tuple(d.kind for d in doubted),
        notes=notes(result),
        where=where,
        facts={**gpu_facts(result), **_own_facts(result, spec.source if spec else None), **(facts or {})},
    )


def counted_tokens(record: Mapping[str, Any], read: CounterReader | None) -> float | None:
    """Growth of the server's counter of generated tokens while this level was measured; None when it shows none."""
    if read is None or not record.get("metrics_before") or not record.get("metrics_after"):
        return None
    before = read(record["metrics_before"]).generation_tokens_total
    after = read(record["metrics_after"]).generation_tokens_total
    return None if before is None or after is None else after - before


def level_from(record: Mapping[str, Any], read: CounterReader | None = None) -> Level:
    """One concurrency of the result."""
    ttft, gaps = record["ttft_ms"], record["itl_ms"]
    return Level(
        concurrency=int(record["concurrency"]),
        requests=int(record["requests"]),
        failed=int(record["failed"]),
        aggregate_tok_s=record["aggregate_tok_s"],
        decode_tok_s=record["decode_tok_s"],
        spread_pct=record["spread_pct"],
        ttft_ms_p50=ttft["p50"],
        ttft_ms_p95=ttft["p95"],
        ttft_ms_p99=ttft["p99"],
        itl_ms_p50=gaps["p50"],
        itl_ms_p95=gaps["p95"],
        itl_ms_p99=gaps["p99"],
        samples=tuple(record["samples"]),
        stopped_because=record["stopped_because"],
        errors=tuple(str(e["error"]) for e in record["errors"][:MAX_ERRORS]),
        tokens_per_chunk=record.get("tokens_per_chunk"),
        tokens=int(record["tokens"]),
        counted_tokens=counted_tokens(record, read),
        prompt_tokens=record.get("prompt_tokens"),
    )


def notes(result: Mapping[str, Any]) -> tuple[str, ...]:
    """What was noticed and dealt with."""
    said: list[str] = []
    for level in result["levels"]:
        at, warm = f"at {level['concurrency']}", level.get("warmup") or {}
        slowest, usual = warm.get("slowest_ttft_ms"), level["ttft_ms"]["p50"]
        if slowest and usual and slowest > 3 * usual and slowest - usual > 500:
            said.append(
                f"{at} a warm-up request took {slowest / 1000:.1f} s to begin ({usual / 1000:.2f} s later): kernels "
                "were compiled or the server was busy; it is not in the numbers"
            )
        if level.get("dropped"):
            said.append(f"{at} the first {level['dropped']} answers were much slower than the rest and were left out")
    error = (result.get("gpu") or {}).get("error")
    if error and error != "not asked for":
        said.append(f"the GPU could not be looked at: {error}")
    return tuple(said)


def gpu_facts(result: Mapping[str, Any]) -> dict[str, str]:
    """GPU, driver and clocks as the script saw them, of the cards that the server is on (all where that is unknown)."""
    gpu = result.get("gpu") or {}
    ours = {app["gpu_uuid"] for app in gpu.get("apps") or [] if app.get("server")}
    samples = gpu.get("samples") or []
    cards = [card for card in (samples[-1]["gpus"] if samples else []) if not ours or card["uuid"] in ours]
    if not cards:
        return {}
    wanted = {card["uuid"] for card in cards}
    during = [c for s in samples if s["phase"] == "during" for c in s["gpus"] if c["uuid"] in wanted]
    clocks = sorted(float(c["sm_mhz"]) for c in during if str(c.get("sm_mhz", "")).replace(".", "").isdigit())
    facts = {
        "gpu": f"{len(cards)}x {cards[0]['name']}" if len(cards) > 1 else cards[0]["name"],
        "gpu_uuids": ",".join(sorted(card["uuid"] for card in cards)),
        "driver": cards[0]["driver"],
        "power_limit_w": cards[0]["power_limit_w"],
    }
    return facts | ({"sm_mhz": f"{clocks[len(clocks) // 2]:.0f}"} if clocks else {})


def _own_facts(result: Mapping[str, Any], source: str | None) -> dict[str, str]:
    facts = {"served_model": str(result.get("model") or ""), "endpoint": str(result.get("endpoint") or "")}
    facts["temperature"] = str(result.get("temperature", ""))
    return facts | ({"speculation_from": source} if source else {})
