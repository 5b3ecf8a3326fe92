"""GPU errors (Xid) and out-of-memory kills in the kernel's log."""

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Unknown
from bot.core.facts import HostFacts, kernel_log
from bot.core.health._probe import Probe

#: NVIDIA's Xid list: 48, 63, 64, 74, 79, 92, 94, 95, 119 point to hardware, bus or firmware; others mostly to a program
HARDWARE_XIDS = frozenset({48, 63, 64, 74, 79, 92, 94, 95, 119, 120})


def judge(facts: HostFacts) -> tuple[Finding, ...]:
    """Hardware errors refuse, other ones and kills warn. A log that may not be read is not worth a line each time."""
    reading = facts.reading(kernel_log.FACT)
    if isinstance(reading, Unknown):
        return ()
    found = []
    for code in sorted({xid.code for xid in reading.value.xids}):
        newest = [xid for xid in reading.value.xids if xid.code == code][-1]
        found.append(
            Finding(
                check="kernel_errors",
                judgement=Judgement.REFUSE if code in HARDWARE_XIDS else Judgement.WARN,
                summary=f"GPU error Xid {code} at {newest.at}",
                evidence=(f"{newest.pci}: {newest.text}",),
                remedy="restart the host, and have the card checked if it comes back"
                if code in HARDWARE_XIDS
                else "look at what ran then; a program's fault as a rule",
            )
        )
    if reading.value.oom_kills:
        kill = reading.value.oom_kills[-1]
        found.append(
            Finding(
                check="kernel_errors",
                judgement=Judgement.WARN,
                summary=f"the kernel killed {kill.name} (pid {kill.pid}) for memory at {kill.at}",
                remedy="the host was short of RAM, not of GPU memory",
            )
        )
    return tuple(found)


PROBE = Probe(needs=("kernel_log",), judge=judge)
