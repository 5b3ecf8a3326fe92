"""The engine is in the command's own environment, in the version that was proven."""

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Unknown
from bot.core.facts import engine_version
from bot.core.planning.situation import Check, Situation, finding, unknown


def judge(situation: Situation) -> tuple[Finding, ...]:
    reading = situation.facts.reading(engine_version.FACT)
    name = situation.engine.name
    if isinstance(reading, Unknown):
        return unknown("engine_present", f"installed version of {name}", reading.reason)
    install = reading.value
    program = situation.line.program[0] if situation.line.program else "the program"
    if not install.program:
        return (
            finding(
                "engine_present",
                Judgement.REFUSE,
                f"{program} is not on the host",
                remedy="correct the path in the launch, or install the environment",
            ),
        )
    if install.version is None:
        return (
            finding(
                "engine_present",
                Judgement.REFUSE,
                f"{name} is not installed in {install.program}",
                f"Python {install.python_version}",
                remedy="use the interpreter of the environment that has it",
            ),
        )
    evidence = [f"{install.program}: {name} {install.version}"]
    evidence += [f"{package} {version}" for package, version in install.packages.items()][:12]
    proven = situation.proven
    if proven is not None and proven.engine_version and proven.engine_version != install.version:
        return (
            finding(
                "engine_present",
                Judgement.WARN,
                f"{name}: launch {proven.number} was proven with {proven.engine_version}, now {install.version}",
                *evidence,
                remedy="expect other speed and flags, or install the proven version again",
            ),
        )
    return (finding("engine_present", Judgement.OK, f"{name} {install.version}", *evidence),)


CHECK: Check = Check(judge=judge, needs=("engine_version",))
