"""Carry out a plan, step by step, durably. Every step looks before it acts, so that doing it twice is harmless."""

from collections.abc import Mapping
from typing import Any

from bot.core.domain.launch import LaunchState
from bot.core.domain.message import Json
from bot.core.domain.operation import AuditEvent, OperationState
from bot.core.domain.plan import Step, StepKind
from bot.workflows import fail, pictures, ready, stale, start, stop, watch
from bot.workflows.conversation import telling
from bot.workflows.job import Job
from bot.workflows.ports import Run
from bot.workflows.propose import end_card
from bot.workflows.services import Services


def carry_out(services: Services, run: Run, arguments: Mapping[str, Any]) -> Json:
    """Carry out the plan of an operation. arguments: operation."""
    operation = str(arguments["operation"])
    details = services.operations.details(operation)
    ended: dict[str, OperationState] = {}

    def work() -> None:
        job = Job(services, operation)
        ended["state"] = _steps(job, run)

    outcome = telling(services, run, details["conversation"], operation, work)
    state = ended.get("state", OperationState.FAILED)
    run.step("close", lambda: _close(services, operation, state))
    return outcome


def _steps(job: Job, run: Run) -> OperationState:
    """All steps in order; ends early where one fails or a person cancelled."""
    proof: Any = None
    for step in job.plan.steps:
        if _cancelled(job, run, step):
            return OperationState.CANCELLED
        if step.kind is StepKind.STOP and (ended := _stopped(job, run, step)):
            return ended
        if step.kind is StepKind.START and (ended := _started(job, run)):
            return ended
        if step.kind is StepKind.WATCH:
            state = watch.watch(job, run)
            if state["end"] != "ready":
                return _ended_early(job, run, state)
        if step.kind is StepKind.PROVE and job.unit:
            proof = run.step("prove", lambda: ready.prove(job))
            _say_ready(job, run, proof)
        if step.kind is StepKind.MEASURE:
            run.step("measure", lambda: ready.measure(job))
            _say_speed(job, run, proof)
    return OperationState.SUCCEEDED


def _stopped(job: Job, run: Run, step: Step) -> OperationState | None:
    """None: it is gone. Else how the operation ended."""
    result: Any = run.step("stop", lambda: stop.stop(job, step))
    if "stale" in result:
        return _stale(job, run, result["stale"])
    return None if stop.gone(result) else OperationState.FAILED


def _started(job: Job, run: Run) -> OperationState | None:
    """None: it was started. Else how the operation ended."""
    started: Any = run.step("start", lambda: start.start(job))
    if started["outcome"] == start.STALE:
        return _stale(job, run, started["reason"])
    if started["outcome"] != "failed":
        return None
    run.step("say failed", lambda: fail.not_started(job, started))
    return OperationState.FAILED


def _stale(job: Job, run: Run, why: str) -> OperationState:
    """A step that only new results lead to: runs of before have none of them."""
    run.step("say stale", lambda: stale.say(job, why))
    return OperationState.EXPIRED


def _say_ready(job: Job, run: Run, proof: Any) -> None:
    run.step("say ready", lambda: ready.say(job, proof, measuring=_measures(job)))


def _say_speed(job: Job, run: Run, proof: Any) -> None:
    run.step("say speed", lambda: ready.say_speed(job, proof))
    run.step("draw", lambda: pictures.history(job.services, job.operation, job.conversation))


def _ended_early(job: Job, run: Run, state: Mapping[str, Any]) -> OperationState:
    if state["end"] == "cancelled":
        run.step("stop again", lambda: stop.stop_cancelled(job))
        return OperationState.CANCELLED
    run.step("save log", lambda: fail.save_log(job))
    run.step("say failed", lambda: fail.say(job, state))
    return OperationState.FAILED


def _measures(job: Job) -> bool:
    return any(step.kind is StepKind.MEASURE for step in job.plan.steps)


def _cancelled(job: Job, run: Run, step: Step) -> bool:
    """A cancel that came before this step; between a stop and a start it would leave nothing running, so it is said."""
    asked = bool(
        run.step(
            f"cancelled before {step.kind.value}",
            lambda: job.services.operations.state(job.operation) is OperationState.CANCELLED,
        )
    )
    if asked and step.kind in (StepKind.PROVE, StepKind.MEASURE) and job.unit:
        return step.kind is StepKind.MEASURE
    if asked:
        run.step("say cancelled", lambda: stop.say_cancelled(job))
    return asked


def _close(services: Services, operation: str, state: OperationState) -> Json:
    plan = services.operations.plan(operation)
    details = services.operations.details(operation)
    now = services.clock.now()
    services.operations.set_state(operation, state, at=now)
    launch = services.launches.get(operation)
    if launch is not None and launch.state == LaunchState.STARTING:
        end = LaunchState.CANCELLED if state is OperationState.CANCELLED else LaunchState.FAILED
        services.launches.set_state(operation, end, at=now, by=details["actor"].id)
    services.audit.add(
        AuditEvent(
            at=now,
            actor=details["actor"].id,
            action=plan.operation,
            host=plan.host,
            config=plan.config,
            operation=operation,
            outcome=state.value,
        )
    )
    end_card(services, operation, state)
    return state.value
