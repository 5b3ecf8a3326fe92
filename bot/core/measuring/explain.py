"""Why one launch is slower than another, from the launches at hand: what differs, and what each difference is worth."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from bot.core.domain.measurement import Measurement
from bot.core.measuring.verdict import RUN_NOISE_PCT

#: neutral setting that says how many tokens are drafted ahead; absent or 0: none
STEPS = "speculative_steps"
#: settings that speculation brings with it; they differ whenever it does and are not counted beside it
_SPECULATIVE = "speculative_"

#: when earlier launches do not tell: what usually matters more stands higher
_USUAL_ORDER = (
    "shared",
    "foreign_gpu",
    "throttled",
    "power_cap",
    "accept_length",
    "speculation",
    "graphs",
    "flag",
    "engine_version",
    "model_hash",
    "gpu",
    "driver",
    "clocks",
    "fact",
    "cache",
)
_FACT_KINDS = {
    "engine_version": "engine_version",
    "model_hash": "model_hash",
    "gpu": "gpu",
    "driver": "driver",
    "sm_mhz": "clocks",
    "power_limit_w": "clocks",
}
#: facts that follow from the run, not from the launch
_NOT_CAUSES = frozenset(
    {"speculation_from", "measured_by", "served_model", "endpoint", "temperature", "host", "gpu_uuids", "url"}
)
_CLOCK_SLACK = 0.03


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
    """Ranked differences: first those that earlier launches put a figure on, largest first, then the usual order."""
    found = [*_disturbances(current, baseline), *_flags(current, baseline, others), *_facts(current, baseline)]
    if length := _accept_length(current, baseline):
        found.append(length)
    order = {kind: i for i, kind in enumerate(_USUAL_ORDER)}

    def rank(d: Difference) -> tuple[int, float, int]:
        told = d.worth_pct is not None and abs(d.worth_pct) > RUN_NOISE_PCT
        disturbed = d.kind in _USUAL_ORDER[:3]
        return (0 if told or disturbed else 1, -abs(d.worth_pct or 0.0), order.get(d.kind, len(order)))

    return tuple(sorted(found, key=rank))


def _flags(current: Observed, baseline: Observed, others: Sequence[Observed]) -> list[Difference]:
    """Settings that differ; all speculative ones together are one difference."""
    new, old = current.everything(), baseline.everything()
    names = sorted(k for k in new.keys() | old.keys() if new.get(k) != old.get(k))
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault("speculation" if name.startswith(_SPECULATIVE) else name, []).append(name)
    found = []
    for group, members in groups.items():
        worth, grounds = _worth(members, old, new, current, others)
        kind = group if group == "speculation" else ("graphs" if "graph" in group else "flag")
        lead = STEPS if group == "speculation" and STEPS in members else members[0]
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
            )
        )
    return found


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


def _accept_length(current: Observed, baseline: Observed) -> Difference | None:
    """What the change of accept length alone would do: speed is tokens per step times steps per second."""
    new, old = current.measurement.accept_length, baseline.measurement.accept_length
    if not new or not old or abs(new / old - 1) < 0.02:
        return None
    worth = 100 * (new / old - 1)
    grounds = "tokens per step, at the same number of steps per second"
    if (ratio := _log_ratio(baseline.measurement, current.measurement)) is not None:
        pace = 100 * (math.exp(ratio) * old / new - 1)
        grounds = f"tokens per step; steps per second changed by {pace:+.0f} %"
    return Difference(
        kind="accept_length",
        name="accept length",
        before=f"{old:.2f}",
        after=f"{new:.2f}",
        worth_pct=round(worth, 1),
        grounds=grounds,
    )


def _facts(current: Observed, baseline: Observed) -> list[Difference]:
    new, old = current.measurement.facts, baseline.measurement.facts
    found = []
    for name in sorted(new.keys() & old.keys()):
        if new[name] == old[name] or name in _NOT_CAUSES or _almost(name, old[name], new[name]):
            continue
        found.append(
            Difference(
                kind=_FACT_KINDS.get(name, "fact"), name=name.replace("_", " "), before=old[name], after=new[name]
            )
        )
    return found


def _almost(name: str, old: str, new: str) -> bool:
    """Clocks wander a little from run to run."""
    if _FACT_KINDS.get(name) != "clocks":
        return False
    try:
        return abs(float(new) / float(old) - 1) < _CLOCK_SLACK
    except (ValueError, ZeroDivisionError):
        return False


def _disturbances(current: Observed, baseline: Observed) -> list[Difference]:
    """Doubts on one side only."""
    now = dict(zip(current.measurement.doubts, current.measurement.caveats, strict=False))
    then = dict(zip(baseline.measurement.doubts, baseline.measurement.caveats, strict=False))
    found = [Difference(kind=k, name=k, before="not seen", after=text) for k, text in now.items() if k not in then]
    found += [Difference(kind=k, name=k, before=text, after="not seen") for k, text in then.items() if k not in now]
    return [
        d if d.kind != "cached" else Difference(kind="cache", name=d.kind, before=d.before, after=d.after)
        for d in found
    ]


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
