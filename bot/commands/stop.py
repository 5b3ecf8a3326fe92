"""stop: end a server and prove that it is gone."""

from bot.commands._asking import ask
from bot.commands._spec import CommandSpec
from bot.commands._wanted import need_host, wanted
from bot.core.domain.command import Intent
from bot.core.domain.operation import Permission
from bot.workflows.ports import Run
from bot.workflows.propose import propose
from bot.workflows.services import Request, Services


def _run(services: Services, request: Request, run: Run) -> None:
    command = request.command
    if command.ask:
        ask(services, request, run)
        return
    host = need_host(command)
    target = target_config(services, host, command.config, command.candidates, command.models)
    asked = wanted(request, "stop", host, None, target=target)
    propose(services, run, asked, request.actor, request.conversation)


def target_config(
    services: Services, host: str, config: str | None, candidates: tuple[str, ...], models: tuple[str, ...]
) -> str | None:
    """Config of the running launch that is meant: the named one, else the one of the named model that runs there."""
    running = [one.config for one in services.launches.running(host)]
    if config in running:
        return config
    fitting = [name for name in running if name in candidates]
    if not fitting and models:
        configs = services.catalog.catalog().configs
        fitting = [name for name in running if name in configs and configs[name].model in models]
    return fitting[0] if len(fitting) == 1 else config


COMMAND = CommandSpec(intent=Intent.STOP, permission=Permission.OPERATE, run=_run)
