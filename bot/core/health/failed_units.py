"""Units of engines, ours or found, that failed or restart for ever."""

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Unknown
from bot.core.facts import HostFacts, units
from bot.core.health._probe import Probe

MANY_RESTARTS = 3


def judge(facts: HostFacts) -> tuple[Finding, ...]:
    """A host without systemd has none."""
    reading = facts.reading(units.FACT)
    if isinstance(reading, Unknown):
        return ()
    return tuple(
        Finding(
            check="failed_units",
            judgement=Judgement.WARN,
            summary=f"{unit.name} restarted {unit.restarts} times"
            if unit.state != "failed"
            else f"{unit.name} failed ({unit.result})",
            remedy="see its log",
        )
        for unit in reading.value
        # a wanted stop of our own units may end in exit status 137 or 143: only others' failures are news
        if (unit.state == "failed" and not unit.name.startswith("relaunch-")) or unit.restarts >= MANY_RESTARTS
    )


PROBE = Probe(needs=("units",), judge=judge)
