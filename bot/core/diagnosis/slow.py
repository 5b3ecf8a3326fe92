"""Why is it slower: the differences between a launch and the best one, ranked by what each is worth.

Slack wording is not made here: a difference is plain values. What a difference is worth comes from history where two
launches differed in nothing else, from arithmetic where speed is proportional (accept length, clocks), else from a rule
of thumb that only orders the list.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bot.core.domain.diagnosis import PastPair, RankedDifference, Sighting

#: speculation: set together or not at all, so that a retry with one of them takes all three from the best launch
SPECULATIVE = ("speculative_algorithm", "speculative_steps", "speculative_topk", "speculative_draft_tokens")
#: settings that say nothing about speed
INDIFFERENT = frozenset({"port", "host", "served_name", "api_key", "log_level", "download_dir", "seed"})

#: how much a differing setting usually matters for decode speed, 0 to 100; others get OTHER_SETTING
USUAL_WEIGHT: Mapping[str, int] = {
    "cuda_graphs": 85,
    "tensor_parallel": 80,
    "quantization": 75,
    "speculative_algorithm": 80,
    "speculative_steps": 78,
    "speculative_draft_tokens": 76,
    "speculative_topk": 60,
    "attention_backend": 70,
    "dtype": 60,
    "kv_cache_dtype": 50,
    "gpus": 60,
    "data_parallel": 45,
    "max_running_requests": 35,
    "context_length": 25,
    "memory_fraction": 25,
    "env": 30,
}
OTHER_SETTING = 20
#: versions by name; others get OTHER_VERSION
VERSION_WEIGHT: Mapping[str, int] = {"model_hash": 72, "engine": 66, "driver": 45, "torch": 45, "cuda": 40}
OTHER_VERSION = 30
#: an accept length this close to 1 gives nothing for what the drafts cost
ACCEPTS_NOTHING = 1.15


def explain_slower(current: Sighting, best: Sighting, history: Sequence[PastPair] = ()) -> tuple[RankedDifference, ...]:
    """Differences that can explain why `current` is slower than `best`, heaviest first. Unknown is no difference."""
    found = [
        *_speculation(current, best),
        *_graphs(current, best),
        *_clocks(current, best),
        *_host(current, best),
        *_settings(current, best, history),
        *_versions(current, best),
    ]
    return tuple(sorted(found, key=lambda d: (-d.weight, d.what)))


def best_revert(differences: Iterable[RankedDifference]) -> Mapping[str, Any]:
    """Overrides that take away every difference that a setting can take away: the relaunch of the best revision."""
    merged: dict[str, Any] = {}
    for difference in differences:
        merged.update(difference.overrides)
    return merged


def _speculation(current: Sighting, best: Sighting) -> list[RankedDifference]:
    now, then = current.accept_length, best.accept_length
    if now is None:
        return []
    if then is not None and then > now * 1.05:
        weight = 96 if now <= ACCEPTS_NOTHING else 90
        return [_difference("accept_length", f"{now:.2f}", f"{then:.2f}", weight, then / now, "arithmetic")]
    if then is None and now <= ACCEPTS_NOTHING:
        return [_difference("accept_length", f"{now:.2f}", "not known", 88, None, "")]
    return []


def _graphs(current: Sighting, best: Sighting) -> list[RankedDifference]:
    if current.cuda_graphs is False and best.cuda_graphs is not False:
        return [
            RankedDifference(
                what="cuda_graphs",
                current="off",
                best="on" if best.cuda_graphs else "not known",
                weight=86,
                basis="rule of thumb",
                overrides={"cuda_graphs": True},
            )
        ]
    return []


def _clocks(current: Sighting, best: Sighting) -> list[RankedDifference]:
    found = []
    reference = best.sm_clock_mhz or current.max_sm_clock_mhz
    if current.sm_clock_mhz and reference and current.sm_clock_mhz < reference * 0.93:
        factor = reference / current.sm_clock_mhz
        weight = 92 if factor > 1.5 else 74
        found.append(
            _difference("sm_clock_mhz", f"{current.sm_clock_mhz:.0f}", f"{reference:.0f}", weight, factor, "arithmetic")
        )
    if current.throttle_reasons and not best.throttle_reasons:
        found.append(_difference("throttle_reasons", ", ".join(current.throttle_reasons), "none", 82, None, ""))
    if current.power_limit_w and best.power_limit_w and current.power_limit_w < best.power_limit_w * 0.97:
        found.append(
            _difference("power_limit_w", f"{current.power_limit_w:.0f}", f"{best.power_limit_w:.0f}", 68, None, "")
        )
    return found


def _host(current: Sighting, best: Sighting) -> list[RankedDifference]:
    found = []
    if current.tenants and not best.tenants:
        found.append(_difference("tenants", ", ".join(current.tenants), "none", 89, None, ""))
    if current.p2p is False and best.p2p is not False:
        found.append(_difference("p2p", "off", "on" if best.p2p else "not known", 64, None, "rule of thumb"))
    if current.warm is False and best.warm is not False:
        found.append(_difference("warm", "cold", "warm" if best.warm else "not known", 58, None, ""))
    backend, other = current.attention_backend, best.attention_backend
    if backend and other and backend != other and "attention_backend" not in {**current.settings, **best.settings}:
        found.append(
            RankedDifference(
                what="attention_backend",
                current=backend,
                best=other,
                weight=70,
                basis="rule of thumb",
                overrides={"attention_backend": other},
            )
        )
    return found


def _settings(current: Sighting, best: Sighting, history: Sequence[PastPair]) -> list[RankedDifference]:
    found = []
    for name in sorted({*current.settings, *best.settings} - INDIFFERENT):
        now, then = current.settings.get(name), best.settings.get(name)
        if now == then or (name == "cuda_graphs" and current.cuda_graphs is False):
            continue
        factor = _factor(name, now, then, history)
        weight = USUAL_WEIGHT.get(name, OTHER_SETTING)
        if factor is not None:
            # what was measured here outweighs any rule of thumb: 10 % faster is worth 50 points, 50 % and more 95
            weight = max(5, min(95, round(40 + (factor - 1) * 110)))
        found.append(
            RankedDifference(
                what=name,
                current=_shown(now),
                best=_shown(then),
                factor=factor,
                basis="history" if factor is not None else "rule of thumb",
                weight=weight,
                overrides=_overrides(name, best),
            )
        )
    return found


def _overrides(name: str, best: Sighting) -> dict[str, Any]:
    names = SPECULATIVE if name in SPECULATIVE else (name,)
    return {each: best.settings[each] for each in names if each in best.settings}


def _factor(name: str, now: Any, then: Any, history: Sequence[PastPair]) -> float | None:
    """What going from `now` to `then` was worth in earlier launches; the median where there are several."""
    seen = sorted(
        [pair.factor for pair in history if pair.setting == name and pair.before == now and pair.after == then]
        + [1 / pair.factor for pair in history if pair.setting == name and pair.before == then and pair.after == now]
    )
    return seen[len(seen) // 2] if seen else None


def _versions(current: Sighting, best: Sighting) -> list[RankedDifference]:
    return [
        _difference(
            name, current.versions[name], best.versions[name], VERSION_WEIGHT.get(name, OTHER_VERSION), None, ""
        )
        for name in sorted({*current.versions} & {*best.versions})
        if current.versions[name] != best.versions[name]
    ]


def _difference(what: str, current: str, best: str, weight: int, factor: float | None, basis: str) -> RankedDifference:
    return RankedDifference(what=what, current=current, best=best, weight=weight, factor=factor, basis=basis)


def _shown(value: Any) -> str:
    return "not set" if value is None else str(value)
