"""change: a follow-up that modifies the launch of the thread."""

from bot.commands._asking import ask
from bot.commands._spec import CommandSpec
from bot.commands.restart import restart
from bot.core.domain.command import Intent
from bot.core.domain.operation import Permission
from bot.workflows.ports import Run
from bot.workflows.services import Request, Services


def _run(services: Services, request: Request, run: Run) -> None:
    if request.command.ask:
        ask(services, request, run)
        return
    restart(services, request, run, "change")


COMMAND = CommandSpec(intent=Intent.CHANGE, permission=Permission.OPERATE, run=_run)
