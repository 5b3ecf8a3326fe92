"""scan: find launches that others made on a host; read-only."""

from bot.commands._asking import ask
from bot.commands._spec import CommandSpec
from bot.core.domain.command import Intent
from bot.core.domain.operation import Permission
from bot.workflows.answer import answer
from bot.workflows.ports import Run
from bot.workflows.scan import scan_message
from bot.workflows.services import Request, Services


def _run(services: Services, request: Request, run: Run) -> None:
    host = request.command.host
    if request.command.ask or host is None:
        ask(services, request, run)
        return
    answer(services, request, run, lambda: scan_message(services, host, request.id))


COMMAND = CommandSpec(intent=Intent.SCAN, permission=Permission.OPERATE, run=_run)
