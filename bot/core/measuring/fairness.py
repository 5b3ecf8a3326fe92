"""What makes a measured number doubtful. Each judge reads the script's final record and gives Doubts.

Kinds: shared, foreign_gpu, throttled, power_cap, cached, failures, short, uncounted, script_busy, counters, cold.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.core.domain.measurement import Workload
from bot.core.measuring.speculation import CounterReader, difference

#: kinds that can make a server look slower or faster than it is; the others only limit what the number says
DISTURBING = frozenset({"shared", "foreign_gpu", "throttled", "failures", "script_busy", "cold"})

#: the server's counter may differ this much from our own count before it is said (cut-off drafts, rounding)
_COUNTER_SLACK = 0.03
#: a chat template's fixed head is cached, too; above this share of the prompt it is more than that
_CACHED_SHARE = 0.25
_SLOW_FIRST = 3.0
_SCRIPT_BUSY = 0.8

#: bits of nvidia-smi's clocks_event_reasons.active (NVML nvmlClocksEventReason*)
_POWER_CAP = 0x4
_SLOWDOWNS = {
    0x8: "hardware slowdown",
    0x20: "thermal slowdown (software)",
    0x40: "thermal slowdown (hardware)",
    0x80: "power brake",
}


@dataclass(frozen=True, slots=True)
class Doubt:
    """One doubt: its kind and a sentence."""

    kind: str
    text: str


def doubts(result: Mapping[str, Any], workload: Workload, read: CounterReader | None) -> tuple[Doubt, ...]:
    """All doubts about a measurement, the gravest kind of thing first."""
    levels: Sequence[Mapping[str, Any]] = result["levels"]
    found: list[Doubt] = []
    found += _others(result, read)
    found += _gpu_processes(result.get("gpu") or {})
    found += _clocks(result.get("gpu") or {})
    for level in levels:
        found += _failures(level)
        found += _cold(level)
        found += _lengths(level, workload)
        if not workload.reuse_prompts:
            found += _cache(level, read)
        if (level.get("client_busy") or 0) > _SCRIPT_BUSY:
            share = round(100 * level["client_busy"])
            found.append(
                Doubt(
                    "script_busy",
                    f"at {level['concurrency']} the measuring script used {share} % of its core: "
                    "the server may be faster than this",
                )
            )
    return tuple(dict.fromkeys(found))


def _others(result: Mapping[str, Any], read: CounterReader | None) -> Iterable[Doubt]:
    """Requests of other people: counters that grow without us, before and during the run."""
    idle = result.get("idle") or {}
    if idle.get("slots"):
        yield Doubt("shared", f"{idle['slots']} requests of others were running before the first of ours")
    if read is None:
        return
    pages = idle.get("metrics") or []
    if len(pages) == 2 and all(pages):
        grown = difference(read(pages[0]).generation_tokens_total, read(pages[1]).generation_tokens_total)
        if grown > 0:
            rate = grown / (idle.get("seconds") or 1.0)
            yield Doubt("shared", f"the server was making {rate:.0f} tok/s for others before the first request of ours")
    for level in result["levels"]:
        yield from _counted_against(level, read)


def _counted_against(level: Mapping[str, Any], read: CounterReader) -> Iterable[Doubt]:
    if not level.get("metrics_before") or not level.get("metrics_after"):
        return
    before = read(level["metrics_before"]).generation_tokens_total
    after = read(level["metrics_after"]).generation_tokens_total
    if before is None or after is None or not level["tokens"]:
        return
    served, own = after - before, level["tokens"]
    # the tokens of our own failed requests are in the counter, too, and are not known
    slack = _COUNTER_SLACK + (level["failed"] / (level["failed"] + level["requests"]) if level["failed"] else 0)
    at = f"at {level['concurrency']}"
    if served > own * (1 + slack) + 16:
        share = round(100 * (served - own) / served)
        yield Doubt("shared", f"{at} {share} % of the tokens that the server made were for other people's requests")
    elif served < own * (1 - _COUNTER_SLACK):
        yield Doubt(
            "counters", f"{at} the server's counter grew by {served:.0f} tokens while {own} came: one of them is wrong"
        )


def _gpu_processes(gpu: Mapping[str, Any]) -> Iterable[Doubt]:
    """Processes of others on the GPUs that the server uses."""
    apps = gpu.get("apps") or []
    ours = {app["gpu_uuid"] for app in apps if app.get("server")}
    index = {g["uuid"]: g["index"] for sample in gpu.get("samples") or [] for g in sample["gpus"]}
    seen: set[int] = set()
    for app in apps:
        if app.get("server") is not False or app["gpu_uuid"] not in ours or app["pid"] in seen:
            continue
        seen.add(app["pid"])
        held = f", {int(app['mib'])} MiB" if str(app.get("mib", "")).isdigit() else ""
        of = f" of {app['user']}" if app.get("user") else ""
        name = str(app["name"]).rsplit("/", 1)[-1]
        card = index.get(app["gpu_uuid"], "?")
        yield Doubt("foreign_gpu", f"another process{of} was on GPU {card}: {name}, pid {app['pid']}{held}")


def _clocks(gpu: Mapping[str, Any]) -> Iterable[Doubt]:
    """Throttling and power cap while requests ran, on the server's GPUs (on all, where its own are not known)."""
    apps = gpu.get("apps") or []
    ours = {app["gpu_uuid"] for app in apps if app.get("server")}
    looks: dict[str, list[Mapping[str, str]]] = {}
    for sample in gpu.get("samples") or []:
        for card in sample["gpus"] if sample["phase"] == "during" else ():
            if not ours or card["uuid"] in ours:
                looks.setdefault(card["index"], []).append(card)
    for index, cards in looks.items():
        masks = [_mask(card.get("reasons", "")) for card in cards]
        for bit, name in _SLOWDOWNS.items():
            hit = [card for card, mask in zip(cards, masks, strict=True) if mask & bit]
            if hit:
                slowest = min(hit, key=lambda card: _number(card.get("sm_mhz", "")))
                yield Doubt(
                    "throttled",
                    f"GPU {index}: {name} in {len(hit)} of {len(cards)} looks, down to {slowest.get('sm_mhz')} of "
                    f"{slowest.get('sm_max_mhz')} MHz at {slowest.get('temperature_c')} °C",
                )
        capped = [card for card, mask in zip(cards, masks, strict=True) if mask & _POWER_CAP]
        if 2 * len(capped) > len(cards):
            yield Doubt(
                "power_cap",
                f"GPU {index} ran at its power limit ({capped[0].get('power_limit_w')} W), "
                f"{capped[-1].get('sm_mhz')} of {capped[-1].get('sm_max_mhz')} MHz",
            )


def _mask(text: str) -> int:
    try:
        return int(text, 16)
    except ValueError:
        return 0


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("inf")


def _failures(level: Mapping[str, Any]) -> Iterable[Doubt]:
    if not level["failed"]:
        return
    total = level["failed"] + level["requests"] + (level.get("dropped") or 0)
    first = level["errors"][0]["error"] if level["errors"] else "no reason given"
    yield Doubt("failures", f"at {level['concurrency']} {level['failed']} of {total} requests failed: {first}")


def _cold(level: Mapping[str, Any]) -> Iterable[Doubt]:
    """A first measured request that took much longer than the rest: something was still being compiled or loaded."""
    waits = [row["ttft_ms"] for row in level.get("per_request") or [] if row.get("ttft_ms") is not None]
    width = level["concurrency"]
    if level.get("dropped") or len(waits) <= 2 * width:
        return
    first, rest = max(waits[:width]), sorted(waits[width:])
    usual = rest[len(rest) // 2]
    if first > _SLOW_FIRST * usual and first - usual > 500:
        yield Doubt(
            "cold",
            f"at {width} one of the first answers took {first / 1000:.1f} s to begin, later ones "
            f"{usual / 1000:.2f} s: the server was not warm",
        )


def _lengths(level: Mapping[str, Any], workload: Workload) -> Iterable[Doubt]:
    at = f"at {level['concurrency']}"
    if level.get("counted_from") == "chunks":
        yield Doubt(
            "uncounted", f"{at} the server gave no usage: chunks were counted, and a chunk may carry several tokens"
        )
    if level.get("short", 0) > 0.05 * max(1, level["requests"]):
        yield Doubt(
            "short",
            f"{at} {level['short']} of {level['requests']} answers ended before {workload.output_tokens} tokens",
        )


def _cache(level: Mapping[str, Any], read: CounterReader | None) -> Iterable[Doubt]:
    cached, prompts = level.get("cached_tokens"), level.get("cached_of")
    if cached is None and read and level.get("metrics_before") and level.get("metrics_after"):
        before = read(level["metrics_before"]).cached_prompt_tokens_total
        after = read(level["metrics_after"]).cached_prompt_tokens_total
        if after is not None:
            cached, prompts = difference(before, after), level.get("prompt_tokens_total")
    if cached and prompts and cached > _CACHED_SHARE * prompts:
        yield Doubt(
            "cached",
            f"at {level['concurrency']} {round(100 * cached / prompts)} % of the prompt tokens came from the prefix "
            "cache: the time to the first token looks better than it is",
        )
