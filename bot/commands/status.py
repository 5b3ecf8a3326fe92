"""status: what runs now, and who holds the GPUs."""

from typing import Any

from bot.commands._spec import CommandSpec
from bot.core.domain.catalog import LaunchRecord
from bot.core.domain.command import Command, Intent
from bot.core.domain.message import Message
from bot.core.domain.operation import Permission
from bot.core.facts import HostFacts
from bot.errors import RelaunchError
from bot.workflows.answer import answer
from bot.workflows.host_gpus import host_gpus
from bot.workflows.look import look_everywhere
from bot.workflows.ports import Run
from bot.workflows.servers import ServerView, observe_all
from bot.workflows.services import Request, Services

_FACTS = ("gpus", "gpu_processes")


def _run(services: Services, request: Request, run: Run) -> None:
    host = request.command.host

    def look() -> Message:
        inventory = services.hosts.inventory().hosts
        wanted = [h for h in inventory.values() if host in (None, h.name)]
        seen = look_everywhere(services, wanted, only=_FACTS)
        views = observe_all(services, host=host, prove_token=False)
        running: dict[str, list[LaunchRecord]] = {}
        for view in views:
            running.setdefault(view.launch.host, []).append(view.launch)
        asked = _asked(request.command)
        if asked:
            # asked of one model or config: its servers, and nothing of the rest
            views = tuple(v for v in views if _serves(services, v, request.command))
        shown = [] if asked else wanted
        return Message(
            template="status",
            context={
                "host": host,
                "asked": asked,
                "known_hosts": len(inventory),
                "at": services.clock.now().isoformat(),
                "servers": [_server(view) for view in views],
                "waiting": [
                    {
                        "config": one.config,
                        "host": one.host,
                        "by": one.actor.id,
                        "holders": list(one.holders),
                        "until_at": one.expires_at.isoformat(),
                        "away": one.away or None,
                    }
                    for one in services.waits.waiting(host)
                ],
                "hosts": [
                    {"name": h.name, "cards": host_gpus(services, h, facts, running.get(h.name, []))}
                    for h in shown
                    if isinstance(facts := seen[h.name], HostFacts)
                ],
                "unreachable": [
                    {"host": name, "reason": error.message}
                    for name, error in seen.items()
                    if isinstance(error, RelaunchError)
                ],
            },
        )

    answer(services, request, run, look)


def _asked(command: Command) -> str | None:
    """What the question is about, as it is named: a config, else a model."""
    if command.config or command.model:
        return command.config or command.model
    return ", ".join(command.candidates[:3]) or None


def _serves(services: Services, view: ServerView, command: Command) -> bool:
    if command.config or command.candidates:
        return view.launch.config in (command.config, *command.candidates)
    plan = services.launches.plan(view.launch.id)
    config = services.catalog.catalog().configs.get(view.launch.config)
    return command.model in ((plan.model if plan else ""), (config.model if config else ""))


def _server(view: ServerView) -> dict[str, Any]:
    metrics = view.metrics
    return {
        "config": view.launch.config,
        "host": view.launch.host,
        "engine": view.engine or None,
        "port": view.port,
        "state": view.launch.state if view.health_status == 200 else f"{view.launch.state}, but {view.reason}",
        "uptime_s": view.uptime_s,
        "decode_tok_s": view.launch.decode_tok_s,
        "running_requests": metrics.running_requests if metrics else None,
        "waiting_requests": metrics.waiting_requests if metrics else None,
        "accept_length": view.launch.accept_length,
        "by": view.launch.requested_by or None,
        "note": view.launch.note or None,
    }


COMMAND = CommandSpec(intent=Intent.STATUS, permission=Permission.READ, run=_run)
