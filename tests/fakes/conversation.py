"""A clock, a messenger and durable runs without a clock, a workspace and a library."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from bot.core.domain.message import Conversation, Message, Posted
from bot.core.domain.operation import Actor
from bot.core.domain.records import to_json

T = TypeVar("T")


@dataclass
class FakeClock:
    """Stands still until it is moved; sleeping moves it."""

    at: datetime = datetime(2026, 12, 2, 8, 0, tzinfo=UTC)

    def now(self) -> datetime:
        """The time it shows."""
        return self.at

    def monotonic_s(self) -> float:
        """Seconds since 1970."""
        return self.at.timestamp()

    def sleep(self, seconds: float) -> None:
        """Move on."""
        self.at += timedelta(seconds=seconds)


@dataclass
class FakeMessenger:
    """Keeps messages by key; an edit replaces what is shown."""

    clock: FakeClock
    by_key: dict[str, Posted] = field(default_factory=dict)
    #: what each message shows now, by its time
    shown: dict[str, Message] = field(default_factory=dict)
    #: everything that was shown in the order it was, and whether as a new message
    said: list[tuple[bool, Message]] = field(default_factory=list)
    privately: list[tuple[str, Message]] = field(default_factory=list)

    def post(self, conversation: Conversation, message: Message, *, key: str) -> Posted:
        """Once for each key."""
        if key not in self.by_key:
            ts = f"{1796100000 + len(self.by_key)}.000100"
            self.by_key[key] = Posted(channel=conversation.channel, ts=ts, thread_ts=conversation.thread_ts)
            self.shown[ts] = message
            self.said.append((True, message))
        return self.by_key[key]

    def update(self, posted: Posted, message: Message, *, final: bool = False) -> None:
        """Show another message in its place."""
        self.shown[posted.ts] = message
        self.said.append((False, message))

    def link(self, conversation: Conversation) -> str | None:
        """An address of the thread."""
        return f"https://workspace.invalid/archives/{conversation.channel}/p{conversation.thread_ts}"

    def private(self, conversation: Conversation, actor: Actor, message: Message) -> None:
        """To one person."""
        self.privately.append((actor.id, message))

    def upload(
        self, conversation: Conversation, *, filename: str, data: bytes, title: str, alt_text: str, key: str
    ) -> None:
        """Files are not kept."""

    def of(self, template: str) -> list[Message]:
        """What messages of a template show now, in the order they were posted."""
        return [message for message in self.shown.values() if message.template == template]

    def posted(self, template: str) -> list[Message]:
        """Messages that were posted with this template, as they were then."""
        return [message for new, message in self.said if new and message.template == template]


class Killed(BaseException):
    """The process ended in a step."""


@dataclass
class FakeRun:
    """One durable run. `stored`: results of its finished steps; `dies_after`: name of the step whose result is lost."""

    id: str
    stored: dict[int, Any] = field(default_factory=dict)
    dies_after: str | None = None
    place: int = 0

    def step(self, name: str, work: Callable[[], T]) -> T:
        """The stored result, or do it now. Results are JSON, as they are really stored."""
        self.place += 1
        if self.place not in self.stored:
            result = to_json(work())
            if name == self.dies_after:
                self.dies_after = None
                raise Killed
            self.stored[self.place] = result
        value: T = self.stored[self.place]
        return value

    def sleep(self, seconds: float) -> None:
        """Not at all."""


@dataclass
class FakeRuns:
    """Runs that are submitted wait until `work` carries them out."""

    workflows: dict[str, Callable[[Any, Mapping[str, Any]], Any]] = field(default_factory=dict)
    submitted: dict[str, tuple[str, Mapping[str, Any]]] = field(default_factory=dict)
    runs: dict[str, FakeRun] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)

    def submit(self, workflow: str, *, run_id: str, partition: str | None, arguments: Mapping[str, Any]) -> None:
        """Once for each id."""
        self.submitted.setdefault(run_id, (workflow, arguments))

    def state(self, run_id: str) -> str | None:
        """Whether it ended."""
        if run_id not in self.submitted:
            return None
        return "success" if run_id in self.ended else "enqueued"

    def wait(self, run_id: str, timeout_s: float) -> str:
        """No waiting."""
        return self.state(run_id) or "unknown"

    def work(self, *, dies_after: str | None = None) -> None:
        """Carry out what was submitted. A run that dies is carried on by the next call."""
        for run_id, (workflow, arguments) in list(self.submitted.items()):
            if run_id in self.ended or workflow not in self.workflows:
                continue
            run = self.runs.setdefault(run_id, FakeRun(run_id))
            run.place, run.dies_after = 0, dies_after
            try:
                self.workflows[workflow](run, arguments)
            except Killed:
                continue
            self.ended.add(run_id)
