"""unschedule: end scheduled reports of a channel."""

from bot.commands._spec import CommandSpec
from bot.core.domain.command import Intent
from bot.core.domain.message import Message
from bot.core.domain.operation import AuditEvent, Permission, Schedule
from bot.workflows.answer import answer
from bot.workflows.ports import Run
from bot.workflows.rhythm import rhythm
from bot.workflows.services import Request, Services


def _run(services: Services, request: Request, run: Run) -> None:
    command = request.command

    def meant(schedule: Schedule) -> bool:
        if command.schedule:
            return schedule.id == command.schedule
        channel = command.channel_id or request.conversation.channel
        here = command.all or schedule.channel == channel
        return here and command.host in (None, schedule.host)

    def work() -> Message:
        removed = [one for one in services.schedules.all() if meant(one) and services.schedules.remove(one.id)]
        for one in removed:
            services.audit.add(
                AuditEvent(
                    at=services.clock.now(), actor=request.actor.id, action="unschedule", host=one.host,
                    outcome="removed", detail=rhythm(one),
                )
            )  # fmt: skip
        return Message(template="unscheduled", context={"removed": [rhythm(one) for one in removed]})

    answer(services, request, run, work)


COMMAND = CommandSpec(intent=Intent.UNSCHEDULE, permission=Permission.OPERATE, run=_run)
