"""status: what runs now, and who holds the GPUs."""

from typing import Any

from bot.commands._spec import CommandSpec
from bot.core.domain.command import Intent
from bot.core.domain.message import Message
from bot.core.domain.operation import Permission
from bot.core.domain.reading import Known
from bot.core.facts import HostFacts, gpu_processes, gpus
from bot.errors import RelaunchError
from bot.workflows.answer import answer
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
        if request.command.model:
            views = tuple(v for v in views if _serves(services, v, request.command.model)) or views
        return Message(
            template="status",
            context={
                "host": host,
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
                "gpus": [g for name, facts in seen.items() if isinstance(facts, HostFacts) for g in _gpus(name, facts)],
                "unreachable": [
                    {"host": name, "reason": error.message}
                    for name, error in seen.items()
                    if isinstance(error, RelaunchError)
                ],
            },
        )

    answer(services, request, run, look)


def _serves(services: Services, view: ServerView, model: str) -> bool:
    plan = services.launches.plan(view.launch.id)
    config = services.catalog.catalog().configs.get(view.launch.config)
    return model in ((plan.model if plan else ""), (config.model if config else ""))


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


def _gpus(host: str, facts: HostFacts) -> list[dict[str, Any]]:
    reading, holders = facts.reading(gpus.FACT), facts.reading(gpu_processes.FACT)
    if not isinstance(reading, Known):
        return []
    processes = holders.value if isinstance(holders, Known) else ()
    return [
        {
            "host": host,
            "index": gpu.index,
            "name": gpu.name,
            "used_mib": gpu.memory_used_mib,
            "total_mib": gpu.memory_total_mib,
            "holders": [_holder(p) for p in processes if p.gpu_uuid == gpu.uuid],
        }
        for gpu in reading.value
    ]


def _holder(held: gpu_processes.GpuProcess) -> str:
    owner = held.process.owner or "owner not visible"
    size = f", {held.memory_mib / 1024:.1f} GiB" if held.memory_mib is not None else ""
    return f"{held.process.unit or held.name} (pid {held.process.pid}, {owner}{size})"


COMMAND = CommandSpec(intent=Intent.STATUS, permission=Permission.READ, run=_run)
