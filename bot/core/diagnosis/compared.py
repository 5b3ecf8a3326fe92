"""What a report's own figures say when those of one name are held against those of another."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from bot.core.diagnosis.matching import Context, Match
from bot.core.diagnosis.reported import STAGE, STEADY, VERSION, Named, reported
from bot.core.diagnosis.rule import Rule

#: figures this close together (share of the larger) are the same
SAME = 0.025
#: the server's own lines of two starts are no benchmark: they alone make no healthy log a slow one
LOG_PENALTY = 12
#: a text with one of these tells of a failure: its figures are no comparison
_FAILS = re.compile(r"traceback \(most recent|^\w*(?:error|exception): |core dumped|segmentation fault", re.MULTILINE)
#: words that make "before" and "after" mean versions
_CHANGE = re.compile(
    r"\b(?:up|down)grad\w*|\bupdat(?:e|ed|ing)\b|\bversions?\b|\breleases?\b|\bcommits?\b|\bbuilds?\b|\bregress\w*|\bbisect\w*"
    r"|\bmaster\b|\bmerged?\b|\brevert\w*|\brefactor\w*|\bpr ?#?\d{3,}|v?\d+\.\d+\.\d+ ?(?:->|→|to) ?v?\d+\.\d+"
)

_OFF = re.compile(r"\b(?:without|no|baseline|w/o?|off|disable\w*)\b")

_CAUSE = "It is {one} with {one_name} and {other} with {other_name}: the {what} is what differs."
_BY_VERSION = Rule(
    kind="slow_after_upgrade",
    weight=61,
    pattern="",
    sure=False,
    cause=_CAUSE,
    fix="Compare the two at equal load and equal flags in steady state; stay on the faster one and report it.",
    alternatives=("slow_other", "slow_spec"),
)
_BY_STAGE = Rule(
    kind="slow_after_upgrade",
    weight=57,
    pattern="",
    sure=False,
    cause="It is {one} with what is called {one_name} and {other} with {other_name}: the {what} is what differs.",
    fix=_BY_VERSION.fix,
    alternatives=("slow_other", "slow_spec"),
)
_BY_SETTING: Mapping[str, Rule] = {
    kind: Rule(kind=kind, weight=weight, pattern="", sure=False, cause=_CAUSE, alternatives=alternatives)
    for kind, weight, alternatives in (
        ("slow_spec", 59, ("slow_other", "slow_after_upgrade")),
        ("slow_cuda_graph_off", 56, ("slow_other", "slow_spec")),
        ("slow_comm", 55, ("slow_other", "hang_nccl_p2p")),
        ("slow_gpu_clocks", 55, ("slow_other", "slow_comm")),
        ("slow_moe_config", 55, ("slow_other",)),
        ("slow_other", 44, ("slow_after_upgrade", "slow_comm")),
    )
}
_WHAT = {
    "slow_spec": "speculation",
    "slow_cuda_graph_off": "use of CUDA graphs",
    "slow_comm": "number of GPUs or the way between them",
    "slow_gpu_clocks": "power or clock",
    "slow_moe_config": "kernel config",
    "slow_other": "engine",
}


@dataclass(frozen=True, slots=True)
class _Pair:
    one: Named
    other: Named
    #: the larger figure over the smaller
    factor: float


def compared_matches(context: Context) -> Iterator[Match]:
    """Matches that the reported figures give: the version that differs, else the setting that does."""
    if _FAILS.search(context.lower):
        return
    figures = list(reported(context.lower_lines))
    for kind, rule in ((VERSION, _BY_VERSION), (STAGE, _BY_STAGE), *_BY_SETTING.items()):
        if kind == STAGE and not _CHANGE.search(context.lower):
            continue
        pair = _widest(figures, kind)
        if pair is None or (kind == VERSION and _gained(figures)):
            continue
        numbers = {
            "one": f"{pair.one.value:g}",
            "other": f"{pair.other.value:g}",
            "one_name": pair.one.names[kind],
            "other_name": pair.other.names[kind],
            "what": _WHAT.get(kind, "version"),
        }
        own = pair.one.key.startswith(STEADY) or pair.other.key.startswith(STEADY)
        weight = rule.weight - (LOG_PENALTY if own else 0)
        yield Match(rule=rule, index=pair.other.index, groups=numbers, weight=weight)


def _widest(figures: Sequence[Named], kind: str) -> _Pair | None:
    """The pair that differs most of those that measure the same under two names; None: nothing differs."""
    named = [f for f in figures if kind in f.names]
    pairs = [_pair(a, b) for a, b in _alike(named, kind)]
    if not pairs:
        pairs = [_pair(a, b) for a, b in _firsts(named, kind)]
    wide = [p for p in pairs if p.factor > 1 + SAME and _explains(p, kind)]
    return max(wide, key=lambda p: p.factor) if wide else None


def _explains(pair: _Pair, kind: str) -> bool:
    """Whether the slower one has the setting that slows. A version, a stage or another engine may be either way."""
    slower, faster = (pair.one, pair.other) if _is_slower(pair.one, pair.other) else (pair.other, pair.one)
    name, against = slower.names[kind], faster.names[kind]
    off = bool(_OFF.search(name))
    if kind == "slow_spec":
        return not off
    if kind == "slow_cuda_graph_off":
        return off or "eager" in name
    if kind == "slow_moe_config":
        return name != "tuned"
    if kind in ("slow_comm", "slow_gpu_clocks"):
        first, second = _size(name), _size(against)
        return off if first is None or second is None else (first > second) == (kind == "slow_comm")
    return True


def _is_slower(one: Named, other: Named) -> bool:
    return one.value < other.value if one.family == "rate" else one.value > other.value


def _size(name: str) -> int | None:
    """The number in a name; a word counts as one."""
    words = {"one": 1, "single": 1, "two": 2, "multi": 2, "four": 4}
    digits = re.search(r"\d+", name)
    return int(digits[0]) if digits else next((n for word, n in words.items() if word in name), None)


def _alike(named: Iterable[Named], kind: str) -> Iterator[tuple[Named, Named]]:
    """The middle figures of two names that have the same key, and else the same other names."""
    groups: dict[tuple[object, ...], dict[str, list[Named]]] = {}
    for figure in named:
        others = tuple(sorted((k, name) for k, name in figure.names.items() if k not in (kind, STAGE)))
        groups.setdefault((figure.family, figure.key, others), {}).setdefault(figure.names[kind], []).append(figure)
    for by_name in groups.values():
        middles = [_middle(group) for group in by_name.values()]
        yield from ((middles[0], other) for other in middles[1:])


def _firsts(named: Sequence[Named], kind: str) -> Iterator[tuple[Named, Named]]:
    """Where no two figures have one key: the first figure of each name, of one family."""
    for family in ("rate", "time"):
        first: dict[str, Named] = {}
        for figure in named:
            if figure.family == family:
                first.setdefault(figure.names[kind], figure)
        values = list(first.values())
        yield from ((values[0], other) for other in values[1:])


def _middle(figures: Sequence[Named]) -> Named:
    middle = median(f.value for f in figures)
    return min(figures, key=lambda f: abs(f.value - middle))


def _pair(one: Named, other: Named) -> _Pair:
    return _Pair(one, other, max(one.value, other.value) / min(one.value, other.value))


def _gained(figures: Sequence[Named]) -> bool:
    """Whether the later release (by its numbers) is the faster one in every pair: an upgrade that helped."""
    outcomes = []
    for one, other in _alike([f for f in figures if VERSION in f.names], VERSION):
        first, second = _release(one.names[VERSION]), _release(other.names[VERSION])
        if first is None or second is None or first == second:
            return False
        newer, older = (one, other) if first > second else (other, one)
        better = newer.value > older.value if newer.family == "rate" else newer.value < older.value
        outcomes.append(better and _pair(one, other).factor > 1 + SAME)
    return bool(outcomes) and all(outcomes)


def _release(name: str) -> tuple[int, ...] | None:
    """Numbers that put two releases in order; None for a commit."""
    if re.fullmatch(r"b\d{4,5}|\d{3,5}", name):
        return (int(name.lstrip("b")),)
    if re.match(r"\d+\.\d+", name):
        return tuple(int(n) for n in re.findall(r"\d+", name)[:4])
    return (int(name[1]),) if re.fullmatch(r"v[01]", name) else None
