"""File systems that are nearly full: logs, compile caches and downloads fail first."""

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Unknown
from bot.core.facts import HostFacts, disk
from bot.core.health._probe import Probe

LEAST_MIB = 2048
FULL_MIB = 256


def judge(facts: HostFacts) -> tuple[Finding, ...]:
    """Warn below 2 GiB, refuse below 256 MiB."""
    reading = facts.reading(disk.FACT)
    if isinstance(reading, Unknown):
        summary = f"free disk space is not known: {reading.reason}"
        return (Finding(check="disk_space", judgement=Judgement.UNKNOWN, summary=summary),)
    low = {space.mount: space for space in reading.value if space.available_mib < LEAST_MIB < space.size_mib}
    return tuple(
        Finding(
            check="disk_space",
            judgement=Judgement.REFUSE if space.available_mib < FULL_MIB else Judgement.WARN,
            summary=f"{mount} has {space.available_mib} MiB left of {space.size_mib // 1024} GiB",
            remedy="free some space: a full disk breaks logs and starts",
        )
        for mount, space in low.items()
    ) or (Finding(check="disk_space", judgement=Judgement.OK, summary="enough free disk space"),)


PROBE = Probe(needs=("disk",), judge=judge)
