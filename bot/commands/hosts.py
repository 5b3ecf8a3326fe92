"""hosts: the inventory, and who answers."""

from bot.commands._spec import CommandSpec
from bot.core.domain.command import Intent
from bot.core.domain.message import Message
from bot.core.domain.operation import Permission
from bot.errors import RelaunchError
from bot.workflows.answer import answer
from bot.workflows.look import look_everywhere
from bot.workflows.ports import Run
from bot.workflows.services import Request, Services


def _run(services: Services, request: Request, run: Run) -> None:
    def look() -> Message:
        inventory = services.hosts.inventory().hosts
        seen = look_everywhere(services, inventory.values(), only=("uptime",))
        running = [one.host for one in services.launches.running()]
        rows = []
        for name, host in inventory.items():
            error = seen[name]
            failed = error if isinstance(error, RelaunchError) else None
            rows.append(
                {
                    "name": name,
                    "address": host.address,
                    "gpus": host.gpus,
                    "tags": list(host.tags),
                    "protected": host.protected,
                    "reachable": failed is None,
                    "reason": failed.message if failed else None,
                    "servers": running.count(name),
                }
            )
        return Message(template="hosts", context={"hosts": rows})

    answer(services, request, run, look)


COMMAND = CommandSpec(intent=Intent.HOSTS, permission=Permission.READ, run=_run)
