"""Ports: what workflows and commands need from the world. Adapters implement them; tests use fakes of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol, TypeVar

from bot.core.domain.catalog import Catalog, LaunchConfig, LaunchRecord, Revision
from bot.core.domain.host import Host, Inventory
from bot.core.domain.launch import LaunchState, Milestone
from bot.core.domain.measurement import Measurement
from bot.core.domain.message import Conversation, Message, Posted
from bot.core.domain.operation import Actor, Approval, AuditEvent, OperationState, Schedule
from bot.core.domain.picture import LaunchPoint, Picture
from bot.core.domain.plan import Plan
from bot.core.domain.reading import Reading
from bot.core.domain.shell import ShellCommand, ShellResult
from bot.core.domain.waiting import Wait, WaitState
from bot.core.facts.engine_help import EngineHelp

#: plain JSON, as it is stored
T = TypeVar("T")


class Clock(Protocol):
    """Time. `now` is aware UTC."""

    def now(self) -> datetime: ...
    def monotonic_s(self) -> float: ...
    def sleep(self, seconds: float) -> None: ...


class Remote(Protocol):
    """Commands on hosts, over one kept SSH connection per host.

    Raises UnreachableError, AuthenticationError, HostKeyError, CommandTimeoutError (with the partial output)."""

    def run(self, host: Host, command: ShellCommand) -> ShellResult: ...

    def stream(self, host: Host, command: ShellCommand) -> AbstractContextManager[Iterator[bytes]]:
        """Chunks of stdout as they arrive; leaving the context ends the command."""

    def forward(self, host: Host, port: int) -> AbstractContextManager[int]:
        """Forward a free loopback port here to 127.0.0.1:`port` on the host; gives the local port."""

    def fingerprint(self, host: Host) -> str:
        """SHA256 fingerprint of the key that the host shows now, without logging in."""

    def trust(self, host: Host, fingerprint: str) -> None:
        """Pin the key that the host shows now, if it still has this fingerprint; else HostKeyError."""

    def close(self) -> None: ...


class LocalPython(Protocol):
    """A Python of this machine that runs a script given as text: for hosts without one and for `relaunch bench`."""

    def stream(self, script: bytes, argument: str) -> AbstractContextManager[Iterator[bytes]]:
        """Chunks of stdout as they arrive; leaving the context ends the script."""


class Plotter(Protocol):
    """Draws pictures; takes a good part of a second."""

    def history(
        self, config: str, host: str, points: Sequence[LaunchPoint], *, baseline_tok_s: float | None, noise_pct: float
    ) -> Picture:
        """Decode tok/s over launches, oldest first."""

    def levels(self, title: str, measured: Sequence[tuple[str, Measurement]]) -> Picture:
        """tok/s and time to the first token against concurrency, one or two measurements."""


class Messenger(Protocol):
    """Posts messages into conversations. Waits out rate limits; raises PermanentError when Slack says no for good."""

    def post(self, conversation: Conversation, message: Message, *, key: str) -> Posted:
        """Post once per key: a second call with the same key gives the message that is there."""

    def update(self, posted: Posted, message: Message, *, final: bool = False) -> None:
        """Edit a message. Edits that come too fast are merged; a final one is always sent."""

    def private(self, conversation: Conversation, actor: Actor, message: Message) -> None:
        """Show a message to one person only."""

    def link(self, conversation: Conversation) -> str | None:
        """Where a person finds the thread; None where there is no such address."""

    def upload(
        self, conversation: Conversation, *, filename: str, data: bytes, title: str, alt_text: str, key: str
    ) -> None: ...


class ModelServer(Protocol):
    """HTTP to a model server that is reachable at `base_url`."""

    def health(self, base_url: str, path: str) -> tuple[int | None, str]:
        """Status (None: no connection) and a short reason."""

    def models(self, base_url: str) -> tuple[str, ...]: ...

    def token(self, base_url: str, model: str) -> str:
        """One real token, as text; raises TemporaryError with the server's words when none came."""

    def get_text(self, base_url: str, path: str) -> str | None: ...


class Run(Protocol):
    """Inside one durable workflow run. Each step's result is stored: a finished step is never run again, a step that
    was interrupted is run again from its start."""

    id: str

    def step(self, name: str, work: Callable[[], T]) -> T: ...
    def sleep(self, seconds: float) -> None: ...


class Operations(Protocol):
    """Starts durable workflows. `workflow` is a registered name such as "start_v1"; arguments and results are JSON."""

    def submit(self, workflow: str, *, run_id: str, partition: str | None, arguments: Mapping[str, Any]) -> None:
        """Enqueue once per run_id. With a partition (a host's name), runs of that partition go one at a time."""

    def state(self, run_id: str) -> str | None: ...
    def wait(self, run_id: str, timeout_s: float) -> str: ...


class HostRepository(Protocol):
    """Hosts that are known."""

    def inventory(self) -> Inventory: ...
    def save(self, host: Host) -> None: ...
    def remove(self, name: str) -> bool: ...


class CatalogRepository(Protocol):
    """Launch configs and revisions. Revisions are immutable; saving one that is there changes nothing."""

    def catalog(self) -> Catalog: ...
    def save(self, config: LaunchConfig) -> None: ...
    def add_revision(self, config: str, revision: Revision) -> None: ...
    def rename(self, old: str, new: str) -> None: ...


class LaunchRepository(Protocol):
    """Launches, their milestones, logs and measurements."""

    def begin(
        self,
        *,
        operation: str,
        plan: Plan,
        unit: str,
        conversation: Conversation | None,
        actor: Actor,
        note: str,
        at: datetime,
    ) -> LaunchRecord:
        """Create the launch of an operation, once: a second call gives the same launch."""

    def set_state(
        self, launch: str, state: LaunchState, *, at: datetime, detail: str = "", by: str | None = None
    ) -> None: ...
    def add_milestone(self, launch: str, milestone: Milestone) -> None: ...
    def milestones(self, launch: str) -> tuple[Milestone, ...]: ...
    def save_log(self, launch: str, text: str) -> None: ...
    def log(self, launch: str) -> str | None: ...
    def set_facts(self, launch: str, facts: Mapping[str, str]) -> None: ...
    def facts(self, launch: str) -> Mapping[str, str]: ...
    def add_measurement(self, launch: str, measurement: Measurement) -> None: ...
    def measurements(self, launch: str) -> tuple[Measurement, ...]: ...
    def pin_baseline(self, launch: str) -> None:
        """The last measurement of this launch is the baseline of its config on its host from now on."""

    def baseline(self, config: str, host: str) -> tuple[str, Measurement] | None: ...
    def get(self, launch: str) -> LaunchRecord | None: ...
    def unit(self, launch: str) -> str: ...
    def conversation(self, launch: str) -> Conversation | None: ...
    def plan(self, launch: str) -> Plan | None: ...
    def running(self, host: str | None = None) -> tuple[LaunchRecord, ...]: ...
    def recent(
        self, *, config: str | None = None, host: str | None = None, limit: int = 20
    ) -> tuple[LaunchRecord, ...]: ...
    def in_thread(self, conversation: Conversation) -> LaunchRecord | None: ...


class OperationRepository(Protocol):
    """Operations and their approvals."""

    def propose(
        self,
        *,
        operation: str,
        plan: Plan,
        conversation: Conversation,
        actor: Actor,
        text: str,
        note: str,
        at: datetime,
    ) -> None:
        """Store a plan once; `text` is the sentence that asked for it."""

    def plan(self, operation: str) -> Plan: ...
    def details(self, operation: str) -> Mapping[str, Any]: ...
    def state(self, operation: str) -> OperationState: ...
    def set_state(self, operation: str, state: OperationState, *, at: datetime, detail: str = "") -> None: ...
    def ask(self, approval: Approval) -> None: ...
    def approval(self, operation: str) -> Approval | None: ...

    def decide(self, operation: str, *, fingerprint: str, approved: bool, actor: Actor, at: datetime) -> Approval:
        """One conditional update: only an open, unexpired approval of this fingerprint is decided, once.
        Raises RefusedError saying who decided already, that it expired, or that the plan is another one."""

    def in_state(self, state: OperationState) -> tuple[tuple[str, str, str], ...]:
        """(id, kind, host) of all operations in a state."""

    def expired(self, at: datetime) -> tuple[str, ...]:
        """Proposed operations whose approval ran out undecided; they are marked expired."""

    def in_thread(self, conversation: Conversation) -> Sequence[str]: ...


class WaitRepository(Protocol):
    """Starts that wait until their GPUs are free."""

    def add(self, wait: Wait) -> Wait:
        """Keep a wait; the one that is there when this launch waits already, or when it has this id."""

    def get(self, wait: str) -> Wait | None: ...
    def waiting(self, host: str | None = None) -> tuple[Wait, ...]: ...
    def in_thread(self, conversation: Conversation) -> tuple[Wait, ...]: ...

    def due(self, at: datetime) -> tuple[Wait, ...]:
        """Those to be looked at, or over, by now."""

    def postpone(self, wait: str, *, seen: datetime, until: datetime) -> bool:
        """Move the next look, if it is still at `seen`."""

    def looked(
        self,
        wait: str,
        *,
        at: datetime,
        free_looks: int,
        busy_looks: int,
        holders: Sequence[str],
        away: str,
        next_look_at: datetime,
    ) -> None: ...

    def move(self, wait: str, state: WaitState, *, by: str) -> bool:
        """End the waiting by one conditional update, or take it up again. True for whoever did it, every time."""


class HelpRepository(Protocol):
    """The flags that installed engines print, by host and program."""

    def get(self, host: str, program: str) -> tuple[str, datetime, Reading[EngineHelp]] | None:
        """The version that it was read of, when, and what was read."""

    def put(self, host: str, program: str, version: str, reading: Reading[EngineHelp], *, at: datetime) -> None: ...


class AuditRepository(Protocol):
    """Who did what."""

    def add(self, event: AuditEvent) -> None: ...
    def events(
        self, *, host: str | None = None, config: str | None = None, action: str | None = None, limit: int = 50
    ) -> tuple[AuditEvent, ...]: ...


class HealthSampleRepository(Protocol):
    """What health reports found, host by host."""

    def add(self, host: str, at: datetime, content: dict[str, Any]) -> None: ...
    def last(self, host: str) -> tuple[datetime, dict[str, Any]] | None: ...


class ScheduleRepository(Protocol):
    """Scheduled reports."""

    def add(self, schedule: Schedule) -> None: ...
    def remove(self, schedule: str) -> bool: ...
    def all(self) -> tuple[Schedule, ...]: ...
