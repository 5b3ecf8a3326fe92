"""A server is up: prove it, say it, measure it, compare it with what is known."""

import shlex
from typing import Any

from bot.core.domain.launch import LaunchState
from bot.core.domain.measurement import Measurement
from bot.core.domain.message import Json, Message
from bot.core.domain.reading import Known
from bot.core.domain.records import to_json
from bot.core.facts import HostFacts, containers, ports
from bot.core.facts._processes import Process, is_forwarder
from bot.core.measuring.script import Progress
from bot.core.planning import probe_target
from bot.errors import RelaunchError
from bot.resources import directory
from bot.workflows import measure as measuring_workflow
from bot.workflows.command_line import command_of, pythons_of, runs_as_planned
from bot.workflows.drift import kept_facts, planned_revision
from bot.workflows.job import Job
from bot.workflows.look import look
from bot.workflows.speed import Judged, judge, known_facts
from bot.workflows.steady import steady

_FACTS = ("ports", "engine_version", "driver", "gpus", "model_files", "containers")
_TOKEN_CHARACTERS = 40


def prove(job: Job) -> dict[str, Any]:
    """What shows that this is the server that was planned. Gives {"proof", "doubts", "url"}; marks the launch ready."""
    services = job.services
    services.launches.set_state(job.operation, LaunchState.READY, at=services.clock.now())
    proof: list[str] = []
    doubts: list[str] = []
    status = steady(
        services.clock,
        lambda: job.runner.parse_state(services.remote.run(job.host, job.runner.state(job.unit, services.script))),
    )
    facts = _facts(job)
    _prove_process(job, status.pid, proof, doubts)
    if facts is not None:
        _prove_port(job, facts, status.pid, proof, doubts)
        services.launches.set_facts(
            job.operation, kept_facts(facts, services.engines[job.plan.engine], planned_revision(job.plan))
        )
    _prove_token(job, proof, doubts)
    return {"proof": proof, "doubts": doubts, "url": f"http://{job.host.address}:{job.plan.port}"}


def _facts(job: Job) -> HostFacts | None:
    config = job.services.catalog.catalog().configs.get(job.plan.config or "")
    revision = config.revision(job.plan.revision) if config else None
    target = probe_target(job.services.engines[job.plan.engine], revision) if revision else None
    try:
        return look(job.services, job.host, target, only=_FACTS)
    except RelaunchError:
        return None


def _prove_process(job: Job, pid: int | None, proof: list[str], doubts: list[str]) -> None:
    if pid is None:
        doubts.append("its main process was not seen")
        return
    try:
        running = command_of(job.services, job.host, pid)
    except RelaunchError:
        running = None
    if running is None:
        doubts.append(f"the command line of process {pid} could not be read")
        return
    if runs_as_planned(running, job.plan):
        proof.append(f"process {pid} runs exactly the planned command")
    else:
        doubts.append(f"process {pid} runs another command line than planned: {shlex.join(running)[:300]}")


def _prove_port(job: Job, facts: HostFacts, pid: int | None, proof: list[str], doubts: list[str]) -> None:
    reading = facts.reading(ports.FACT)
    if not isinstance(reading, Known):
        doubts.append(f"who owns port {job.plan.port} could not be looked at: {reading.reason}")
        return
    owners = [one.process for one in reading.value if one.port == job.plan.port]
    seen = [owner for owner in owners if owner is not None]
    mine = [owner for owner in seen if owner.pid == pid or owner.parent_pid == pid or _is_of(job, owner, facts)]
    if mine:
        proof.append(f"process {mine[0].pid} of it owns port {job.plan.port}")
    elif seen:
        doubts.append(f"port {job.plan.port} is owned by process {seen[0].pid}, which is not seen to be of this launch")
    else:
        doubts.append(f"the owner of port {job.plan.port} is not visible")


def _is_of(job: Job, owner: Process, facts: HostFacts) -> bool:
    """Whether a process belongs to the unit or container, or holds a published port for it."""
    if job.plan.container is None:
        return (owner.unit or "").removesuffix(".service") == job.unit
    seen = facts.reading(containers.FACT)
    box = next((one for one in seen.value.boxes if one.name == job.unit), None) if isinstance(seen, Known) else None
    return box is not None and (owner.container == box.short_id or (is_forwarder(owner) and job.plan.port in box.ports))


def _prove_token(job: Job, proof: list[str], doubts: list[str]) -> None:
    server, port = job.services.model_server, job.plan.port
    try:
        with job.services.remote.forward(job.host, port or 0) as local:
            url = f"http://127.0.0.1:{local}"
            models = server.models(url)
            token = server.token(url, models[0] if models else job.plan.model)
    except RelaunchError as error:
        doubts.append(f"no token came back: {error.message}")
        return
    wanted = _served_names(job)
    if models and (not wanted or models[0] in wanted):
        proof.append(f"it serves {models[0]}")
    else:
        doubts.append(f"it serves {models[0] if models else 'no model'}, planned was {wanted[0]}")
    proof.append(f"a real token came back: “{token.strip()[:_TOKEN_CHARACTERS]}”")


def _served_names(job: Job) -> list[str]:
    engine = job.services.engines[job.plan.engine]
    flags = engine.parse(job.plan.argv).flags
    named = flags.get("served-model-name") or flags.get("alias")
    if isinstance(named, list):
        return [str(name) for name in named]
    return [str(named)] if isinstance(named, str) else [job.plan.model]


def say(job: Job, proof: Any, *, measuring: bool) -> Json:
    """Post that it is ready."""
    return job.post("ready", _message(job, proof, measuring=measuring, judged=None, problem=None))


def measure(job: Job) -> Json:
    """Measure and store; gives None, or why it could not be measured."""
    services, plan = job.services, job.plan
    launch = services.launches.get(job.operation)
    there = services.launches.measurements(job.operation)
    if there or launch is None or plan.port is None:
        return None
    try:
        measurement = measuring_workflow.measure(
            services.remote,
            job.host,
            plan.port,
            services.engines[plan.engine],
            None,
            services.workload,
            services.clock,
            _ignore,
            script=(directory("templates") / "scripts" / "load.py").read_bytes(),
            local=services.local_python,
            facts=known_facts(services, job.operation),
            pythons=pythons_of(plan),
        )
    except RelaunchError as error:
        services.launches.set_facts(job.operation, {"_not_measured": error.message[:500]})
        return error.message
    services.launches.add_measurement(job.operation, measurement)
    return None


def _ignore(_: Progress) -> None:
    """The start's own card says that it measures."""


def say_speed(job: Job, proof: Any) -> Json:
    """Edit the ready message: speed, accept length, verdict against the baseline."""
    launch = job.services.launches.get(job.operation)
    measurements = job.services.launches.measurements(job.operation)
    if launch is None or not measurements:
        problem = job.services.launches.facts(job.operation).get("_not_measured", "it was not measured")
        job.update("ready", _message(job, proof, measuring=False, judged=None, problem=problem), final=True)
        return None
    judged = judge(job.services, launch, measurements[-1])
    job.update("ready", _message(job, proof, measuring=False, judged=judged, problem=None), final=True)
    return None


def speed_context(measurement: Measurement) -> dict[str, Any]:
    """`speed` of the ready message."""
    first = measurement.levels[0] if measurement.levels else None
    return {
        "decode_tok_s": first.decode_tok_s if first else None,
        "spread_pct": first.spread_pct if first else None,
        "ttft_ms": first.ttft_ms_p50 if first else None,
        "accept_length": measurement.accept_length,
        "aggregate": [
            {"concurrency": level.concurrency, "aggregate_tok_s": level.aggregate_tok_s}
            for level in measurement.levels
            # one stream together is the line above it once more
            if level.concurrency > 1
        ],
        "where": measurement.where,
    }


def _message(job: Job, proof: Any, *, measuring: bool, judged: Judged | None, problem: str | None) -> Message:
    launch = job.services.launches.get(job.operation)
    caveats = [*proof["doubts"], *(judged.measurement.caveats if judged else ()), *([problem] if problem else [])]
    if judged and judged.speculation:
        cost = judged.speculation
        caveats.append(
            f"speculation costs more than it brings here: {cost.decode_tok_s:.0f} tok/s with {cost.steps} steps, "
            f"{cost.none_tok_s:.0f} without (launch #{cost.without})"
        )
    slower = judged is not None and judged.verdict is not None and judged.verdict.kind == "slower"
    return Message(
        template="ready",
        context={
            "config": job.plan.config or "",
            "host": job.plan.host,
            "number": launch.number if launch else 0,
            "requested_by": job.actor.id,
            "note": job.note or None,
            "url": proof["url"],
            "ready_after_s": (launch.ready_after_s if launch else None) or 0.0,
            "usual_ready_s": job.plan.expected_ready_s,
            "proof": proof["proof"],
            "measuring": measuring,
            "speed": speed_context(judged.measurement) if judged else None,
            "caveats": caveats,
            "verdict": to_json(judged.verdict) if judged and judged.verdict else None,
            "against": against_text(judged),
            "offers": [_why_button(job)] if slower else [],
        },
    )


def against_text(judged: Judged | None) -> str | None:
    """ "launch #12 (pinned)" for a verdict; why there is nothing to compare with needs no words here."""
    if judged is None or judged.baseline is None:
        return None
    return f"launch #{judged.baseline.number} ({judged.why})"


def _why_button(job: Job) -> dict[str, Any]:
    return {
        "label": "Why is it slower?",
        "action": "run",
        "operation": job.operation,
        "extra": {"text": "why is it slower?"},
    }
