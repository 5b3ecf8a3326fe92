"""How long the host is up, how busy it is, and its clock."""

from dataclasses import dataclass

from bot.core.domain.reading import Known, Reading, Unknown
from bot.core.facts._fact import Fact, ProbeTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class Uptime:
    """Seconds up, load over one minute, logical processors, seconds since 1970 by the host's clock."""

    up_s: int
    load: float
    processors: int
    clock_s: int


def snippet(target: ProbeTarget) -> str:
    return """
printf 'up %s\\n' "$(cut -d' ' -f1 /proc/uptime)"; printf 'load %s\\n' "$(cut -d' ' -f1 /proc/loadavg)"
printf 'processors %s\\n' "$(grep -c '^processor' /proc/cpuinfo)"; printf 'clock %s\\n' "$(date +%s)"
"""


def parse(output: str) -> Reading[Uptime]:
    values = dict(line.split(" ", 1) for line in output.splitlines() if " " in line)
    try:
        return Known(
            Uptime(
                up_s=int(float(values["up"])),
                load=float(values["load"]),
                processors=int(values["processors"]),
                clock_s=int(values["clock"]),
            )
        )
    except (KeyError, ValueError):
        return Unknown("/proc/uptime or /proc/loadavg cannot be read")


FACT: Fact[Uptime] = Fact(name="uptime", snippet=snippet, parse=parse)
