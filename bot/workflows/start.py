"""Start a server through its runner, once."""

from bot.core.domain.launch import LaunchState
from bot.core.domain.message import Json
from bot.core.domain.runner import StartOutcome
from bot.workflows.job import Job
from bot.workflows.steady import steady


def start(job: Job) -> Json:
    """Begin the launch and start its unit. Gives {"outcome", "reason", "remedy"}.

    The unit's name comes from the operation and the runner looks before it starts, so a second call starts nothing."""
    services = job.services
    services.launches.begin(
        operation=job.operation,
        plan=job.plan,
        unit=job.unit,
        conversation=job.conversation,
        actor=job.actor,
        note=job.note,
        at=services.clock.now(),
    )
    command = job.runner.start(job.plan, job.unit, services.script)
    result = steady(services.clock, lambda: job.runner.parse_start(services.remote.run(job.host, command)))
    if result.outcome is StartOutcome.FAILED:
        services.launches.set_state(
            job.operation, LaunchState.FAILED, at=services.clock.now(), detail=result.reason[:2000]
        )
    return {"outcome": result.outcome.value, "reason": result.reason, "remedy": result.remedy}
