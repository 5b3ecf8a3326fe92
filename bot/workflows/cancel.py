"""Cancel an operation: a proposed one is withdrawn, a running one ends after the step that runs."""

from dataclasses import replace
from typing import Any

from bot.core.domain.message import Conversation, Message
from bot.core.domain.operation import Actor, AuditEvent, OperationState
from bot.workflows import waits
from bot.workflows.services import Services
from bot.workflows.sweep import close_card

#: buttons of one row
_MOST_OFFERS = 5
_OPEN = (OperationState.PROPOSED, OperationState.RUNNING)


def cancel_in_thread(services: Services, conversation: Conversation, actor: Actor) -> Message:
    """Cancel what is newest in a thread: an open operation, or a start that waits for its GPUs."""
    waiting = next(iter(services.waits.in_thread(conversation)), None)
    for operation in services.operations.in_thread(conversation):
        if services.operations.state(operation) in _OPEN:
            if waiting and waiting.created_at > services.operations.details(operation)["created_at"]:
                break
            return cancel(services, operation, actor)
    if waiting:
        return waits.cancel(services, waiting, actor)
    nothing = _message(services, None, "nothing", actor)
    return replace(nothing, context={**nothing.context, "offers": _own(services, actor)})


def _own(services: Services, actor: Actor) -> list[dict[str, Any]]:
    """Buttons for what the person has under way or waiting elsewhere."""
    offers: list[dict[str, Any]] = []
    for state in _OPEN:
        for operation, kind, host in services.operations.in_state(state):
            if services.operations.details(operation)["actor"].id == actor.id:
                label = f"Cancel {kind} {services.operations.plan(operation).config or ''} on {host}"
                offers.append({"label": " ".join(label.split()), "action": "cancel", "operation": operation})
    for wait in services.waits.waiting():
        if wait.actor.id == actor.id:
            label = f"Cancel waiting {wait.config} on {wait.host}"
            offers.append({"label": label, "action": "cancel_wait", "operation": "", "extra": {"wait": wait.id}})
    return offers[:_MOST_OFFERS]


def cancel(services: Services, operation: str, actor: Actor) -> Message:
    """Cancel one operation; says what became of it."""
    state = services.operations.state(operation)
    if state not in _OPEN:
        return _message(services, operation, "too_late", actor)
    now = services.clock.now()
    services.operations.set_state(operation, OperationState.CANCELLED, at=now, detail=f"cancelled by {actor.id}")
    plan = services.operations.plan(operation)
    services.audit.add(
        AuditEvent(
            at=now, actor=actor.id, action="cancel", host=plan.host, config=plan.config, operation=operation,
            outcome=f"{plan.operation} cancelled",
        )
    )  # fmt: skip
    if state is OperationState.PROPOSED:
        if services.operations.approval(operation) is not None:
            close_card(services, operation, state="withdrawn", by=actor.id, detail=None)
        return _message(services, operation, "cancelled", actor)
    return _message(services, operation, "asked", actor)


def _message(services: Services, operation: str | None, state: str, actor: Actor) -> Message:
    plan = services.operations.plan(operation) if operation else None
    return Message(
        template="cancelled",
        context={
            "state": state,
            "verb": plan.operation if plan else None,
            "config": plan.config if plan else None,
            "host": plan.host if plan else None,
            "by": actor.id,
            "left": None,
        },
    )
