"""Messenger port that writes into a terminal conversation, which the command line reads from the database."""

from typing import Any, Protocol

from jinja2 import Environment

from bot.core.access import TERMINAL
from bot.core.domain.message import Conversation, Message, Posted
from bot.core.domain.operation import Actor
from bot.core.rendering.render import render
from bot.workflows.ports import Messenger


class TerminalLog(Protocol):
    """Where terminal conversations are kept."""

    def append(self, channel: str, kind: str, ts: str, payload: dict[str, Any]) -> int: ...


class Posts(Protocol):
    """Which message was posted for which key."""

    def get(self, key: str) -> Posted | None: ...
    def put(self, key: str, posted: Posted) -> None: ...


class TerminalMessenger:
    """Messages of one or many terminal conversations."""

    def __init__(self, log: TerminalLog, posts: Posts, templates: Environment) -> None:
        self._log = log
        self._posts = posts
        self._templates = templates

    def post(self, conversation: Conversation, message: Message, *, key: str) -> Posted:
        """Post once per key."""
        there = self._posts.get(key)
        if there is not None:
            return there
        posted = Posted(channel=conversation.channel, ts=key, thread_ts=conversation.thread_ts)
        self._append(conversation.channel, "post", key, message)
        self._posts.put(key, posted)
        return posted

    def update(self, posted: Posted, message: Message, *, final: bool = False) -> None:
        """Every edit is a line; the reader shows what it likes of them."""
        self._append(posted.channel, "final" if final else "update", posted.ts, message)

    def private(self, conversation: Conversation, actor: Actor, message: Message) -> None:
        """The terminal is private."""
        self._append(conversation.channel, "post", "private", message)

    def link(self, conversation: Conversation) -> str | None:
        """A terminal conversation has no address."""
        return None

    def upload(
        self, conversation: Conversation, *, filename: str, data: bytes, title: str, alt_text: str, key: str
    ) -> None:
        """Pictures are told by their words."""
        payload = {"text": f"{title}: {alt_text}", "blocks": []}
        self._log.append(conversation.channel, "file", key, payload)

    def _append(self, channel: str, kind: str, ts: str, message: Message) -> None:
        payload = render(message, self._templates)
        line = {"text": payload.text, "blocks": payload.blocks, "template": message.template}
        self._log.append(channel, kind, ts, line)


class RoutedMessenger:
    """Terminal conversations go to the terminal, all others to Slack."""

    def __init__(self, terminal: Messenger, slack: Messenger | None) -> None:
        self._terminal = terminal
        self._slack = slack

    def _for(self, channel: str) -> Messenger:
        return self._terminal if channel.startswith(TERMINAL) or self._slack is None else self._slack

    def post(self, conversation: Conversation, message: Message, *, key: str) -> Posted:
        """Post once per key."""
        return self._for(conversation.channel).post(conversation, message, key=key)

    def update(self, posted: Posted, message: Message, *, final: bool = False) -> None:
        """Edit."""
        self._for(posted.channel).update(posted, message, final=final)

    def private(self, conversation: Conversation, actor: Actor, message: Message) -> None:
        """Show to one person."""
        self._for(conversation.channel).private(conversation, actor, message)

    def link(self, conversation: Conversation) -> str | None:
        """Where it is."""
        return self._for(conversation.channel).link(conversation)

    def upload(
        self, conversation: Conversation, *, filename: str, data: bytes, title: str, alt_text: str, key: str
    ) -> None:
        """Add a file."""
        self._for(conversation.channel).upload(
            conversation, filename=filename, data=data, title=title, alt_text=alt_text, key=key
        )
