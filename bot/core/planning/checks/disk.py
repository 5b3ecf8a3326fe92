"""Room on disk for logs, kernel caches and, where the model is not there yet, its download."""

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Unknown
from bot.core.facts import disk
from bot.core.planning.situation import Check, Situation, finding, unknown

_LITTLE_MIB, _NONE_MIB = 5 * 1024, 200


def judge(situation: Situation) -> tuple[Finding, ...]:
    reading = situation.facts.reading(disk.FACT)
    if isinstance(reading, Unknown):
        return unknown("disk", "free disk space", reading.reason)
    by_mount = {space.mount: space for space in reading.value if space.size_mib > 0}
    written = {space.mount for space in reading.value if space.path != situation.line.model}
    low = [space for mount, space in by_mount.items() if mount in written and space.available_mib < _LITTLE_MIB]
    evidence = tuple(
        f"{space.mount}: {space.available_mib} of {space.size_mib} MiB free" for space in by_mount.values()
    )
    if not low:
        return (finding("disk", Judgement.OK, "enough room on disk", *evidence),)
    full = [space.mount for space in low if space.available_mib < _NONE_MIB]
    return (
        finding(
            "disk",
            Judgement.REFUSE if full else Judgement.WARN,
            f"{', '.join(full)} is full: not even the log could be written"
            if full
            else f"little room on {', '.join(space.mount for space in low)}",
            *evidence,
            remedy="delete or move files there",
        ),
    )


CHECK: Check = Check(judge=judge, needs=("disk",))
