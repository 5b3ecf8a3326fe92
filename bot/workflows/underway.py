"""Starts of ours that are under way: what would take the same config, port or GPUs is not planned on top of them."""

from dataclasses import replace
from typing import Any

from bot.core.domain.launch import LaunchState
from bot.core.domain.operation import OperationState
from bot.core.domain.plan import Plan, Refusal, StepKind
from bot.core.planning.relied_on import gpus_of
from bot.workflows.services import Services


def underway(
    services: Services, made: Plan | Refusal, *, operation: str, host: str, config: str | None
) -> Refusal | None:
    """Why this is not planned now: a start of ours, running or queued on the host, takes the same. None: nothing does.

    `made`: what was planned as if nothing were under way."""
    for other, plan in _starting(services, host, operation):
        refusal = _conflict(made, plan, config)
        if refusal is not None:
            return replace(refusal, underway=other)
    return None


def _starting(services: Services, host: str, operation: str) -> list[tuple[str, Plan]]:
    """Operations that start something on a host and are not ready yet, those that run before those that are queued."""
    found = []
    for other, _, where in services.operations.in_state(OperationState.RUNNING):
        if where != host or other == operation:
            continue
        plan, launch = services.operations.plan(other), services.launches.get(other)
        if any(step.kind is StepKind.START for step in plan.steps) and (
            launch is None or launch.state == LaunchState.STARTING
        ):
            found.append((launch is None, other, plan))
    return [(other, plan) for _, other, plan in sorted(found, key=lambda one: one[:2])]


def _conflict(made: Plan | Refusal, other: Plan, config: str | None) -> Refusal | None:
    if isinstance(made, Plan) and not any(step.kind is StepKind.START for step in made.steps):
        return None
    if config is not None and config == other.config:
        return Refusal(reason=f"{config} is being started on {other.host} already", revision=made.revision)
    if isinstance(made, Refusal):
        return None
    shared = sorted(gpus_of(made) & gpus_of(other), key=lambda index: (len(index), index))
    cards = f"GPU{'s' if len(shared) > 1 else ''} {', '.join(shared)}"
    if made.port and made.port == other.port:
        return Refusal(
            reason=f"port {made.port} of {other.host} is taken by {other.config}, which is being started",
            remedy="wait until it is ready and choose another port, or cancel it",
            revision=made.revision,
        )
    if shared:
        return Refusal(
            reason=f"{other.config} is being started on {cards} of {other.host}",
            remedy="wait until it is ready: then it can be seen what is left; or choose other GPUs",
            passing=True,
            holders=(f"{other.config}, which is being started, on {cards}",),
            revision=made.revision,
        )
    return None


def card(services: Services, refusal: Refusal, offers: list[dict[str, Any]]) -> dict[str, Any]:
    """Context of the message: who started what, how far it is, and the ways on."""
    operation = refusal.underway or ""
    plan, details = services.operations.plan(operation), services.operations.details(operation)
    launch = services.launches.get(operation)
    reached = services.launches.milestones(operation) if launch else ()
    since = launch.started_at if launch else details["created_at"]
    return {
        "reason": refusal.reason,
        "remedy": refusal.remedy,
        "config": plan.config,
        "host": plan.host,
        "by": details["actor"].id,
        "queued": launch is None,
        "since_s": (services.clock.now() - since).total_seconds(),
        "usual_s": plan.expected_ready_s,
        "phase": reached[-1].phase.value.replace("_", " ") if reached else None,
        "url": services.messenger.link(details["conversation"]),
        "operation": operation,
        "offers": offers,
    }
