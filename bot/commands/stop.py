"""stop: end a server and prove that it is gone."""

from bot.commands._asking import ask
from bot.commands._running import settled_by_running, target_config
from bot.commands._spec import CommandSpec
from bot.commands._wanted import need_host, wanted
from bot.core.domain.command import Intent
from bot.core.domain.operation import Permission
from bot.workflows.ports import Run
from bot.workflows.propose import propose
from bot.workflows.services import Request, Services


def _run(services: Services, request: Request, run: Run) -> None:
    request = settled_by_running(services, request)
    command = request.command
    if command.ask:
        ask(services, request, run)
        return
    host = need_host(command)
    target = target_config(services, host, command.config, command.candidates, command.models)
    asked = wanted(request, "stop", host, None, target=target)
    propose(services, run, asked, request.actor, request.conversation)


COMMAND = CommandSpec(intent=Intent.STOP, permission=Permission.OPERATE, run=_run)
