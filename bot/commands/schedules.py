"""schedules: the reports that are posted."""

from bot.commands._spec import CommandSpec
from bot.core.domain.command import Intent
from bot.core.domain.message import Message
from bot.core.domain.operation import Permission
from bot.workflows.answer import answer
from bot.workflows.ports import Run
from bot.workflows.rhythm import rhythm
from bot.workflows.services import Request, Services


def listing(services: Services) -> Message:
    """All schedules, each with a button that removes it."""
    return Message(
        template="schedules",
        context={
            "schedules": [
                {
                    "id": one.id,
                    "rhythm": rhythm(one),
                    "channel": one.channel,
                    "host": one.host,
                    "next_at": None,
                    "by": one.created_by,
                }
                for one in services.schedules.all()
            ]
        },
    )


def _run(services: Services, request: Request, run: Run) -> None:
    answer(services, request, run, lambda: listing(services))


COMMAND = CommandSpec(intent=Intent.SCHEDULES, permission=Permission.READ, run=_run)
