"""Every few seconds: nothing that was decided is left undone, nothing that expired stays open."""

from bot.core.domain.message import Message, Posted
from bot.core.domain.operation import OperationState
from bot.workflows import waits
from bot.workflows.propose import run_of, submit
from bot.workflows.services import Services


def sweep(services: Services) -> None:
    """Submit operations that are running without a run; close approvals that ran out; look for GPUs that came free."""
    for operation, kind, host in services.operations.in_state(OperationState.RUNNING):
        # a measurement is submitted by the durable step that stored it
        if kind != "measure":
            submit(services, operation, host)
    for operation in services.operations.expired(services.clock.now()):
        close_card(services, operation, state="expired", by=None, detail=None)
    waits.sweep(services)


def needed_runs(services: Services) -> frozenset[str]:
    """Runs whose end must stay known: without it the sweep would carry out their operations again."""
    running = services.operations.in_state(OperationState.RUNNING)
    return frozenset(run_of(operation) for operation, _, _ in running)


def close_card(services: Services, operation: str, *, state: str, by: str | None, detail: str | None) -> None:
    """Replace an approval card by what became of it."""
    plan = services.operations.plan(operation)
    details = services.operations.details(operation)
    again = {
        "label": "Plan again",
        "action": "run",
        "operation": operation,
        "extra": {"text": str(details["text"])[:1500]},
    }
    message = Message(
        template="approval_closed",
        context={
            "state": state,
            "verb": plan.operation,
            "host": plan.host,
            "config": plan.config,
            "by": by,
            "at": services.clock.now().isoformat(),
            "detail": detail,
            "again": again if state in ("expired", "stale") and details["text"] else None,
        },
    )
    # posting with the card's key gives the card that is there
    card: Posted = services.messenger.post(details["conversation"], message, key=f"{operation}:approval")
    services.messenger.update(card, message, final=True)
