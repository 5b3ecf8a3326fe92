"""Start a server through its runner, once."""

from bot.core.domain.launch import LaunchState
from bot.core.domain.message import Json
from bot.core.domain.plan import StepKind
from bot.core.domain.reading import Known
from bot.core.domain.runner import StartOutcome
from bot.core.facts import kernel_log
from bot.errors import RelaunchError
from bot.workflows.job import Job
from bot.workflows.look import look
from bot.workflows.stale import stale
from bot.workflows.steady import steady

#: outcome of a start, or of a stop before it, that was not begun
STALE = "stale"


def kernel_lines(job: Job) -> tuple[str, ...]:
    """GPU errors and memory kills in the kernel's log, with their times; empty where it may not be read."""
    try:
        reading = look(job.services, job.host, only=("kernel_log",)).reading(kernel_log.FACT)
    except RelaunchError:
        return ()
    if not isinstance(reading, Known):
        return ()
    xids = tuple(f"{x.at} NVRM: Xid ({x.pci}): {x.code}, {x.text}" for x in reading.value.xids)
    return xids + tuple(f"{k.at} Out of memory: Killed process {k.pid} ({k.name})" for k in reading.value.oom_kills)


def start(job: Job) -> Json:
    """Begin the launch and start its unit. Gives {"outcome", "reason", "remedy"}; outcome "stale": the plan no longer
    holds, and nothing was done.

    The unit's name comes from the operation and the runner looks before it starts, so a second call starts nothing."""
    services = job.services
    stops_first = any(step.kind is StepKind.STOP for step in job.plan.steps)
    why = None if stops_first else stale(job)
    if why is not None:
        return {"outcome": STALE, "reason": why, "remedy": ""}
    services.launches.begin(
        operation=job.operation,
        plan=job.plan,
        unit=job.unit,
        conversation=job.conversation,
        actor=job.actor,
        note=job.note,
        at=services.clock.now(),
    )
    services.launches.set_facts(job.operation, {"_kernel_log_before": "\n".join(kernel_lines(job))})
    command = job.runner.start(job.plan, job.unit, services.script)
    result = steady(services.clock, lambda: job.runner.parse_start(services.remote.run(job.host, command)))
    if result.outcome is StartOutcome.FAILED:
        services.launches.set_state(
            job.operation, LaunchState.FAILED, at=services.clock.now(), detail=result.reason[:2000]
        )
    return {"outcome": result.outcome.value, "reason": result.reason, "remedy": result.remedy}
