"""/dev/shm: ranks of one server talk through it; containers get 64 MiB unless told otherwise."""

import re
from dataclasses import dataclass

from bot.core.domain.reading import Known, Reading, Unknown
from bot.core.facts._fact import Fact, ProbeTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class Shm:
    """In MiB."""

    size_mib: int
    available_mib: int


def snippet(target: ProbeTarget) -> str:
    return "df -P -k /dev/shm"


def parse(output: str) -> Reading[Shm]:
    match = re.search(r"\s(\d+)\s+\d+\s+(\d+)\s+\d+%\s+/", output)
    if match is None:
        return Unknown("df gave no line for /dev/shm")
    return Known(Shm(size_mib=int(match[1]) // 1024, available_mib=int(match[2]) // 1024))


FACT: Fact[Shm] = Fact(name="shm", snippet=snippet, parse=parse)
