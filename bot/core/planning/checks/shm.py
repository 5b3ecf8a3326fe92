"""/dev/shm for launches with several ranks: containers get 64 MiB unless told otherwise."""

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Unknown
from bot.core.facts import shm
from bot.core.planning.situation import Check, Situation, finding, unknown

_ENOUGH_MIB = 1024


def judge(situation: Situation) -> tuple[Finding, ...]:
    if (situation.engine.gpus_needed(situation.line) or 1) < 2:
        return ()
    reading = situation.facts.reading(shm.FACT)
    if isinstance(reading, Unknown):
        return unknown("shm", "/dev/shm", reading.reason)
    available, size = reading.value.available_mib, reading.value.size_mib
    if available < _ENOUGH_MIB:
        return (
            finding(
                "shm",
                Judgement.WARN,
                f"/dev/shm has {available} of {size} MiB free: ranks may fail to talk to each other",
                remedy="give the container --shm-size 16g or --ipc host, or clear /dev/shm",
            ),
        )
    return (finding("shm", Judgement.OK, f"/dev/shm has {available} MiB free"),)


CHECK: Check = Check(judge=judge, needs=("shm",))
