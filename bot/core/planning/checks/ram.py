"""Main memory: weights pass through it on their way to the GPU, and each rank holds a few GiB."""

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Unknown
from bot.core.facts import memory
from bot.core.planning.situation import Check, Situation, finding, unknown

#: resident memory of one rank and of the front end (2.3 and 1 GB measured with SGLang 0.5.11 and a 7 GB model)
_PER_RANK_MIB, _FRONT_MIB = 3 * 1024, 2 * 1024


def judge(situation: Situation) -> tuple[Finding, ...]:
    reading = situation.facts.reading(memory.FACT)
    if isinstance(reading, Unknown):
        return unknown("ram", "free main memory", reading.reason)
    free = reading.value.available_mib
    if reading.value.limit_mib is not None:
        free = min(free, reading.value.limit_mib)
    ranks = situation.engine.gpus_needed(situation.line) or 1
    needed = _FRONT_MIB + ranks * _PER_RANK_MIB
    evidence = f"about {needed} MiB for {ranks} ranks and the front end"
    if free < needed:
        return (
            finding(
                "ram",
                Judgement.WARN,
                f"{free} MiB of main memory are available: the kernel may kill the server while it loads",
                evidence,
                remedy="stop what else runs there, or add swap",
            ),
        )
    return (finding("ram", Judgement.OK, f"{free} MiB of main memory are available", evidence),)


CHECK: Check = Check(judge=judge, needs=("memory",))
