"""The inbox: every request becomes a durable run whose id is the request's, so a redelivery does nothing."""

from bot.core.domain.button import ButtonValue
from bot.core.domain.message import Conversation, Message, Posted
from bot.core.domain.operation import Actor
from bot.core.domain.records import to_json
from bot.workflows.ports import Messenger, Operations


class DurableInbox:
    """Inbox port; returns as soon as the request is stored."""

    def __init__(self, runs: Operations, messenger: Messenger) -> None:
        self._runs = runs
        self._messenger = messenger

    def message(self, request_id: str, actor: Actor, conversation: Conversation, text: str) -> None:
        """A person said something."""
        self._runs.submit(
            "converse_v1",
            run_id=f"say:{request_id}",
            partition=None,
            arguments={
                "request_id": request_id,
                "actor": to_json(actor),
                "conversation": to_json(conversation),
                "text": text,
            },
        )

    def action(
        self, request_id: str, actor: Actor, conversation: Conversation, posted: Posted, value: ButtonValue
    ) -> None:
        """A person pressed a button."""
        self._runs.submit(
            "act_v1",
            run_id=f"act:{request_id}",
            partition=None,
            arguments={
                "request_id": request_id,
                "actor": to_json(actor),
                "conversation": to_json(conversation),
                "posted": to_json(posted),
                "value": value.encode(),
            },
        )

    def old_button(self, request_id: str, actor: Actor, conversation: Conversation, posted: Posted) -> None:
        """A button of another version: say so."""
        self._messenger.private(
            conversation,
            actor,
            Message(
                template="approval_closed",
                context={
                    "state": "expired",
                    "verb": "",
                    "host": "",
                    "config": None,
                    "by": None,
                    "at": None,
                    "detail": None,
                    "again": None,
                },
            ),
        )

    def home(self, actor: Actor) -> None:
        """Publish the home tab."""
        self._runs.submit("home_v1", run_id=f"home:{actor.id}", partition=None, arguments={"actor": to_json(actor)})

    def joined(self, request_id: str, conversation: Conversation, inviter: Actor | None) -> None:
        """Say hello in a new channel."""
        self._runs.submit(
            "joined_v1",
            run_id=f"joined:{request_id}",
            partition=None,
            arguments={"conversation": to_json(conversation), "inviter": to_json(inviter) if inviter else None},
        )
