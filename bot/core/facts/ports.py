"""Listening TCP ports and who owns them: ss, else /proc/net/tcp. Processes of other accounts show to root only: sudo is
asked where it needs no password. The accounts of sockets show to all."""

import re
from dataclasses import dataclass, replace

from bot.core.domain.reading import Known, Reading, Unknown
from bot.core.facts._fact import Fact, ProbeTarget
from bot.core.facts._processes import DESCRIBE_SH, Process, parse_processes

_SS = re.compile(r"^LISTEN\s+\d+\s+\d+\s+(\S+):(\d+)\s+\S+(.*)$")
_PID = re.compile(r"pid=(\d+)")
#: not shown for root's sockets
_UID = re.compile(r"\buid:(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """One listening port; `process` is None where its owner may not be seen."""

    address: str
    port: int
    process: Process | None = None
    #: account of the socket, where ss shows it
    owner: str | None = None


def snippet(target: ProbeTarget) -> str:
    return (
        DESCRIBE_SH
        + r"""
if command -v ss >/dev/null 2>&1 && rows=$(ss -H -l -t -n -p -e 2>/dev/null); then
  if printf '%s\n' "$rows" | grep -qv 'users:(('; then
    all=$(sudo -n ss -H -l -t -n -p -e 2>/dev/null) && [ -n "$all" ] && rows=$all
  fi
  printf '%s\n' "$rows"
  for uid in $(printf '%s\n' "$rows" | grep -o 'uid:[0-9]*' | cut -d: -f2 | sort -un); do
    printf 'account %s %s\n' "$uid" "$(id -nu "$uid" 2>/dev/null)"
  done
  printf '%s\n' ---
  pids=$(printf '%s\n' "$rows" | grep -o 'pid=[0-9]*' | cut -d= -f2 | sort -un)
else
  tables=; for table in /proc/net/tcp /proc/net/tcp6; do [ -r $table ] && tables="$tables $table"; done
  [ -n "$tables" ] || { printf '%s\n' 'neither ss nor /proc/net/tcp can be read' >&2; exit 1; }
  rows=$(awk '$4 == "0A" { print "proc", $2, $10 }' $tables)
  sockets=$(ls -l /proc/[0-9]*/fd 2>/dev/null | awk '
    /^\/proc\// { split($0, part, "/"); pid = part[3] }
    /socket:\[/ { match($0, /socket:\[[0-9]+/); print substr($0, RSTART + 8, RLENGTH - 8), pid }')
  printf '%s\n' "$rows" | while read -r kind address inode; do
    [ -n "$inode" ] || continue
    pid=$(printf '%s\n' "$sockets" | sed -n "s/^$inode //p" | head -n 1)
    printf '%s %s %s\n' "$kind" "$address" "$pid"
  done
  printf '%s\n' ---
  pids=$(printf '%s\n' "$rows" | while read -r kind address inode; do
    [ -n "$inode" ] && printf '%s\n' "$sockets" | sed -n "s/^$inode //p" | head -n 1; done | sort -un)
fi
for pid in $pids; do describe "$pid"; done
exit 0
"""
    )


def parse(output: str) -> Reading[tuple[Listener, ...]]:
    rows, separator, described = output.partition("---\n")
    if not separator:
        return Unknown("the list of ports was cut short")
    processes = parse_processes(described)
    accounts = {row[1]: row[2] for line in rows.splitlines() if len(row := line.split()) == 3 and row[0] == "account"}
    found = []
    for line in rows.splitlines():
        listener, pid = _listener(line.strip())
        if listener is None:
            continue
        if pid:
            listener = replace(listener, process=processes.get(pid, Process(pid=pid)))
        uid = _UID.search(line)
        found.append(replace(listener, owner=accounts.get(uid[1], f"uid {uid[1]}")) if uid else listener)
    return Known(tuple(found))


def _listener(line: str) -> tuple[Listener | None, int | None]:
    if line.startswith("proc "):
        _, local, *rest = line.split(" ")
        address, _, port = local.partition(":")
        pid = int(rest[0]) if rest and rest[0].isdigit() else None
        return Listener(address=_address(address), port=int(port, 16)), pid
    match = _SS.match(line)
    if match is None:
        return None, None
    pid_match = _PID.search(match[3])
    return Listener(address=match[1].strip("[]"), port=int(match[2])), int(pid_match[1]) if pid_match else None


def _address(text: str) -> str:
    """Little-endian hex of /proc/net/tcp to dotted form; IPv6 is told apart from loopback only."""
    if len(text) == 8:
        return ".".join(str(int(text[i : i + 2], 16)) for i in (6, 4, 2, 0))
    return "::1" if text.endswith("01000000") and set(text[:-8]) == {"0"} else "::"


FACT: Fact[tuple[Listener, ...]] = Fact(name="ports", snippet=snippet, parse=parse)
