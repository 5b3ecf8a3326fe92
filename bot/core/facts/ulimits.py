"""Limits of processes started from this login. A unit's own limits may differ."""

import re
from collections.abc import Mapping

from bot.core.domain.reading import Known, Reading, Unknown
from bot.core.facts._fact import Fact, ProbeTarget

_NAMES = {
    "Max open files": "open_files",
    "Max locked memory": "locked_memory_bytes",
    "Max processes": "processes",
    "Max address space": "address_space_bytes",
}


def snippet(target: ProbeTarget) -> str:
    return "cat /proc/self/limits"


def parse(output: str) -> Reading[Mapping[str, tuple[int | None, int | None]]]:
    """Name -> (soft, hard); None is unlimited."""
    found = {}
    for line in output.splitlines():
        match = re.match(r"(Max [a-z ]+?) {2,}(\w+) +(\w+)", line)
        if match and match[1] in _NAMES:
            found[_NAMES[match[1]]] = (_limit(match[2]), _limit(match[3]))
    return Known(found) if found else Unknown("/proc/self/limits has another form")


def _limit(text: str) -> int | None:
    return int(text) if text.isdigit() else None


FACT: Fact[Mapping[str, tuple[int | None, int | None]]] = Fact(name="ulimits", snippet=snippet, parse=parse)
