"""history: launches and who did what, newest first; the first line answers what was asked."""

from bot.commands._spec import CommandSpec
from bot.core.access import TERMINAL
from bot.core.domain.command import Intent
from bot.core.domain.message import Message
from bot.core.domain.operation import Permission
from bot.workflows.answer import answer
from bot.workflows.look_back import asked_in, look_back
from bot.workflows.ports import Run
from bot.workflows.services import Request, Services


def _run(services: Services, request: Request, run: Run) -> None:
    # nobody can be mentioned in a terminal
    names = request.actor.id.startswith(TERMINAL)

    def look() -> Message:
        return look_back(services, asked_in(services, request.command, request.actor, names=names))

    answer(services, request, run, look)


COMMAND = CommandSpec(intent=Intent.HISTORY, permission=Permission.READ, run=_run)
