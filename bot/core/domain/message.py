"""Messages: a template's name and the values it needs. All wording lives in templates/."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: what JSON can say
Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Where to post: a Slack channel, and the thread in it (None: top level)."""

    channel: str
    thread_ts: str | None = None
    #: nobody answered in the thread yet: what is for one person only is seen in the channel, not in the thread
    new: bool = field(default=False, compare=False)

    @property
    def direct(self) -> bool:
        """A direct message: one person and the bot, mostly without threads."""
        return self.channel.startswith("D")

    @property
    def joined(self) -> bool:
        """What is said here belongs together: a thread, or a direct message."""
        return self.thread_ts is not None or self.direct


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """A message that is there and can be edited."""

    channel: str
    ts: str
    thread_ts: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """`template` is the stem of templates/slack/<template>.json.j2; `context` holds plain values only."""

    template: str
    context: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """What Slack gets: fallback text and Block Kit blocks, within Slack's limits."""

    text: str
    blocks: list[dict[str, Any]]
