"""Runners: how a server is started on a host so that it outlives the bot and its SSH session.

Everything is pure: a runner makes commands and reads their output. Each command is one round trip, looks before it
acts, and may be run again at any time.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from bot.core.domain.plan import Plan
from bot.core.domain.shell import ShellCommand, ShellResult

#: renders a template of templates/ with values: script("scripts/runner_state.sh.j2", unit="'relaunch-1'")
Script = Callable[..., str]


class RunState(StrEnum):
    """What became of a start."""

    #: nothing on the host knows the unit
    ABSENT = "absent"
    RUNNING = "running"
    STOPPING = "stopping"
    #: the main process has ended; `exit_status` and `signal` say how
    ENDED = "ended"
    #: it was started, and the host was rebooted or shut down since, or its manager ended
    LOST = "lost"
    #: could not be looked at; `reason` says why
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatus:
    """State of one unit."""

    state: RunState
    #: of the main process, while it runs
    pid: int | None = None
    #: start time of `pid` in clock ticks since boot: tells it from a later process with the same number
    pid_started: int | None = None
    exit_status: int | None = None
    #: "SIGKILL"; after a wanted stop SGLang normally ends so (exit status 137)
    signal: str | None = None
    #: the kernel's or systemd's out-of-memory killer ended it
    oom_killed: bool = False
    #: short and factual, for people
    reason: str = ""


class StartOutcome(StrEnum):
    """What a start command did."""

    STARTED = "started"
    #: this unit was started before; nothing was done. `status` says what became of it
    ALREADY = "already"
    #: nothing runs; `reason` has the host's own words
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class StartResult:
    """Outcome of a start."""

    outcome: StartOutcome
    status: RunStatus
    reason: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogChunk:
    """Log lines after a cursor, oldest first."""

    lines: tuple[str, ...]
    #: give it to the next call; "" only when there was never a line
    cursor: str
    #: there is more to read right away
    more: bool = False
    #: the cursor's place is gone (rotated or deleted log): lines may be missing before these, or come again
    gap: bool = False
    #: why nothing could be read
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopTarget:
    """What to stop: a unit, or a process tree where no unit owns it; and what must be free afterwards."""

    #: unit of ours or a foreign one, without ".service"
    unit: str | None = None
    #: "systemd", "systemd-user", "process", "docker"; of the last, `unit` is the container's name
    runner: str = "systemd"
    pid: int | None = None
    #: start time of `pid` in clock ticks since boot; a process with another one is left alone
    pid_started: int | None = None
    port: int | None = None
    #: look and act as root; processes of other accounts are signalled through sudo in any case, where it is allowed
    as_root: bool = False
    #: time between the first SIGTERM and SIGKILL
    grace_s: int = 20
    #: time given to port and GPU memory to come free once the processes are gone
    settle_s: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Survivor:
    """A process that should have gone."""

    pid: int
    user: str
    age_s: int
    command: str
    #: MiB of GPU memory it holds; None: none, or not known
    gpu_mib: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StopResult:
    """Outcome of a stop, proved: the tree, the port and the GPU memory were looked at afterwards."""

    #: there was something to stop (False: it had ended before, or `pid` is another process now)
    acted: bool
    survivors: tuple[Survivor, ...] = ()
    #: None: no port was named, or it cannot be looked at
    port_open: bool | None = None
    #: "1234 python3" of whoever listens on the port
    port_owner: str = ""
    #: MiB used per GPU index before and after; empty where nvidia-smi does not answer
    gpu_mib_before: dict[int, int] | None = None
    gpu_mib_after: dict[int, int] | None = None
    #: the unit starts again at boot
    enabled: bool = False
    #: had to be killed after `grace_s`
    killed: bool = False
    #: why something could not be done or seen, in the host's own words
    reason: str = ""

    @property
    def clean(self) -> bool:
        """Whether nothing of it is left: no process, no open port."""
        return not self.survivors and not self.port_open and not self.reason


class Runner(Protocol):
    """One way to run a server. Commands need `Script`; output goes to the parser of the same name."""

    @property
    def name(self) -> str:
        """As in Plan.runner: "systemd", "systemd-user", "process", "docker"."""

    def start(self, plan: Plan, unit: str, script: Script) -> ShellCommand:
        """Write what is needed and start it, unless this unit was started before. Raises BadInputError for what no
        process can be given (a NUL, bad UTF-8) and for a secret whose place the runner cannot read."""

    def unit_file(self, plan: Plan, unit: str, script: Script) -> str | None:
        """Text of the systemd unit that `start` writes; None: it writes none. Raises BadInputError as `start` does."""

    def parse_start(self, result: ShellResult) -> StartResult: ...

    def state(self, unit: str, script: Script) -> ShellCommand: ...

    def parse_state(self, result: ShellResult) -> RunStatus: ...

    def log(self, unit: str, cursor: str, script: Script, *, limit_bytes: int = 1_000_000) -> ShellCommand:
        """Log after `cursor` ("": from the start), at most about `limit_bytes`."""

    def parse_log(self, result: ShellResult, cursor: str) -> LogChunk: ...

    def stop(self, target: StopTarget, script: Script) -> ShellCommand:
        """Stop the whole tree: SIGTERM, after 2 s SIGTERM again, after `grace_s` SIGKILL; then look what is left."""

    def parse_stop(self, result: ShellResult) -> StopResult: ...

    def cleanup(self, unit: str, script: Script) -> ShellCommand:
        """Remove what `start` wrote, unless it runs. The journal keeps its log."""


def unit_name(operation: str) -> str:
    """Name of the unit of an operation: "relaunch-" and the operation's id, in characters that units may have."""
    kept = "".join(c if (c.isascii() and c.isalnum()) or c in "_-" else "-" for c in operation)
    return f"relaunch-{kept}"[:120]
