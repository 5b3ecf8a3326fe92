"""Open files: each connection and shard takes one; engines raise the soft limit themselves, up to the hard one."""

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Unknown
from bot.core.facts import ulimits
from bot.core.planning.situation import Check, Situation, finding, unknown

_ENOUGH_FILES = 16384


def judge(situation: Situation) -> tuple[Finding, ...]:
    reading = situation.facts.reading(ulimits.FACT)
    if isinstance(reading, Unknown):
        return unknown("ulimits", "limits", reading.reason)
    soft, hard = reading.value.get("open_files", (None, None))
    _, address_space = reading.value.get("address_space_bytes", (None, None))
    if address_space is not None:
        return (
            finding(
                "ulimits",
                Judgement.WARN,
                f"address space is limited to {address_space // 2**30} GiB: CUDA reserves far more",
                remedy="lift the limit (ulimit -v unlimited)",
            ),
        )
    if hard is not None and hard < _ENOUGH_FILES:
        return (
            finding(
                "ulimits",
                Judgement.WARN,
                f"at most {hard} open files: many connections at a time would fail",
                remedy="raise the hard limit (LimitNOFILE in the unit, or limits.conf)",
            ),
        )
    return (finding("ulimits", Judgement.OK, f"open files: {soft or 'unlimited'}, up to {hard or 'unlimited'}"),)


CHECK: Check = Check(judge=judge, needs=("ulimits",))
