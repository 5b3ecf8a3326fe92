"""Every flag against the installed engine's own --help, else against what its version is known to have."""

from difflib import get_close_matches

from bot.core.domain.engine import TypedFlag
from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Known, Unknown
from bot.core.facts import NOT_ASKED, engine_help
from bot.core.facts.engine_help import EngineHelp
from bot.core.planning.situation import Check, Situation, finding, unknown


def judge(situation: Situation) -> tuple[Finding, ...]:
    reading = situation.facts.reading(engine_help.FACT)
    installed = reading.value if isinstance(reading, Known) else None
    version = situation.engine_version()
    typed = situation.engine.typed(situation.revision.argv)
    faults = [found for one in typed if (found := _judge_flag(situation, one, installed, version)) is not None]
    if situation.line.stray:
        faults.append(
            finding(
                "flags",
                Judgement.WARN,
                "some words belong to no flag",
                *situation.line.stray,
                remedy="quote values with spaces, and correct misspelt flags",
            )
        )
    if faults:
        return tuple(faults)
    if installed is not None:
        return (finding("flags", Judgement.OK, f"all {len(typed)} flags are right by its own --help"),)
    reason = reading.reason if isinstance(reading, Unknown) else "not looked at"
    if version is None:
        return unknown("flags", "which flags the installed engine has", reason)
    if reason.startswith((NOT_ASKED, "not looked at")):
        return (finding("flags", Judgement.OK, f"all {len(typed)} flags are right by what {version} is known to have"),)
    known = f"all {len(typed)} flags are right by what {version} is known to have"
    return (
        finding("flags", Judgement.UNKNOWN, "the flags by the installed engine's own --help: not known", reason, known),
    )


def _judge_flag(
    situation: Situation, typed: TypedFlag, installed: EngineHelp | None, version: str | None
) -> Finding | None:
    engine = situation.engine
    nearest = _nearest(situation, typed, installed, version)
    remedy = f"use {' or '.join(nearest)}" if nearest else "take it out"
    if installed is not None:
        spelling = installed.spelling(typed.spelling, prefixes=typed.known)
        if spelling is None and engine.version_has(typed.name, version):
            return finding(
                "flags",
                Judgement.WARN,
                f"{typed.spelling} is not in the installed engine's --help",
                f"{engine.name} {version} is known to have it, perhaps without showing it",
                remedy=remedy,
            )
        if spelling is None:
            return finding(
                "flags",
                Judgement.REFUSE,
                f"the installed engine has no flag {typed.spelling}",
                _history(situation, typed),
                remedy=remedy,
            )
        choices = installed.choices.get(spelling, ()) if "." not in typed.spelling else ()
        return _judge_choice(typed, choices, Judgement.REFUSE) or _deprecated(typed, installed.deprecated.get(spelling))
    if engine.version_has(typed.name, version) is False:
        return finding(
            "flags",
            Judgement.REFUSE,
            f"{engine.name} {version} has no flag {typed.spelling}",
            _history(situation, typed),
            remedy=remedy,
        )
    if not typed.known:
        return finding("flags", Judgement.WARN, f"{typed.spelling} is no known flag of {engine.name}", remedy=remedy)
    flag = engine.flag(typed.name)
    return _judge_choice(typed, flag.choices if flag and "." not in typed.name else (), Judgement.WARN)


def _judge_choice(typed: TypedFlag, choices: tuple[str, ...], judgement: Judgement) -> Finding | None:
    given = [typed.value] if isinstance(typed.value, str) else typed.value if isinstance(typed.value, list) else []
    wrong = [value for value in given if not _is_chosen(value, choices)]
    if not choices or not wrong:
        return None
    near = get_close_matches(wrong[0], choices, n=2, cutoff=0.5)
    return finding(
        "flags",
        judgement,
        f"{typed.spelling} does not take {wrong[0]}",
        f"choices: {', '.join(choices[:30])}",
        remedy=f"use {' or '.join(near)}" if near else "use one of the choices",
    )


def _is_chosen(value: str, choices: tuple[str, ...]) -> bool:
    """One of the choices, or several with commas between them, as some flags take them."""
    return value in choices or ("," in value and all(part in choices for part in value.split(",")))


def _deprecated(typed: TypedFlag, said: str | None) -> Finding | None:
    if said is None:
        return None
    return finding(
        "flags",
        Judgement.WARN,
        f"{typed.spelling} is deprecated in the installed engine",
        said,
        remedy="change it before the next upgrade",
    )


def _nearest(
    situation: Situation, typed: TypedFlag, installed: EngineHelp | None, version: str | None
) -> tuple[str, ...]:
    """Right spellings for a wrong one: what it was renamed to, else what is written alike; only what is there."""
    known = situation.engine.nearest(typed.spelling, version)
    if installed is None:
        return known
    there = tuple(one for one in known if one in installed.flags)
    return there or tuple(get_close_matches(typed.spelling, sorted(installed.flags), n=3, cutoff=0.7))


def _history(situation: Situation, typed: TypedFlag) -> str:
    """What is known of when the engine had the flag."""
    flag = situation.engine.flag(typed.name) if typed.known else None
    if flag is None:
        return f"{typed.spelling} is in no version that is known here"
    if flag.since is None and flag.until is None:
        return "other versions have it"
    since = f"from {flag.since}" if flag.since else ""
    until = f"until {flag.until}" if flag.until else ""
    return f"{situation.engine.name} had it {since} {until}".replace("  ", " ").strip()


CHECK: Check = Check(judge=judge, needs=("engine_help", "engine_version"))
