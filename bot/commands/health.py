"""health: hosts, GPUs, servers and a real token of each, now."""

from bot.commands._spec import CommandSpec
from bot.core.domain.command import Intent
from bot.core.domain.operation import Permission
from bot.workflows.answer import answer
from bot.workflows.ports import Run
from bot.workflows.report import health
from bot.workflows.services import Request, Services


def _run(services: Services, request: Request, run: Run) -> None:
    answer(services, request, run, lambda: health(services, request.command.host))


COMMAND = CommandSpec(intent=Intent.HEALTH, permission=Permission.READ, run=_run)
