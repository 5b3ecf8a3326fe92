"""A plan that waited is compared with the host once more, right before the first thing is done."""

from datetime import timedelta

from bot.core.domain.message import Json, Message
from bot.core.planning import changed_since
from bot.workflows.job import Job
from bot.workflows.propose import relied_on_now
from bot.workflows.steady import steady

#: a look that is older is taken again before anything is done
_FRESH = timedelta(seconds=5)


def stale(job: Job) -> str | None:
    """Why the plan no longer holds, looked at right before the first thing is done; None: it holds.

    Nobody looks again within seconds, unless a launch began on the host in between."""
    services = job.services
    if services.launches.get(job.operation) is not None:
        # this very start was interrupted after its effect
        return None
    approval = services.operations.approval(job.operation)
    looked = (approval.decided_at if approval else None) or services.operations.details(job.operation)["created_at"]
    newer = [one for one in services.launches.recent(host=job.plan.host, limit=5) if one.started_at >= looked]
    if services.clock.now() - looked <= _FRESH and not newer:
        return None
    now = steady(services.clock, lambda: relied_on_now(services, job.plan, job.operation))
    return "; ".join(changed_since(job.plan, now)) or None


def say(job: Job, why: str) -> Json:
    """Say that nothing was done and why, with a button that plans anew."""
    details = job.services.operations.details(job.operation)
    again = {
        "label": "Plan again",
        "action": "run",
        "operation": job.operation,
        "extra": {"text": str(details["text"])[:1500]},
    }
    context = {
        "state": "stale",
        "verb": job.plan.operation,
        "host": job.plan.host,
        "config": job.plan.config,
        "by": job.actor.id,
        "at": job.services.clock.now().isoformat(),
        "detail": why,
        "again": again if details["text"] else None,
    }
    return job.post("stale", Message(template="approval_closed", context=context))
