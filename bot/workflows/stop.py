"""Stop a server and prove that it is gone: process tree, port, GPU memory; else name what is left."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.core.domain.catalog import LaunchRecord
from bot.core.domain.launch import LaunchState
from bot.core.domain.message import Json, Message
from bot.core.domain.plan import Step, StepKind
from bot.core.domain.records import from_json, to_json
from bot.core.domain.runner import StopResult, StopTarget
from bot.workflows.job import Job
from bot.workflows.stale import stale
from bot.workflows.steady import steady

#: states in which a server may be on the host
_ALIVE = (LaunchState.STARTING, LaunchState.READY, LaunchState.STOPPING)


def stop(job: Job, step: Step) -> Json:
    """Stop what the step names, record and say it. Gives {"result": StopResult, "took_s"}, or {"stale": why} where
    the restart's plan no longer holds and nothing was done."""
    services = job.services
    launch = _launch_of(job, step)
    # this very step may have been interrupted after its effect
    again = launch is not None and launch.state in (LaunchState.STOPPING, LaunchState.STOPPED)
    alive = launch is not None and launch.state in _ALIVE
    plan = services.launches.plan(launch.id) if launch else None
    name = step.runner or (plan.runner if plan else (job.plan.runner if step.unit else "process"))
    port = plan.port if plan else job.plan.port
    restarts = any(one.kind is StepKind.START for one in job.plan.steps)
    if restarts and launch is not None and not again and (why := stale(job)) is not None:
        return {"stale": why}
    began = services.clock.monotonic_s()
    if launch is not None and alive:
        services.launches.set_state(launch.id, LaunchState.STOPPING, at=services.clock.now())
    runner = services.runners[name]
    target = StopTarget(unit=step.unit, runner=name, pid=step.pid, port=port)
    result = steady(
        services.clock,
        lambda: runner.parse_stop(services.remote.run(job.host, runner.stop(target, services.script))),
    )
    took_s = services.clock.monotonic_s() - began
    if launch is not None and alive and not result.survivors:
        services.launches.set_state(
            launch.id, LaunchState.STOPPED, at=services.clock.now(), detail="stopped on request", by=job.actor.id
        )
    job.post("stopped", _message(job, launch, target, replace(result, acted=result.acted or again), took_s))
    return {"result": to_json(result), "took_s": took_s}


def gone(outcome: Mapping[str, Any]) -> bool:
    """Whether the start that follows may go on: nothing of it lives."""
    return not from_json(StopResult, outcome["result"]).survivors


def stop_cancelled(job: Job) -> Json:
    """End a launch of ours that a person cancelled while it started."""
    services = job.services
    target = StopTarget(unit=job.unit, runner=job.plan.runner, port=job.plan.port, grace_s=10)
    result = steady(
        services.clock,
        lambda: job.runner.parse_stop(services.remote.run(job.host, job.runner.stop(target, services.script))),
    )
    now = services.clock.now()
    services.launches.set_state(job.operation, LaunchState.CANCELLED, at=now, detail="cancelled", by=job.actor.id)
    left = ", ".join(f"pid {one.pid} {one.command}" for one in result.survivors)
    return _say_cancelled(job, f"Still there: {left}." if left else "The server that was starting was stopped.")


def say_cancelled(job: Job) -> Json:
    """Say that an operation ended before its next step."""
    return _say_cancelled(job, None)


def _say_cancelled(job: Job, left: str | None) -> Json:
    context = {
        "state": "cancelled",
        "verb": job.plan.operation,
        "config": job.plan.config,
        "host": job.plan.host,
        "by": None,
        "left": left,
    }
    return job.post("cancelled", Message(template="cancelled", context=context))


def _launch_of(job: Job, step: Step) -> LaunchRecord | None:
    """The launch whose unit is stopped; one that counts as ended too, as this step may have recorded that already."""
    launches = job.services.launches
    for launch in (*launches.running(job.plan.host), *launches.recent(host=job.plan.host)):
        if step.unit is not None and launches.unit(launch.id) == step.unit:
            return launch
    return None


def _message(job: Job, launch: LaunchRecord | None, target: StopTarget, result: StopResult, took_s: float) -> Message:
    proof, open_ = _proof(target, result)
    now = job.services.clock.now()
    restart = None
    if launch is not None and job.plan.operation == "stop":
        label = f"Start {launch.config} again"
        extra = {"config": launch.config, "host": launch.host, "revision": launch.revision}
        restart = {"label": label, "action": "relaunch", "operation": job.operation, "extra": extra}
    return Message(
        template="stopped",
        context={
            "config": launch.config if launch else (target.unit or f"process {target.pid}"),
            "host": job.plan.host,
            "by": job.actor.id,
            "approved_by": approver(job),
            "took_s": took_s,
            "uptime_s": (now - launch.started_at).total_seconds() if launch else None,
            "proof": proof,
            "orphans": [
                {"pid": one.pid, "command": one.command, "owner": one.user, "gpu_mib": one.gpu_mib}
                for one in result.survivors
            ],
            "open": open_,
            "note": job.note or None,
            "restart": restart,
        },
    )


def approver(job: Job) -> str | None:
    """Who approved it, where that is somebody else than who asked."""
    approval = job.services.operations.approval(job.operation)
    decided = approval.decided_by if approval else None
    return decided if decided != job.actor.id else None


def _proof(target: StopTarget, result: StopResult) -> tuple[list[str], list[str]]:
    """What was seen to be gone, and what could not be seen or is still there."""
    proof, open_ = [], []
    if not result.survivors:
        proof.append("its processes are gone" if result.acted else "it had ended before")
    if target.port is not None and result.port_open is False:
        proof.append(f"port {target.port} is closed")
    elif target.port is not None and result.port_open:
        open_.append(f"port {target.port} is still open: {result.port_owner or 'owner not visible'}")
    elif target.port is not None:
        open_.append(f"port {target.port} could not be looked at")
    before, after = result.gpu_mib_before, result.gpu_mib_after
    if before and after:
        freed = sum(before.values()) - sum(after.values())
        # nothing is freed while one looks where the memory was returned before, or never taken
        proof.append(
            f"GPU memory returned: {freed / 1024:.1f} GiB"
            if freed > 0
            else f"GPU memory in use on the host: {sum(after.values()) / 1024:.1f} GiB"
        )
    else:
        open_.append("GPU memory could not be looked at")
    if result.killed:
        proof.append(f"it had to be killed after {target.grace_s} s")
    if result.enabled:
        why = "its container is always restarted" if target.runner == "docker" else "its unit is enabled"
        open_.append(f"{why}: it starts again when the host boots")
    if result.reason:
        open_.append(result.reason)
    return proof, open_
