"""A saved log, its launch and what the host said, to a Diagnosis."""

import string
from collections.abc import Iterable, Mapping, Sequence

from bot.core.diagnosis.compared import compared_matches
from bot.core.diagnosis.kinds import KINDS
from bot.core.diagnosis.launch_settings import settings_of, split_command
from bot.core.diagnosis.lines import Chunks, LogLine, read_log
from bot.core.diagnosis.matching import Context, Match, make_context, matches
from bot.core.diagnosis.overrides import overrides_for
from bot.core.diagnosis.phases import CONSEQUENCE, LOUD, WANTED_STOP
from bot.core.diagnosis.rules import RULES
from bot.core.diagnosis.steady import steady_matches
from bot.core.diagnosis.tracebacks import root_tracebacks
from bot.core.domain.diagnosis import Diagnosis, EvidenceLine
from bot.core.domain.launch import Phase

#: from this weight on a rule that is sure is stated with high confidence
SURE_WEIGHT = 74
#: another kind this close below makes the answer a guess
RIVAL_MARGIN = 4
EVIDENCE_LINES = 6
EVIDENCE_CHARACTERS = 400
#: below this weight a match is not offered at all
LEAST_WEIGHT = 24


def diagnose(
    lines: Chunks,
    *,
    engine: str | None = None,
    argv: Sequence[object] = (),
    exit_status: int | None = None,
    signal: int | None = None,
    kernel_log: Iterable[str] = (),
    facts: Mapping[str, object] | None = None,
    slow: bool | None = None,
) -> Diagnosis:
    """Why a launch failed or is slow. Evidence lines count from 1; number 0 is a line of the kernel log.

    `lines` is a text or chunks of one. `slow` True: the server runs and is slow; False: it failed; None: not said.
    """
    log = read_log(lines)
    kernel = tuple(LogLine(0, text) for text in kernel_log)
    known = None if engine in (None, "host") else engine
    around = [f"fact {name}: {value}" for name, value in (facts or {}).items()]
    context = make_context((*log.lines, *kernel), engine=known, argv=argv, around=around)
    tried = [*matches(context, RULES), *steady_matches(context), *compared_matches(context)]
    found = sorted((m for m in tried if m.weight >= LEAST_WEIGHT), key=lambda m: (-m.weight, m.index))
    if slow is not None:
        found = _for_question(found, slow)
    if slow is not True and _ended_well(context, found, exit_status, signal):
        return _healthy(context)
    if not found:
        return _unknown(context, exit_status, signal)
    return _stated(context, found, argv)


def diagnose_row(row: Mapping[str, object]) -> Diagnosis:
    """Diagnose one row with `launch_command`, `log_excerpt`, `engine`; any other field of the row is left unread."""
    log, command, engine = row.get("log_excerpt"), row.get("launch_command"), row.get("engine")
    text = "\n".join(str(part) for part in log) if isinstance(log, list) else str(log or "")
    return diagnose(text, engine=str(engine) if engine else None, argv=split_command(str(command) if command else None))


def answer(diagnosis: Diagnosis) -> dict[str, object]:
    """A Diagnosis as JSON; `evidence` holds line numbers, `lines` their texts."""
    return {
        "kind": diagnosis.kind,
        "cause": diagnosis.cause,
        "fix": diagnosis.fix,
        "evidence": [line.number for line in diagnosis.evidence],
        "lines": [line.text for line in diagnosis.evidence],
        "overrides": dict(diagnosis.overrides),
        "confidence": diagnosis.confidence,
        "alternatives": list(diagnosis.alternatives),
    }


def _for_question(found: list[Match], slow: bool) -> list[Match]:
    """Put what was asked for first: causes of slowness, or of failure."""
    asked = [m for m in found if m.rule.kind.startswith("slow") == slow]
    return asked or found


def _ended_well(context: Context, found: Sequence[Match], exit_status: int | None, signal: int | None) -> bool:
    """Whether the log shows a server that came up, and nothing after that which ends one."""
    if context.furthest is None or context.furthest not in (Phase.LISTENING, Phase.READY):
        return False
    if found and not (found[0].weight < 40 or (context.started and _weakly_slow(found[0]))):
        return False
    stopped = any(WANTED_STOP.search(text) for text in context.lower_lines[max(0, context.ready_at) :])
    return stopped or exit_status in (None, 0) or signal == 15


def _weakly_slow(match: Match) -> bool:
    return match.rule.kind.startswith("slow") and match.weight < 56


def _healthy(context: Context) -> Diagnosis:
    evidence = (context.lines[context.ready_at],) if context.ready_at >= 0 else ()
    alarmed = [context.lines[i] for i in context.benign if LOUD.search(context.lower_lines[i])]
    if alarmed:
        return Diagnosis(
            kind="benign_warning",
            cause=KINDS["benign_warning"].cause,
            fix=KINDS["benign_warning"].fix,
            evidence=_evidence([*alarmed[:EVIDENCE_LINES], *evidence]),
            confidence="low",
        )
    return Diagnosis(
        kind="unknown",
        cause="The log shows a server that came up and took requests; it shows no failure.",
        fix="If something is wrong all the same, say what: too slow, wrong answers, or no answers.",
        evidence=_evidence(evidence),
        confidence="low",
    )


def _unknown(context: Context, exit_status: int | None, signal: int | None) -> Diagnosis:
    if context.benign and not _alarming(context):
        return Diagnosis(
            kind="benign_warning",
            cause=KINDS["benign_warning"].cause,
            fix=KINDS["benign_warning"].fix,
            evidence=_evidence([context.lines[i] for i in context.benign[:EVIDENCE_LINES]]),
            confidence="low",
        )
    cause = KINDS["unknown"].cause
    if signal == 9 or exit_status in (137, -9):
        cause = "The process was ended with SIGKILL; the log does not say by whom, and no OOM record is known."
    return Diagnosis(
        kind="unknown",
        cause=cause,
        fix=KINDS["unknown"].fix,
        evidence=_evidence(_telling(context)),
        confidence="low",
    )


def _alarming(context: Context) -> list[int]:
    """Indexes of lines that speak of an error, without noise and known harmless lines."""
    harmless = set(context.benign)
    words = ("error", "exception", "fail", "fatal", "abort", "killed", "cannot", "unable")
    return [
        i for i, text in enumerate(context.lower_lines) if i not in harmless and any(word in text for word in words)
    ]


def _telling(context: Context) -> list[LogLine]:
    """The most telling lines of a log that no rule knows: root exceptions, then errors, then its end."""
    roots = [context.lines[t.last] for t in root_tracebacks(context.tracebacks)]
    if len(roots) < EVIDENCE_LINES:
        others = [i for i in _alarming(context) if not CONSEQUENCE.search(context.lower_lines[i])]
        roots.extend(context.lines[i] for i in others[: EVIDENCE_LINES - len(roots)])
    if not roots:
        roots = [line for line in context.lines if line.text.strip()][-3:]
    return sorted(dict.fromkeys(roots), key=lambda line: line.number)[:EVIDENCE_LINES]


def _stated(context: Context, found: Sequence[Match], argv: Sequence[object]) -> Diagnosis:
    best = found[0]
    kind = KINDS[best.rule.kind]
    settings = settings_of(argv, context.argument_lines)
    rivals = [m for m in found[1:] if m.rule.kind != best.rule.kind]
    sure = best.rule.sure and best.weight >= SURE_WEIGHT and not best.hedged
    sure = sure and not any(m.weight >= best.weight - RIVAL_MARGIN and m.rule.sure for m in rivals)
    others = dict.fromkeys((*(m.rule.kind for m in rivals if m.weight >= best.weight - 20), *best.rule.alternatives))
    return Diagnosis(
        kind=best.rule.kind,
        cause=_worded(best.rule.cause, best.groups) or kind.cause,
        fix=_worded(best.rule.fix, best.groups) or kind.fix,
        evidence=_evidence(_supporting(context, found)),
        overrides=overrides_for(best.rule.overrides, best.groups, settings, context.engine),
        confidence="high" if sure else "low",
        alternatives=tuple(name for name in others if name != best.rule.kind)[:4],
    )


def _supporting(context: Context, found: Sequence[Match]) -> list[LogLine]:
    """The line that decides, then others that speak for the same kind."""
    best = found[0]
    same = [m.index for m in found if m.rule.kind == best.rule.kind and m.index != best.index]
    indexes = dict.fromkeys((best.index, *_raised_in(context, best.index), *same))
    return [context.lines[i] for i in list(indexes)[:EVIDENCE_LINES]]


def _raised_in(context: Context, index: int) -> list[int]:
    """Indexes of the frame and the source line that raised the exception at `index`, where a traceback ends there."""
    if not any(traceback.last == index for traceback in context.tracebacks):
        return []
    for first in range(index - 1, max(-1, index - 4), -1):
        if 'file "' in context.lower_lines[first]:
            return [i for i in range(first, index) if context.lower_lines[i].strip(" ^~")]
    return []


def _worded(template: str, groups: Mapping[str, str]) -> str:
    """The sentence with its numbers, or "" when one of them is not in the log."""
    names = {name for _, name, _, _ in string.Formatter().parse(template) if name}
    return template.format(**groups) if names <= set(groups) else ""


def _evidence(lines: Iterable[LogLine]) -> tuple[EvidenceLine, ...]:
    return tuple(EvidenceLine(number=line.number, text=line.text.strip()[:EVIDENCE_CHARACTERS]) for line in lines)
