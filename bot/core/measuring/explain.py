"""Why one launch is slower than another, from the launches at hand: what differs, and what each difference is worth."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from bot.core.domain.measurement import Measurement
from bot.core.measuring.verdict import RUN_NOISE_PCT

#: neutral setting that says how many tokens are drafted ahead; absent or 0: none
STEPS = "speculative_steps"
#: settings that speculation brings with it; they differ whenever it does and are not counted beside it
_SPECULATIVE = "speculative_"

#: 0 to 100: how much a difference usually matters for decode speed, where earlier launches do not tell. Disturbances
#: by the host stand first; then what speculation, graphs and settings do; then versions and hardware.
_DISTURBANCES: Mapping[str, int] = {"shared": 99, "foreign_gpu": 98, "throttled": 97, "cold": 96, "power_cap": 82}
_SETTINGS: Mapping[str, int] = {
    "cuda_graphs": 85,
    "tensor_parallel": 80,
    "quantization": 75,
    "attention_backend": 70,
    "dtype": 60,
    "gpus": 60,
    "kv_cache_dtype": 50,
    "data_parallel": 45,
    "max_running_requests": 35,
    "context_length": 25,
    "memory_fraction": 25,
}
_SPECULATION = 81
_PEER_TRAFFIC = 64
_OTHER_SETTING = 30
#: settings that say nothing about speed
_INDIFFERENT = frozenset({"port", "host", "served_name", "api_key", "log_level", "download_dir", "seed"})
#: a setting of at least this weight is worth a relaunch
_WORTH_A_RELAUNCH = 50
#: facts by name: kind and weight; others are a "fact"
_FACTS: Mapping[str, tuple[str, int]] = {
    "model_hash": ("model_hash", 72),
    "power_limit_w": ("power_limit", 68),
    "engine_version": ("engine_version", 66),
    "gpu": ("gpu", 65),
    "sm_mhz": ("clocks", 60),
    "driver": ("driver", 45),
}
_OTHER_FACT = 20
#: facts that follow from the run, not from the launch
_NOT_CAUSES = frozenset(
    {"speculation_from", "measured_by", "served_model", "endpoint", "temperature", "host", "gpu_uuids", "url",
     "gpu_cards", "gpus_used", "gpus_power_limit_w"}
)  # fmt: skip
_CLOCK_SLACK = 0.03
#: an accept length this close to 1 gives nothing for what the drafts cost
_ACCEPTS_NOTHING = 1.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """A measured launch with what it was launched with, each as text: neutral settings (`speculative_steps`, …), flags
    that have no neutral name, environment."""

    number: int
    host: str
    settings: Mapping[str, str]
    measurement: Measurement
    model: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)

    def everything(self) -> dict[str, str]:
        """Settings and environment in one mapping ("env.NAME")."""
        return {**self.settings, **{f"env.{k}": v for k, v in self.environment.items()}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One difference between two launches. `worth_pct`: change of decode tok/s that it stands for, None when the
    launches at hand do not tell; `grounds` says from what."""

    kind: str
    name: str
    before: str
    after: str
    worth_pct: float | None = None
    grounds: str = ""
    #: settings that belong to the same difference: (name, before, after)
    along: tuple[tuple[str, str, str], ...] = ()
    #: 0 to 100, how likely it is to matter; the list is ordered by it
    weight: int = 0
    #: neutral overrides that take it away; empty: no setting does
    overrides: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    #: whether it is one of how it was launched, not of what it ran on
    is_setting: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculationCost:
    """Speculation that is slower than none: speeds in tok/s of one stream, from launches `launch` and `without`."""

    steps: str
    decode_tok_s: float
    accept_length: float | None
    launch: int
    none_tok_s: float
    without: int
    #: the best number of steps seen on this host, with its speed; None when none beats going without
    better: tuple[str, float] | None = None

    @property
    def change_pct(self) -> float:
        """How much slower it is than none."""
        return 100 * (self.decode_tok_s / self.none_tok_s - 1)


def explain(current: Observed, baseline: Observed, others: Sequence[Observed] = ()) -> tuple[Difference, ...]:
    """Differences between two launches, the weightiest first. What is not known of either side is no difference."""
    found = [
        *_disturbances(current, baseline),
        *_settings(current, baseline, others),
        *_facts(current, baseline),
        *_accept_length(current, baseline),
    ]
    ratio = _log_ratio(baseline.measurement, current.measurement)
    weighed = [replace(one, weight=_weight(one, ratio)) for one in found]
    return tuple(sorted(weighed, key=lambda one: (-one.weight, -abs(one.worth_pct or 0.0))))


def revert(differences: Sequence[Difference]) -> dict[str, str | int | float | bool]:
    """Overrides that take away what settings do: those of weight, without those that make it faster."""
    merged: dict[str, str | int | float | bool] = {}
    for one in differences:
        if one.weight >= _WORTH_A_RELAUNCH and (one.worth_pct is None or one.worth_pct < 0):
            merged |= one.overrides
    return merged


def _weight(one: Difference, ratio: float | None) -> int:
    """A figure from launches or arithmetic outweighs what is usual: 10 % is worth 61 points, 50 % and more 95; one
    that points the other way than the change that was measured explains nothing."""
    if one.worth_pct is None or (one.kind == "accept_length" and one.weight > 90):
        return one.weight
    if ratio is not None and ratio * one.worth_pct < 0:
        return 5
    if abs(one.worth_pct) <= RUN_NOISE_PCT:
        return 10
    return min(95, round(50 + abs(one.worth_pct) * 1.1))


def _settings(current: Observed, baseline: Observed, others: Sequence[Observed]) -> list[Difference]:
    """Settings that differ; all speculative ones together are one difference."""
    new, old = current.everything(), baseline.everything()
    names = sorted(k for k in new.keys() | old.keys() if new.get(k) != old.get(k))
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault("speculation" if name.startswith(_SPECULATIVE) else name, []).append(name)
    found = []
    for group, members in groups.items():
        worth, grounds = _worth(members, old, new, current, others)
        lead = STEPS if group == "speculation" and STEPS in members else members[0]
        kind, weight = _of_setting(group)
        found.append(
            Difference(
                kind=kind,
                name=lead,
                before=old.get(lead, "not given"),
                after=new.get(lead, "not given"),
                worth_pct=worth,
                grounds=grounds,
                along=tuple(
                    (name, old.get(name, "not given"), new.get(name, "not given")) for name in members if name != lead
                ),
                weight=weight,
                overrides=_undone(group, old, new),
                is_setting=True,
            )
        )
    return found


def _of_setting(group: str) -> tuple[str, int]:
    """(kind, usual weight) of a setting, or of "speculation"."""
    if group == "speculation":
        return "speculation", _SPECULATION
    if "graph" in group or "enforce-eager" in group:
        return "graphs", _SETTINGS["cuda_graphs"]
    if "P2P" in group:
        return "peer_traffic", _PEER_TRAFFIC
    return "flag", 5 if group in _INDIFFERENT else _SETTINGS.get(group, _OTHER_SETTING)


def _undone(group: str, old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str | int | float | bool]:
    """Neutral overrides that give `old` again. Speculation is set as a whole, and none is no steps."""
    if group == "speculation":
        if old.get(STEPS, "0") == "0":
            return {STEPS: 0} if STEPS in new else {}
        return {name: _value(text) for name, text in old.items() if name.startswith(_SPECULATIVE)}
    if group == "cuda_graphs":
        return {group: _value(old.get(group, "True"))}
    return {group: _value(old[group])} if group in _SETTINGS and group in old else {}


def _value(text: str) -> str | int | float | bool:
    """A setting's text as what it stands for."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def _worth(
    members: Sequence[str],
    old: Mapping[str, str],
    new: Mapping[str, str],
    current: Observed,
    others: Sequence[Observed],
) -> tuple[float | None, str]:
    """Median change between earlier launches on this host that differ in these settings alone."""
    usable = [o for o in others if o.host == current.host and o.model == current.model]
    ratios, seen = [], []
    for a in usable:
        for b in usable:
            before, after = a.everything(), b.everything()
            differ = {k for k in before.keys() | after.keys() if before.get(k) != after.get(k)}
            if differ != set(members) or any(
                before.get(k) != old.get(k) or after.get(k) != new.get(k) for k in members
            ):
                continue
            if (ratio := _log_ratio(a.measurement, b.measurement)) is not None:
                ratios.append(ratio)
                seen.append(f"#{a.number} and #{b.number}")
    if not ratios:
        return None, "no two launches here differ in this alone"
    return round(100 * math.expm1(median(ratios)), 1), "launches " + ", ".join(seen[:3])


def _log_ratio(old: Measurement, new: Measurement) -> float | None:
    pairs = [
        math.log(b.decode_tok_s / a.decode_tok_s)
        for a in old.levels
        if (b := new.level(a.concurrency)) and a.decode_tok_s and b.decode_tok_s
    ]
    return sum(pairs) / len(pairs) if pairs else None


def _accept_length(current: Observed, baseline: Observed) -> list[Difference]:
    """What the change of accept length alone would do: speed is tokens per step times steps per second. Drafts of which
    none is accepted are worth a word without a comparison."""
    new, old = current.measurement.accept_length, baseline.measurement.accept_length
    useless = new is not None and new <= _ACCEPTS_NOTHING
    if not new or (old is None and not useless) or (old and abs(new / old - 1) < 0.02):
        return []
    if not old:
        return [_length("not known", new, None, "next to no draft is accepted: the drafts only cost time", 91)]
    grounds = "tokens per step, at the same number of steps per second"
    if (ratio := _log_ratio(baseline.measurement, current.measurement)) is not None:
        pace = 100 * (math.exp(ratio) * old / new - 1)
        grounds = f"tokens per step; steps per second changed by {pace:+.0f} %"
    return [_length(f"{old:.2f}", new, round(100 * (new / old - 1), 1), grounds, 96 if useless else 0)]


def _length(before: str, after: float, worth: float | None, grounds: str, weight: int) -> Difference:
    return Difference(
        kind="accept_length",
        name="accept length",
        before=before,
        after=f"{after:.2f}",
        worth_pct=worth,
        grounds=grounds,
        weight=weight,
    )


def _facts(current: Observed, baseline: Observed) -> list[Difference]:
    new, old = current.measurement.facts, baseline.measurement.facts
    found = []
    for name in sorted(new.keys() & old.keys()):
        if new[name] == old[name] or name in _NOT_CAUSES or _almost(name, old[name], new[name]):
            continue
        kind, weight = _FACTS.get(name, ("fact", _OTHER_FACT))
        if kind == "clocks" and (worth := _change_pct(old[name], new[name])) is not None and worth < -33:
            weight = 92
        found.append(
            Difference(kind=kind, name=name.replace("_", " "), before=old[name], after=new[name], weight=weight)
        )
    return found


def _change_pct(old: str, new: str) -> float | None:
    try:
        return 100 * (float(new) / float(old) - 1)
    except (ValueError, ZeroDivisionError):
        return None


def _almost(name: str, old: str, new: str) -> bool:
    """Clocks wander a little from run to run."""
    change = _change_pct(old, new)
    return name == "sm_mhz" and change is not None and abs(change) < 100 * _CLOCK_SLACK


def _disturbances(current: Observed, baseline: Observed) -> list[Difference]:
    """Doubts on one side only. One about the slower side explains; one about the other side does not."""
    now = dict(zip(current.measurement.doubts, current.measurement.caveats, strict=False))
    then = dict(zip(baseline.measurement.doubts, baseline.measurement.caveats, strict=False))
    ratio = _log_ratio(baseline.measurement, current.measurement) or 0.0
    found = []
    for kind in sorted(now.keys() ^ then.keys()):
        weight = _DISTURBANCES.get(kind, 15)
        explains = (kind in now) == (ratio <= 0)
        found.append(
            Difference(
                kind="cache" if kind == "cached" else kind,
                name=kind,
                before=then.get(kind, "not seen"),
                after=now.get(kind, "not seen"),
                weight=weight if explains else min(weight, 25),
            )
        )
    return found


def speculation_cost(launches: Sequence[Observed], current: Observed, concurrency: int = 1) -> SpeculationCost | None:
    """Whether the speculation of `current` costs more than it brings: slower, by more than the noise between launches,
    than a launch of the same model on the same host without it. None: it pays, there is none, or nothing to compare."""
    mine = _speed(current, concurrency)
    if mine is None or not _speculates(current):
        return None
    peers = [
        o for o in launches if o.host == current.host and o.model == current.model and _same_but_speculation(o, current)
    ]
    plain = [(speed, o) for o in peers if not _speculates(o) and (speed := _speed(o, concurrency))]
    if not plain:
        return None
    none_tok_s, without = max(plain, key=lambda pair: pair[0])
    if mine >= none_tok_s * (1 - RUN_NOISE_PCT / 100):
        return None
    drafted = [(speed, o.settings[STEPS]) for o in peers if _speculates(o) and (speed := _speed(o, concurrency))]
    best = max(drafted, default=None)
    return SpeculationCost(
        steps=current.settings[STEPS],
        decode_tok_s=mine,
        accept_length=current.measurement.accept_length,
        launch=current.number,
        none_tok_s=none_tok_s,
        without=without.number,
        better=(best[1], best[0]) if best and best[0] > none_tok_s else None,
    )


def _speculates(launch: Observed) -> bool:
    return launch.settings.get(STEPS, "0") not in ("0", "", "None")


def _speed(launch: Observed, concurrency: int) -> float | None:
    level = launch.measurement.level(concurrency)
    return level.decode_tok_s if level else None


def _same_but_speculation(a: Observed, b: Observed) -> bool:
    """Same settings apart from the speculative ones."""
    x = {k: v for k, v in a.everything().items() if not k.startswith(_SPECULATIVE)}
    y = {k: v for k, v in b.everything().items() if not k.startswith(_SPECULATIVE)}
    return x == y
