"""The inbox: every request becomes a durable run whose id is the request's, so a redelivery does nothing."""

from collections.abc import Callable

from bot.core.domain.button import ButtonValue
from bot.core.domain.message import Conversation, Message, Posted
from bot.core.domain.operation import Actor
from bot.core.domain.records import to_json
from bot.core.rendering.redact import redact
from bot.workflows.home import home
from bot.workflows.services import Services


class DurableInbox:
    """Inbox port; returns as soon as the request is stored."""

    def __init__(self, services: Services, publish_home: Callable[[Actor, Message], None]) -> None:
        self._services = services
        self._runs = services.runs
        self._publish_home = publish_home

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
                # what a person pastes by mistake is not stored
                "text": redact(text),
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
        message = Message(template="old_button", context={"why_not": "version"})
        self._services.messenger.private(conversation, actor, message)

    def home(self, actor: Actor) -> None:
        """Publish the home tab; nothing is lost when it fails, it is opened again."""
        self._publish_home(actor, home(self._services, actor))

    def joined(self, request_id: str, conversation: Conversation, inviter: Actor | None) -> None:
        """Say hello in a new channel."""
        self._runs.submit(
            "joined_v1",
            run_id=f"joined:{request_id}",
            partition=None,
            arguments={"conversation": to_json(conversation), "inviter": to_json(inviter) if inviter else None},
        )
