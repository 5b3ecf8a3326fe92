"""Try the rules on what was kept of a log."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate

from bot.core.diagnosis.checks import CHECKS
from bot.core.diagnosis.lines import LogLine
from bot.core.diagnosis.phases import (
    ALARM,
    ARGUMENT_LINES,
    BENIGN,
    FELL_BACK,
    INFORMS,
    NOISE,
    UP,
    WARNING_LEVEL,
    is_later,
    phase_at,
    phases_between,
)
from bot.core.diagnosis.rule import Rule
from bot.core.diagnosis.tracebacks import Traceback, find_tracebacks
from bot.core.domain.launch import Phase

#: lines before and after a match that count as near it
NEAR_BEFORE = 40
NEAR_AFTER = 14
#: matches of one rule that are looked at
MOST_MATCHES = 60
#: lines of one template that are searched within one phase, and lines at the end that always are
MOST_REPEATS = 12
KEPT_TAIL = 12
#: a start-up error before the server came up (in the same log) was not what ended it
STALE_PENALTY = 55
WARNING_PENALTY = 8
#: a warning or note which says that another way was taken
FELL_BACK_PENALTY = 45
#: the same launch got at least two phases further after this line
WENT_ON_PENALTY = 20

_NO_DIGITS = str.maketrans("", "", "0123456789")


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A rule that applies: where, with which numbers, and how much it counts."""

    rule: Rule
    index: int
    groups: Mapping[str, str]
    weight: int
    #: it came before the server was up, or is only a warning: never stated as sure
    hedged: bool = False


@dataclass(slots=True)
class Context:
    """A log made ready for rules: `lower` is its text in lower case with noise blanked, one entry per kept line."""

    lines: Sequence[LogLine]
    engine: str | None
    command: str
    #: kernel log and facts in lower case: searched by `also` and `never`
    around: str
    #: the same lines as `lines`, lower case, noise and argument lists blanked
    lower_lines: list[str] = field(default_factory=list)
    lower: str = ""
    starts: list[int] = field(default_factory=list)
    phases: list[Phase | None] = field(default_factory=list)
    #: the furthest phase that the same launch reaches from each line on
    onward: list[Phase | None] = field(default_factory=list)
    tracebacks: tuple[Traceback, ...] = ()
    argument_lines: tuple[str, ...] = ()
    benign: tuple[int, ...] = ()
    #: index of the last line that shows the server up and serving; -1: never
    ready_at: int = -1
    furthest: Phase | None = None
    #: whether the log itself shows the start going through to the end
    started: bool = False

    def index_at(self, offset: int) -> int:
        """Index of the line that holds an offset of `lower`."""
        return bisect_right(self.starts, offset) - 1

    def tail_index(self, count: int) -> int:
        """Index of the first of the last `count` lines that say something: neither blank nor noise."""
        said = [i for i, text in enumerate(self.lower_lines) if text.strip()]
        return said[-min(count, len(said))] if said else 0

    def near(self, index: int) -> str:
        """Lower-case text of the traceback around a line and of its neighbours."""
        first, last = max(0, index - NEAR_BEFORE), min(len(self.lower_lines), index + NEAR_AFTER)
        owner = next((t for t in self.tracebacks if t.first <= index <= t.last), None)
        if owner is not None:
            frames = "\n".join(owner.frames).lower()
            return frames + "\n" + "\n".join(self.lower_lines[owner.first : min(last, owner.last + NEAR_AFTER)])
        for number in range(index - 1, first, -1):
            if "server_args=" in self.lines[number].text:
                first = number
                break
        return "\n".join(self.lower_lines[first:last])


def make_context(
    lines: Sequence[LogLine], *, engine: str | None, argv: Sequence[object], around: Iterable[str]
) -> Context:
    """Prepare a log for the rules."""
    context = Context(
        lines=lines,
        engine=engine,
        command=" ".join(str(word) for word in argv).lower(),
        around="\n".join(around).lower(),
    )
    _follow_phases(context)
    context.onward = _onward(context.phases)
    context.lower_lines = _searchable(context)
    context.lower = "\n".join(context.lower_lines)
    context.starts = [0, *accumulate(len(text) + 1 for text in context.lower_lines[:-1])]
    context.tracebacks = find_tracebacks(lines)
    return context


def _follow_phases(context: Context) -> None:
    """Set the lower-case lines, the phase of each, and how far the launch got."""
    phase: Phase | None = None
    for index, line in enumerate(context.lines):
        text = line.text.encode().lower().decode()
        opened = phase_at(text)
        if opened is not None and (phase is None or opened is Phase.SPAWNED or is_later(opened, phase)):
            phase = opened
        if opened in (Phase.READY, Phase.LISTENING):
            context.ready_at = index
            context.started = context.started or bool(UP.search(text))
        if phase is not None and (context.furthest is None or is_later(phase, context.furthest)):
            context.furthest = phase
        context.lower_lines.append(text)
        context.phases.append(phase)


def _searchable(context: Context) -> list[str]:
    """The lines that rules look at: noise, lists of arguments, and what repeats itself within a phase are blanked."""
    benign, arguments, kept = [], [], []
    repeats: Counter[str] = Counter()
    tail = len(context.lines) - KEPT_TAIL
    for index, text in enumerate(context.lower_lines):
        if index and context.phases[index] is not context.phases[index - 1]:
            repeats.clear()
        template = text.translate(_NO_DIGITS)
        repeats[template] += 1
        if BENIGN.search(text):
            benign.append(index)
        if ARGUMENT_LINES.search(text):
            arguments.append(context.lines[index].text)
            kept.append("")
        elif (repeats[template] > MOST_REPEATS and index < tail) or NOISE.search(text):
            kept.append("")
        else:
            kept.append(text)
    context.benign, context.argument_lines = tuple(benign), tuple(arguments)
    return kept


def _onward(phases: Sequence[Phase | None]) -> list[Phase | None]:
    onward: list[Phase | None] = []
    furthest: Phase | None = None
    for index in range(len(phases) - 1, -1, -1):
        phase = phases[index]
        following = phases[index + 1] if index + 1 < len(phases) else None
        if phase is not None and following is not None and is_later(phase, following):
            furthest = None
        if phase is not None and (furthest is None or is_later(phase, furthest)):
            furthest = phase
        onward.append(furthest)
    return onward[::-1]


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> re.Pattern[str]:
    """A rule's pattern, compiled once."""
    return re.compile(pattern, re.MULTILINE)


def matches(context: Context, rules: Iterable[Rule]) -> list[Match]:
    """Every rule that applies, once each, at its best place; heaviest first, earliest first among equals."""
    found = [match for rule in rules if (match := _best(context, rule)) is not None]
    return sorted(found, key=lambda m: (-m.weight, m.index))


def _best(context: Context, rule: Rule) -> Match | None:
    if rule.engines and context.engine is not None and context.engine not in rule.engines:
        return None
    if rule.argv and not compiled(rule.argv).search(context.command):
        return None
    if rule.not_argv and compiled(rule.not_argv).search(context.command):
        return None
    best: Match | None = None
    for match in _applying(context, rule):
        if best is None or match.weight > best.weight:
            best = match
        if not match.hedged and match.weight >= rule.weight:
            break
    return best


def _applying(context: Context, rule: Rule) -> Iterator[Match]:
    vetted = False
    for count, match in enumerate(compiled(rule.pattern).finditer(context.lower)):
        if count >= MOST_MATCHES:
            return
        index = context.index_at(match.start())
        if not _place_fits(context, rule, index, match):
            continue
        if not vetted:
            if not _surroundings_fit(context, rule):
                return
            vetted = True
        yield _weighed(context, rule, index, _groups(context, match))


def _place_fits(context: Context, rule: Rule, index: int, match: re.Match[str]) -> bool:
    if "\n" in match.group():
        return False
    if rule.tail and index < context.tail_index(rule.tail):
        return False
    phase = context.phases[index]
    if rule.phases and (phase or Phase.SPAWNED).value not in rule.phases:
        return False
    if rule.check and not CHECKS[rule.check]({k: v for k, v in match.groupdict().items() if v is not None}):
        return False
    if rule.not_line and compiled(rule.not_line).search(context.lower_lines[index]):
        return False
    if rule.near or rule.not_near:
        near = context.near(index)
        if rule.near and not compiled(rule.near).search(near):
            return False
        if rule.not_near and compiled(rule.not_near).search(near):
            return False
    return True


def _surroundings_fit(context: Context, rule: Rule) -> bool:
    if rule.also:
        also = compiled(rule.also)
        if not also.search(context.lower) and not also.search(context.around):
            return False
    if rule.never:
        never = compiled(rule.never)
        if never.search(context.lower) or never.search(context.around):
            return False
    return True


def _groups(context: Context, match: re.Match[str]) -> dict[str, str]:
    """Named groups with the case that the log has."""
    start = context.index_at(match.start())
    base, original = context.starts[start], context.lines[start].text
    groups = {}
    for name, value in match.groupdict().items():
        if value is not None:
            first, last = match.span(name)
            groups[name] = original[first - base : last - base] if len(original) >= last - base else value
    return groups


def _weighed(context: Context, rule: Rule, index: int, groups: dict[str, str]) -> Match:
    weight, hedged = rule.weight, False
    if not rule.survives and not rule.kind.startswith("slow") and rule.kind not in ("benign_warning", "health_lies"):
        if index < context.ready_at and not _still_counts(context, rule, index):
            weight, hedged = weight - STALE_PENALTY, True
        elif _goes_on(context.lower_lines[index]):
            weight, hedged = weight - FELL_BACK_PENALTY, True
        elif WARNING_LEVEL.search(context.lower_lines[index]):
            weight, hedged = weight - WARNING_PENALTY, True
        elif _went_on(context, index):
            weight, hedged = weight - WENT_ON_PENALTY, True
        elif not ALARM.search(context.lower_lines[index]):
            hedged = True
    return Match(rule=rule, index=index, groups=groups, weight=weight, hedged=hedged)


def _goes_on(text: str) -> bool:
    """Whether a line says itself that the server goes on another way."""
    return bool(FELL_BACK.search(text)) and bool(WARNING_LEVEL.search(text) or INFORMS.search(text))


def _went_on(context: Context, index: int) -> bool:
    here, onward = context.phases[index], context.onward[index]
    return here is not None and onward is not None and phases_between(here, onward) >= 2


def _still_counts(context: Context, rule: Rule, index: int) -> bool:
    """Whether an error before the last sign of life may still be the cause: the server was up already when it came."""
    return context.phases[index] in (Phase.READY, Phase.LISTENING) and rule.weight >= 80
