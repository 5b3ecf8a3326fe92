"""What the Slack edge hands over. The edge acknowledges, checks and forwards; the inbox stores and works."""

from typing import Protocol

from bot.core.domain.button import ButtonValue
from bot.core.domain.message import Conversation, Posted
from bot.core.domain.operation import Actor


class Inbox(Protocol):
    """Takes requests durably and returns at once; the work goes on elsewhere.

    `request_id` is the same for every delivery of one request (a mention that also arrives as a message, a retry, a
    reconnect), so a second call with it does nothing. Two clicks of one person are two requests: what makes them
    harmless is the operation's own state.
    """

    def message(self, request_id: str, actor: Actor, conversation: Conversation, text: str) -> None:
        """A person said something. `text` is as Slack sent it (escaped, `<@U…>`), without the leading mention of us.

        `conversation.thread_ts` is the thread to answer in: the message's own thread, or a new one under it. None in a
        direct message outside its threads, and for a slash command, which has no message; where we could not post, its
        channel is the person's user id (the direct message with them)."""

    def action(
        self, request_id: str, actor: Actor, conversation: Conversation, posted: Posted, value: ButtonValue
    ) -> None:
        """A person pressed a button on the message `posted`. Who may do it is checked by the receiver, now."""

    def old_button(self, request_id: str, actor: Actor, conversation: Conversation, posted: Posted) -> None:
        """A button was pressed that another version of this program made: say so, do nothing."""

    def home(self, actor: Actor) -> None:
        """A person opened the App Home."""

    def joined(self, request_id: str, conversation: Conversation, inviter: Actor | None) -> None:
        """We were added to a channel."""


class People(Protocol):
    """Who people are, as Slack says now (cached for minutes)."""

    def actor(self, user_id: str, *, team: str | None = None) -> Actor:
        """Never fails open: outsiders, guests, bots, deleted and unknown users have `outsider` set.

        Raises TemporaryError when Slack cannot be asked."""
