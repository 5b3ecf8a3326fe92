"""start: launch a config on a host."""

from bot.commands._asking import ask
from bot.commands._spec import CommandSpec
from bot.commands._wanted import need_host, referred, wanted
from bot.core.domain.command import Intent
from bot.core.domain.operation import Permission
from bot.workflows.ports import Run
from bot.workflows.propose import propose
from bot.workflows.services import Request, Services


def _run(services: Services, request: Request, run: Run) -> None:
    command = request.command
    if command.ask or command.config is None:
        ask(services, request, run)
        return
    meant = referred(services, request, command.config)
    asked = wanted(request, "start", need_host(command), command.config, revision=meant, when_free=command.when_free)
    propose(services, run, asked, request.actor, request.conversation)


COMMAND = CommandSpec(intent=Intent.START, permission=Permission.OPERATE, run=_run)
