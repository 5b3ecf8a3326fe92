"""restart: stop what runs and start it again, with its own config or the one that is named."""

from dataclasses import replace

from bot.commands._asking import ask
from bot.commands._running import settled_by_running, target_config
from bot.commands._spec import CommandSpec
from bot.commands._wanted import need_host, referred, wanted
from bot.core.domain.catalog import LaunchRecord
from bot.core.domain.command import Intent
from bot.core.domain.operation import Permission
from bot.errors import RefusedError
from bot.workflows.ports import Run
from bot.workflows.propose import propose
from bot.workflows.services import Request, Services


def _run(services: Services, request: Request, run: Run) -> None:
    settled = settled_by_running(services, request)
    if settled.command.ask:
        ask(services, settled, run)
        return
    restart(services, settled, run, "restart")


def restart(services: Services, request: Request, run: Run, verb: str) -> None:
    """Plan a restart; where nothing of it runs, a start."""
    command = request.command
    host = need_host(command)
    running = services.launches.running(host)
    target = target_config(services, host, command.config, command.candidates, command.models)
    launch = _launch(running, target)
    config = command.config or (launch.config if launch else None) or target
    if config is None and len(running) == 1:
        launch, config = running[0], running[0].config
    if config is None:
        raise RefusedError(f"it is not clear what to {verb} on {host}", remedy="name the config", host=host)
    replaced = launch or (running[0] if len(running) == 1 else None)
    if replaced is None:
        # a follow-up goes on from the launch of its thread
        thread = services.launches.in_thread(request.conversation) if request.conversation.joined else None
        meant = referred(services, request, config) or (
            thread.revision if thread is not None and thread.config == config else None
        )
        asked = replace(wanted(request, verb, host, config, target=config, revision=meant), unless_found=True)
    else:
        # a restart keeps the revision that runs, unless another config is named
        same = replaced.config == config and command.reference is None
        keeps = replaced.revision if same else referred(services, request, config)
        asked = wanted(request, verb, host, config, target=replaced.config, revision=keeps)
    propose(services, run, asked, request.actor, request.conversation)


def _launch(running: tuple[LaunchRecord, ...], config: str | None) -> LaunchRecord | None:
    return next((one for one in running if one.config == config), None)


COMMAND = CommandSpec(intent=Intent.RESTART, permission=Permission.OPERATE, run=_run)
