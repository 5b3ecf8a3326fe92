"""Measure a running server on request: durable, with progress, cancellable, compared with its baseline."""

import hashlib
from collections.abc import Mapping
from typing import Any

from bot.core.domain.catalog import LaunchRecord
from bot.core.domain.launch import LaunchState
from bot.core.domain.measurement import Measurement, Workload
from bot.core.domain.message import Conversation, Json, Message, Posted
from bot.core.domain.operation import Actor, OperationState
from bot.core.domain.plan import Plan, Step, StepKind
from bot.core.domain.records import from_json, to_json
from bot.core.measuring.script import Progress
from bot.errors import RefusedError
from bot.resources import directory
from bot.workflows import measure as measuring_workflow
from bot.workflows import pictures
from bot.workflows.command_line import pythons_of
from bot.workflows.conversation import telling
from bot.workflows.measure import MeasurementCancelledError
from bot.workflows.ports import Run
from bot.workflows.propose import known_host
from bot.workflows.ready import against_text
from bot.workflows.services import Services
from bot.workflows.speed import judge, known_facts


def submit_bench(
    services: Services,
    *,
    request_id: str,
    launch: LaunchRecord,
    plan: Plan,
    workload: Workload,
    actor: Actor,
    conversation: Conversation,
    text: str,
) -> str:
    """Store and enqueue a measurement; gives its operation id."""
    operation = "m" + hashlib.sha256(f"{request_id}|bench|{launch.id}".encode()).hexdigest()[:9]
    measuring = Plan(
        operation="measure",
        host=launch.host,
        config=launch.config,
        revision=launch.revision,
        engine=plan.engine,
        model=plan.model,
        port=plan.port,
        runner=plan.runner,
        steps=(Step(kind=StepKind.MEASURE, summary=f"measure {launch.config}"),),
    )
    services.operations.propose(
        operation=operation,
        plan=measuring,
        conversation=conversation,
        actor=actor,
        text=text,
        note="",
        at=services.clock.now(),
    )
    services.operations.set_state(operation, OperationState.RUNNING, at=services.clock.now())
    services.runs.submit(
        "bench_v1",
        run_id=f"bench:{operation}",
        partition=launch.host,
        arguments={"operation": operation, "launch": launch.id, "workload": to_json(workload)},
    )
    return operation


def bench(services: Services, run: Run, arguments: Mapping[str, Any]) -> Json:
    """Carry out a measurement. arguments: operation, launch, workload."""
    operation = str(arguments["operation"])
    details = services.operations.details(operation)
    conversation: Conversation = details["conversation"]
    ended = {"state": OperationState.FAILED}

    def work() -> None:
        began = services.clock.monotonic_s()
        card = from_json(Posted, run.step("say begins", lambda: _begin(services, arguments, conversation)))
        try:
            stored: Any = run.step("measure", lambda: _measure(services, arguments, card))
        except MeasurementCancelledError:
            ended["state"] = OperationState.CANCELLED
            run.step("say cancelled", lambda: _say_cancelled(services, arguments, card))
            return
        took_s = services.clock.monotonic_s() - began
        run.step("say result", lambda: _say(services, arguments, card, stored, took_s))
        run.step("draw", lambda: pictures.levels(services, launch_id, operation, conversation))
        ended["state"] = OperationState.SUCCEEDED

    launch_id = str(arguments["launch"])
    outcome = telling(services, run, conversation, operation, work)
    run.step("close", lambda: _close(services, operation, ended["state"]))
    return outcome


def _begin(services: Services, arguments: Mapping[str, Any], conversation: Conversation) -> Json:
    message = _progress(services, arguments, None)
    posted = services.messenger.post(conversation, message, key=f"{arguments['operation']}:bench")
    result: Json = to_json(posted)
    return result


def _measure(services: Services, arguments: Mapping[str, Any], card: Posted) -> Json:
    launch, plan = _launch(services, arguments)
    operation = str(arguments["operation"])
    if launch.state != LaunchState.READY:
        raise RefusedError(
            f"{launch.config} on {launch.host} is {launch.state} by now", remedy="measure the one that runs"
        )

    def progress(step: Progress) -> None:
        services.messenger.update(card, _progress(services, arguments, step))

    measurement = measuring_workflow.measure(
        services.remote,
        known_host(services, launch.host),
        plan.port or 0,
        services.engines[plan.engine],
        None,
        from_json(Workload, arguments["workload"]),
        services.clock,
        progress,
        script=(directory("templates") / "scripts" / "load.py").read_bytes(),
        local=services.local_python,
        cancelled=lambda: services.operations.state(operation) is OperationState.CANCELLED,
        facts=known_facts(services, launch.id),
        pythons=pythons_of(plan),
    )
    services.launches.add_measurement(launch.id, measurement)
    result: Json = to_json(measurement)
    return result


def _say(services: Services, arguments: Mapping[str, Any], card: Posted, stored: Any, took_s: float) -> Json:
    launch, _ = _launch(services, arguments)
    measurement = from_json(Measurement, stored)
    judged = judge(services, launch, measurement)
    pin = {
        "label": "Pin as baseline",
        "action": "run",
        "operation": "",
        "extra": {"text": f"pin launch {launch.number} as baseline"},
    }
    message = Message(
        template="bench",
        context={
            "config": launch.config,
            "host": launch.host,
            "measurement": stored,
            "verdict": to_json(judged.verdict) if judged.verdict else None,
            "against": against_text(judged),
            "took_s": took_s,
            "offers": [pin],
        },
    )
    services.messenger.update(card, message, final=True)
    return None


def _say_cancelled(services: Services, arguments: Mapping[str, Any], card: Posted) -> Json:
    launch, _ = _launch(services, arguments)
    context = {
        "state": "cancelled",
        "verb": "measure",
        "config": launch.config,
        "host": launch.host,
        "by": None,
        "left": "The server goes on as before.",
    }
    services.messenger.update(card, Message(template="cancelled", context=context), final=True)
    return None


def _progress(services: Services, arguments: Mapping[str, Any], step: Progress | None) -> Message:
    launch, _ = _launch(services, arguments)
    workload = from_json(Workload, arguments["workload"])
    levels = []
    for at, width in enumerate(workload.concurrency, 1):
        state = "waiting" if step is None or at > step.level else "active" if at == step.level else "done"
        speed = step.decode_tok_s if step is not None and at == step.level else None
        levels.append({"concurrency": width, "state": state, "aggregate_tok_s": None, "decode_tok_s": speed})
    return Message(
        template="bench_progress",
        context={
            "config": launch.config,
            "host": launch.host,
            "operation": str(arguments["operation"]),
            "elapsed_s": step.elapsed_s if step else 0.0,
            "limit_s": step.limit_s if step else None,
            "levels": levels,
        },
    )


def _launch(services: Services, arguments: Mapping[str, Any]) -> tuple[LaunchRecord, Plan]:
    launch = services.launches.get(str(arguments["launch"]))
    plan = services.launches.plan(str(arguments["launch"]))
    assert launch is not None
    assert plan is not None
    return launch, plan


def _close(services: Services, operation: str, state: OperationState) -> Json:
    services.operations.set_state(operation, state, at=services.clock.now())
    return state.value
