"""Main memory from /proc/meminfo, and the limit of our own control group (a container's)."""

import re
from dataclasses import dataclass

from bot.core.domain.reading import Known, Reading, Unknown
from bot.core.facts._fact import Fact, ProbeTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """In MiB."""

    total_mib: int
    available_mib: int
    swap_free_mib: int
    #: limit of the control group; None: none
    limit_mib: int | None = None


def snippet(target: ProbeTarget) -> str:
    return """
grep -E '^(MemTotal|MemAvailable|SwapFree):' /proc/meminfo || exit 1
for file in /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes; do
  [ -r "$file" ] && printf 'limit %s\\n' "$(cat "$file")" && break
done
exit 0
"""


def parse(output: str) -> Reading[Memory]:
    kib = {match[1]: int(match[2]) for match in re.finditer(r"^(\w+):\s+(\d+) kB", output, re.M)}
    if "MemTotal" not in kib or "MemAvailable" not in kib:
        return Unknown("/proc/meminfo lacks MemTotal or MemAvailable")
    limit = re.search(r"^limit (\d+)$", output, re.M)
    limit_mib = int(limit[1]) // 2**20 if limit else None
    if limit_mib is not None and limit_mib >= kib["MemTotal"] // 1024:
        limit_mib = None
    return Known(
        Memory(
            total_mib=kib["MemTotal"] // 1024,
            available_mib=kib["MemAvailable"] // 1024,
            swap_free_mib=kib.get("SwapFree", 0) // 1024,
            limit_mib=limit_mib,
        )
    )


FACT: Fact[Memory] = Fact(name="memory", snippet=snippet, parse=parse)
