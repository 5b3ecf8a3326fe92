"""Compilers: kernels that no wheel brings are built at the first start."""

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Unknown
from bot.core.facts import compilers
from bot.core.planning.situation import Check, Situation, finding, unknown

_NEEDED = ("gcc", "g++", "nvcc")


def judge(situation: Situation) -> tuple[Finding, ...]:
    if situation.engine.distribution is None:
        return ()
    reading = situation.facts.reading(compilers.FACT)
    if isinstance(reading, Unknown):
        return unknown("compilers", "compilers", reading.reason)
    missing = [tool for tool in _NEEDED if reading.value.get(tool) is None]
    evidence = tuple(f"{tool}: {version}" for tool, version in reading.value.items() if version)
    if missing:
        return (
            finding(
                "compilers",
                Judgement.WARN,
                f"{' and '.join(missing)} not found: a start that has to build kernels would fail",
                *evidence,
                remedy="install build-essential and the CUDA toolkit, unless the launch was proven without",
            ),
        )
    return (finding("compilers", Judgement.OK, "gcc, g++ and nvcc are there", *evidence),)


CHECK: Check = Check(judge=judge, needs=("compilers",))
