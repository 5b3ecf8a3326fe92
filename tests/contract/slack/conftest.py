"""The real Bolt app against the practice workspace, with an inbox that remembers."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from jinja2 import FileSystemLoader

from bot.adapters.clock.system import SystemClock
from bot.adapters.slack.app import Slack, SlackSettings
from bot.core.domain.button import ButtonValue
from bot.core.domain.message import Conversation, Message, Payload, Posted
from bot.core.domain.operation import Actor
from bot.core.rendering import environment, render
from bot.practice.workspace import PracticeWorkspace
from bot.practice.workspace.socket_mode import Timing

ROOT = Path(__file__).parents[3]
TEMPLATES = environment(FileSystemLoader(ROOT / "templates" / "slack"))


def draw(message: Message) -> Payload:
    return render(message, TEMPLATES)


@dataclass
class RememberingInbox:
    """Keeps what it was handed, newest last. `fail` is raised instead, `hold` blocks until it is set."""

    calls: list[tuple[Any, ...]] = field(default_factory=list)
    fail: Exception | None = None
    hold: threading.Event | None = None

    def message(self, request_id: str, actor: Actor, conversation: Conversation, text: str) -> None:
        self._keep("message", request_id, actor, conversation, text)

    def action(
        self, request_id: str, actor: Actor, conversation: Conversation, posted: Posted, value: ButtonValue
    ) -> None:
        self._keep("action", request_id, actor, conversation, posted, value)

    def old_button(self, request_id: str, actor: Actor, conversation: Conversation, posted: Posted) -> None:
        self._keep("old_button", request_id, actor, conversation, posted)

    def home(self, actor: Actor) -> None:
        self._keep("home", actor)

    def joined(self, request_id: str, conversation: Conversation, inviter: Actor | None) -> None:
        self._keep("joined", request_id, conversation, inviter)

    def of(self, kind: str) -> list[tuple[Any, ...]]:
        return [call[1:] for call in self.calls if call[0] == kind]

    def _keep(self, *call: Any) -> None:
        self.calls.append(call)
        if self.hold is not None:
            self.hold.wait(20)
        if self.fail is not None:
            raise self.fail


@dataclass
class DictPosts:
    """Posts in memory."""

    kept: dict[str, Posted] = field(default_factory=dict)

    def get(self, key: str) -> Posted | None:
        return self.kept.get(key)

    def put(self, key: str, posted: Posted) -> None:
        self.kept[key] = posted


class EagerClock(SystemClock):
    """Remembers how long it was asked to sleep, and sleeps a hundredth of it."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        super().sleep(seconds / 100)


@dataclass
class Bot:
    """Everything that a test needs."""

    workspace: PracticeWorkspace
    slack: Slack
    inbox: RememberingInbox
    posts: DictPosts
    clock: EagerClock

    def wait(self, predicate: Callable[[], Any]) -> Any:
        return self.workspace.wait_for(predicate)


@pytest.fixture
def workspace(monkeypatch: pytest.MonkeyPatch) -> Iterator[PracticeWorkspace]:
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    with PracticeWorkspace(ROOT / "manifest.yaml", timing=Timing(retry_after_s=(0.1, 0.1, 0.1))) as running:
        yield running


@pytest.fixture
def bot(workspace: PracticeWorkspace) -> Iterator[Bot]:
    settings = SlackSettings(
        bot_token=workspace.bot_token,
        app_token=workspace.app_token,
        signing_secret="0123456789abcdef",
        api_url=workspace.api_url,
        groups=frozenset(("S0ONCALL",)),
    )
    posts, clock, inbox = DictPosts(), EagerClock(), RememberingInbox()
    slack = Slack(settings, posts=posts, clock=clock, render=draw)
    yield Bot(workspace=workspace, slack=slack, inbox=inbox, posts=posts, clock=clock)
    # the built-in client reads for up to 3 s on; a server that is gone ends that at once
    workspace.stop()
    slack.close()


@pytest.fixture
def listening(bot: Bot) -> Bot:
    bot.slack.listen(bot.inbox)
    bot.wait(lambda: bot.workspace.connections)
    return bot
