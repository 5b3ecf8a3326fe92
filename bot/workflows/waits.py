"""Starts that wait until their GPUs are free: kept, shown, cancelled; the sweep has the host looked at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from bot.core.domain.message import Conversation, Message, Posted
from bot.core.domain.operation import Actor, AuditEvent
from bot.core.domain.plan import Refusal
from bot.core.domain.waiting import Wait, WaitState
from bot.core.planning.free import pause_s, telling
from bot.core.rendering.redact import redact
from bot.workflows.services import Services


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A start that a person wants once its GPUs are free. `id`: of the operation that could not be planned."""

    id: str
    host: str
    config: str
    actor: Actor
    conversation: Conversation
    text: str = ""
    note: str = ""


def begin(services: Services, asked: Asked, refusal: Refusal) -> Wait:
    """Keep the wait; the one that is there where this launch waits already."""
    now = services.clock.now()
    return services.waits.add(
        Wait(
            id=asked.id,
            host=asked.host,
            config=asked.config,
            revision=refusal.revision or "",
            actor=asked.actor,
            conversation=asked.conversation,
            created_at=now,
            expires_at=now + services.wait_lifetime,
            next_look_at=now + timedelta(seconds=pause_s(0, 0)),
            text=asked.text,
            note=asked.note,
            shown=telling(refusal.findings),
            holders=tuple(redact(one) for one in refusal.holders),
        )
    )


def context(
    services: Services, wait: Wait, *, detail: str | None = None, offers: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """Context of waiting_free: `detail` says what ended it."""
    return {
        "state": wait.state.value,
        "config": wait.config,
        "host": wait.host,
        "by": wait.actor.id,
        "note": wait.note or None,
        "holders": list(wait.holders),
        "until_at": wait.expires_at.isoformat(),
        "at": services.clock.now().isoformat(),
        "detail": detail,
        "wait": wait.id,
        "offers": list(offers),
    }


def show(services: Services, wait: Wait, *, detail: str | None = None) -> None:
    """Edit the wait's own card to what became of it."""
    message = Message(template="waiting_free", context=context(services, wait, detail=detail))
    # posting with the card's key gives the card that is there
    card: Posted = services.messenger.post(wait.conversation, message, key=f"{wait.id}:card")
    services.messenger.update(card, message, final=True)


def end(services: Services, wait: Wait, state: WaitState, *, by: str, detail: str | None = None) -> bool:
    """Move a wait out of waiting, once, and say so on its card. False: something else became of it before."""
    if not services.waits.move(wait.id, state, by=by):
        return False
    ended = services.waits.get(wait.id) or wait
    show(services, ended, detail=detail)
    services.audit.add(
        AuditEvent(
            at=services.clock.now(), actor=wait.actor.id, action="wait", host=wait.host, config=wait.config,
            operation=wait.id, outcome=state.value, detail=detail or "",
        )
    )  # fmt: skip
    return True


def cancel(services: Services, wait: Wait, actor: Actor) -> Message:
    """Give up waiting; says what became of it."""
    done = end(services, wait, WaitState.CANCELLED, by=actor.id, detail=actor.id)
    return Message(
        template="cancelled",
        context={
            "state": "cancelled" if done else "too_late",
            "verb": "start",
            "config": wait.config,
            "host": wait.host,
            "by": actor.id,
            "left": "It was waiting for its GPUs; nothing had been started." if done else None,
        },
    )


def sweep(services: Services) -> None:
    """Have every host looked at whose time has come. The run's id carries the time, so several processes look once."""
    for wait in services.waits.due(services.clock.now()):
        seen = wait.next_look_at
        services.runs.submit(
            "wait_v1",
            run_id=f"wait:{wait.id}:{int(seen.timestamp())}",
            partition=None,
            arguments={"wait": wait.id},
        )
        pause = timedelta(seconds=pause_s(wait.free_looks, wait.busy_looks))
        services.waits.postpone(wait.id, seen=seen, until=services.clock.now() + pause)
