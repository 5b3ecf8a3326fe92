"""schedule: post health reports to a channel on a rhythm."""

import hashlib
import re
from datetime import timedelta

from bot.commands._spec import CommandSpec
from bot.core.access import TERMINAL
from bot.core.domain.command import Intent
from bot.core.domain.message import Message
from bot.core.domain.operation import AuditEvent, Permission, Schedule
from bot.errors import BadInputError
from bot.workflows.answer import answer
from bot.workflows.ports import Run
from bot.workflows.rhythm import rhythm
from bot.workflows.services import Request, Services

_ISO = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")
LEAST_S = 60


def seconds(duration: str) -> int:
    """Seconds of an ISO 8601 duration of days, hours, minutes and seconds. Raises BadInputError."""
    match = _ISO.fullmatch(duration)
    if match is None:
        raise BadInputError(f"{duration} is no duration", remedy="say it as “every 30 minutes”")
    days, hours, minutes, secs = (int(part or 0) for part in match.groups())
    return int(timedelta(days=days, hours=hours, minutes=minutes, seconds=secs).total_seconds())


def _run(services: Services, request: Request, run: Run) -> None:
    command = request.command
    if command.ask:
        from bot.commands._asking import ask

        ask(services, request, run)
        return
    every_s = seconds(command.every) if command.every else None
    if every_s is not None and every_s < LEAST_S:
        raise BadInputError("reports can be posted once a minute at most", remedy="choose a longer rhythm")

    channel = command.channel_id or request.conversation.channel
    if channel.startswith(TERMINAL):
        raise BadInputError(
            "reports are posted into a channel of Slack", remedy="say it there, or in a direct message to the bot"
        )

    def work() -> Message:
        # the same rhythm for the same host and channel is the same schedule: said twice, it is posted once
        same = f"{channel}|{command.host}|{command.cron}|{every_s}"
        schedule = Schedule(
            id=hashlib.sha256(same.encode()).hexdigest()[:10],
            channel=channel,
            host=command.host,
            cron=command.cron,
            every_s=every_s,
            time_zone=request.actor.time_zone,
            created_by=request.actor.id,
            created_at=services.clock.now(),
        )
        known = {one.id for one in services.schedules.all()}
        services.schedules.add(schedule)
        services.audit.add(
            AuditEvent(
                at=services.clock.now(), actor=request.actor.id, action="schedule", host=command.host,
                outcome="scheduled", detail=rhythm(schedule),
            )
        )  # fmt: skip
        return Message(
            template="scheduled",
            context={
                "schedule": schedule.id,
                "rhythm": rhythm(schedule),
                "host": schedule.host,
                "next_at": None,
                "time_zone": schedule.time_zone,
                "replaced": schedule.id in known,
            },
        )

    answer(services, request, run, work)


COMMAND = CommandSpec(intent=Intent.SCHEDULE, permission=Permission.OPERATE, run=_run)
