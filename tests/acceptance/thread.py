"""Saying things in the practice workspace, and reading threads as people do."""

from collections.abc import Callable
from typing import Any

from bot.practice.run import Practice
from bot.practice.workspace.roster import ANA, BOB

CHANNEL = "ml-serving"
_BOT = "U0RELBOT"


class Talk:
    """One person's view of the channel."""

    def __init__(self, practice: Practice) -> None:
        self.practice = practice
        self.workspace = practice.workspace

    def say(self, text: str, *, user: str = ANA, thread: str | None = None, channel: str = CHANNEL) -> str:
        """Say something; gives the ts of the message. Outside threads and direct messages the bot is mentioned."""
        return self.workspace.say(user, channel, text, thread)

    def replies(self, ts: str, channel: str = CHANNEL) -> list[dict[str, Any]]:
        """What the bot said in a thread, oldest first."""
        return [m for m in self.workspace.thread(channel, ts) if m.get("user") == _BOT]

    def texts(self, ts: str, channel: str = CHANNEL) -> list[str]:
        """All words of each of the bot's messages in a thread."""
        return [words(m) for m in self.replies(ts, channel)]

    def wait(self, ts: str, part: str, *, timeout: float = 60.0, channel: str = CHANNEL) -> str:
        """Wait until a message of the thread holds `part`; gives its words."""
        return self._wait(lambda: next((t for t in self.texts(ts, channel) if part in t), None), ts, part, timeout)

    def wait_message(self, ts: str, part: str, *, timeout: float = 60.0) -> dict[str, Any]:
        """The same, giving the message."""
        self.wait(ts, part, timeout=timeout)
        return next(m for m in self.replies(ts) if part in words(m))

    def click(self, ts: str, label: str, *, user: str = BOB, channel: str = CHANNEL) -> None:
        """Press a button on a message; asserts that the bot acknowledged it in time."""
        assert self.workspace.click(user, channel, ts, label)

    def _wait(self, look: Callable[[], str | None], ts: str, part: str, timeout: float) -> str:
        try:
            found = self.workspace.wait_for(look, timeout)
        except TimeoutError as error:
            raise AssertionError(f"no “{part}” in:\n" + "\n---\n".join(self.texts(ts))) from error
        assert found is not None
        return found


def words(value: Any) -> str:
    """All text in a message's blocks, or its text where it has none."""
    found: list[str] = []
    _collect(value.get("blocks") or [], found)
    return "".join(found) or str(value.get("text", ""))


def _collect(value: Any, found: list[str]) -> None:
    if isinstance(value, list):
        for one in value:
            _collect(one, found)
    elif isinstance(value, dict):
        text = value.get("text")
        if isinstance(text, str):
            found.append(text)
        for key, inner in value.items():
            if key != "text" or isinstance(inner, dict | list):
                _collect(inner, found)
        if value.get("type") in ("rich_text_section", "section", "context", "rich_text_preformatted"):
            found.append("\n")
