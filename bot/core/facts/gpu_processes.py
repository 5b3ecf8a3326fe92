"""Every process that holds GPU memory, with its owner, age and command.

nvidia-smi names the child that holds the memory ("sglang::scheduler"), not the launcher: parent and unit
tell whose it is. Inside a container it lists nothing or the host's pids.
"""

from dataclasses import dataclass

from bot.core.domain.reading import Known, Reading, Unknown
from bot.core.facts._csv import fields, whole
from bot.core.facts._fact import Fact, ProbeTarget
from bot.core.facts._processes import DESCRIBE_SH, Process, parse_processes


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuProcess:
    """One process on one GPU."""

    gpu_uuid: str
    #: None where the driver does not say
    memory_mib: int | None
    #: as the driver names it
    name: str
    process: Process


def snippet(target: ProbeTarget) -> str:
    return (
        DESCRIBE_SH
        + r"""
apps=$(nvidia-smi --query-compute-apps=gpu_uuid,pid,used_memory,process_name --format=csv,noheader,nounits) || {
  status=$?; printf '%s\n' "$apps" >&2; exit $status; }
printf '%s\n---\n' "$apps"
for pid in $(printf '%s\n' "$apps" | sed -n 's/^[^,]*, *\([0-9][0-9]*\),.*/\1/p' | sort -un); do describe "$pid"; done
exit 0
"""
    )


def parse(output: str) -> Reading[tuple[GpuProcess, ...]]:
    rows, _, described = output.partition("---\n")
    processes = parse_processes(described)
    found = []
    for line in rows.splitlines():
        if not line.strip() or line.startswith("No running processes"):
            continue
        row = fields(line, 4)
        pid = whole(row[1]) if row else None
        if row is None or pid is None:
            return Unknown(f"nvidia-smi: {line.strip()[:200]}")
        process = processes.get(pid, Process(pid=pid))
        found.append(GpuProcess(gpu_uuid=row[0], memory_mib=whole(row[2]), name=row[3], process=process))
    return Known(tuple(found))


FACT: Fact[tuple[GpuProcess, ...]] = Fact(name="gpu_processes", snippet=snippet, parse=parse, timeout_s=15)
