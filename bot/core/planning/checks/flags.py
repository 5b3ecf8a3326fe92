"""Every flag against the installed engine's own --help, else against what its version is known to have."""

from bot.core.domain.engine import TypedFlag
from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Known
from bot.core.facts import engine_help
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
    if installed is None and version is None:
        return unknown("flags", "which flags the installed engine has", getattr(reading, "reason", "not looked at"))
    source = "its own --help" if installed else f"what {version} is known to have"
    return (finding("flags", Judgement.OK, f"all {len(typed)} flags are right by {source}"),)


def _judge_flag(
    situation: Situation, typed: TypedFlag, installed: EngineHelp | None, version: str | None
) -> Finding | None:
    engine = situation.engine
    nearest = engine.nearest(typed.spelling, version)
    remedy = f"use {' or '.join(nearest)}" if nearest else "take it out"
    if installed is not None:
        if not _has(installed, typed.spelling):
            return finding(
                "flags",
                Judgement.REFUSE,
                f"the installed engine has no flag {typed.spelling}",
                _history(situation, typed),
                remedy=remedy,
            )
        return _judge_choice(typed, installed.choices.get(typed.spelling, ()), Judgement.REFUSE)
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
    if not choices or not isinstance(typed.value, str) or typed.value in choices:
        return None
    return finding(
        "flags",
        judgement,
        f"{typed.spelling} does not take {typed.value}",
        f"choices: {', '.join(choices[:30])}",
        remedy="use one of the choices",
    )


def _has(installed: EngineHelp, spelling: str) -> bool:
    """As written, with dashes for underscores, the head of a dotted option, or a prefix of exactly one flag."""
    head = spelling.split(".", 1)[0]
    for form in (spelling, head, head.replace("_", "-")):
        if form in installed.flags:
            return True
    dashed = head.replace("_", "-")
    return dashed.startswith("--") and sum(flag.startswith(dashed) for flag in installed.flags) == 1


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
