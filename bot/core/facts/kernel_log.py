"""The kernel's words on GPUs (Xid) and on killed processes, newest last. Many hosts show them to root only."""

import re
from dataclasses import dataclass

from bot.core.domain.reading import Known, Reading
from bot.core.facts._fact import Fact, ProbeTarget

_XID = re.compile(r"NVRM: Xid \((?:PCI:)?([0-9a-fA-F:.]+)\): (\d+),? *(.*)")
_OOM = re.compile(r"(Memory cgroup out of memory|Out of memory)[:,]? Kill(?:ed)? process (\d+)[ ,]*\(([^)]*)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Xid:
    """A GPU error: 79 is off the bus, 48 and 94 memory errors, 13 and 31 usually a program's fault."""

    at: str
    pci: str
    code: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OomKill:
    """A process that the kernel killed for memory."""

    at: str
    pid: int
    name: str
    #: killed for the limit of its own control group, not for the machine's
    in_cgroup: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelLog:
    """At most the last 40 lines that matter."""

    xids: tuple[Xid, ...] = ()
    oom_kills: tuple[OomKill, ...] = ()


def snippet(target: ProbeTarget) -> str:
    """A journal that hides other users' messages says so on stderr and exits 0."""
    return r"""
why=$(dmesg 2>&1 >/dev/null) && text=$(dmesg -T 2>/dev/null || dmesg) || text=$(sudo -n dmesg -T 2>/dev/null) || {
  hidden=$(journalctl -k -n 1 --no-pager 2>&1 >/dev/null)
  case $hidden in *permission*|*"not seeing messages"*|*"not found"*)
    printf '%s\n' "${why:-dmesg: refused}" >&2; exit 1 ;;
  esac
  text=$(journalctl -k -n 20000 --no-pager -o short-iso 2>/dev/null) && [ -n "$text" ] || {
    printf '%s\n' "${why:-dmesg: refused}" >&2; exit 1; }
}
printf '%s\n' "$text" | grep -E 'NVRM: Xid|[Oo]ut of memory[:,]? Kill' | tail -n 40
exit 0
"""


def parse(output: str) -> Reading[KernelLog]:
    xids, kills = [], []
    for line in output.splitlines():
        if match := _XID.search(line):
            xids.append(Xid(at=_at(line), pci=match[1], code=int(match[2]), text=match[3].strip()[:200]))
        elif match := _OOM.search(line):
            kills.append(
                OomKill(at=_at(line), pid=int(match[2]), name=match[3], in_cgroup=match[1].startswith("Memory"))
            )
    return Known(KernelLog(xids=tuple(xids), oom_kills=tuple(kills)))


def _at(line: str) -> str:
    """Time stamp as the log has it."""
    match = re.match(r"\[([^\]]+)\]|(\S+)", line)
    return ((match[1] or match[2]) if match else "").strip()


FACT: Fact[KernelLog] = Fact(name="kernel_log", snippet=snippet, parse=parse, timeout_s=15)
