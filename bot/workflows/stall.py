"""A start that says nothing for a while: slow loading is told apart from a hang by what GPUs and disks do meanwhile."""

from dataclasses import dataclass

from bot.core.domain.reading import Known
from bot.core.domain.shell import ShellCommand
from bot.core.facts import gpus
from bot.errors import RelaunchError
from bot.workflows.job import Job
from bot.workflows.look import look

#: seconds without a log line before anything is said; kernels that compile are silent for about as long
QUIET_S = 60.0
#: a card that computes, and a disk that is read, are clearly above these
BUSY_PCT = 5
BUSY_MIB_S = 5.0
_SECTOR_BYTES = 512
_READ_S = 2
#: sectors read by whole disks, twice
_DISKS = (
    "s() { awk '$3 ~ /^([hsv]d[a-z]+|xvd[a-z]+|nvme[0-9]+n[0-9]+|md[0-9]+)$/ {n += $6} END {print n + 0}' "
    "/proc/diskstats; }; "
    f"s; sleep {_READ_S}; s"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """What a host does while a start says little; None: not known."""

    gpu_busy_pct: int | None
    disk_mib_s: float | None

    @property
    def working(self) -> bool | None:
        """Whether something loads or computes."""
        if (self.gpu_busy_pct or 0) >= BUSY_PCT or (self.disk_mib_s or 0.0) >= BUSY_MIB_S:
            return True
        return None if self.gpu_busy_pct is None or self.disk_mib_s is None else False

    @property
    def seen(self) -> tuple[str, str]:
        """GPU and disk in words."""
        return (
            "GPU use unknown" if self.gpu_busy_pct is None else f"GPUs {self.gpu_busy_pct} % busy",
            "disk use unknown" if self.disk_mib_s is None else f"{self.disk_mib_s:.0f} MiB/s read from disk",
        )


def activity(job: Job) -> Activity:
    """Look now; takes about two seconds."""
    return Activity(gpu_busy_pct=_gpu_busy_pct(job), disk_mib_s=_disk_mib_s(job))


def stall(job: Job, quiet_s: float) -> str:
    """One sentence: how long it has been silent, and whether the host works on it. Unknown is said as such."""
    found = activity(job)
    verdict = {True: "it is still working", False: "it may hang", None: "whether it works is not known"}[found.working]
    return f"no log line for {quiet_s:.0f} s; {', '.join(found.seen)}: {verdict}"


def _gpu_busy_pct(job: Job) -> int | None:
    try:
        reading = look(job.services, job.host, only=("gpus",)).reading(gpus.FACT)
    except RelaunchError:
        return None
    if not isinstance(reading, Known):
        return None
    seen = [card.utilization_pct for card in reading.value if card.utilization_pct is not None]
    return max(seen, default=None)


def _disk_mib_s(job: Job) -> float | None:
    try:
        result = job.services.remote.run(job.host, ShellCommand(text=_DISKS, timeout_s=15))
    except RelaunchError:
        return None
    return read_rate_mib_s(result.stdout) if result.ok else None


def read_rate_mib_s(output: str) -> float | None:
    """MiB/s between two counts of sectors; None where they are no numbers."""
    counts = output.split()
    if len(counts) != 2 or not all(count.isdigit() for count in counts):
        return None
    return (int(counts[1]) - int(counts[0])) * _SECTOR_BYTES / _READ_S / 2**20
