"""show: one config, its revision, where each field comes from, and how well it is proven."""

from statistics import median
from typing import Any

from bot.commands._asking import ask
from bot.commands._spec import CommandSpec
from bot.core.catalog.proven import best_revision, lineage, was_ready
from bot.core.domain.catalog import LaunchRecord, Revision
from bot.core.domain.command import Intent
from bot.core.domain.message import Message
from bot.core.domain.operation import Permission
from bot.core.domain.records import to_json
from bot.workflows.answer import answer
from bot.workflows.find_launch import by_number
from bot.workflows.ports import Run
from bot.workflows.services import Request, Services


def _run(services: Services, request: Request, run: Run) -> None:
    command = request.command
    name = command.config or (request.context.config if request.context else None)
    revision = None
    if command.launch_numbers:
        launch = by_number(services, command.launch_numbers[0])
        name, revision = launch.config, launch.revision
    if name is None or name not in services.catalog.catalog().configs:
        ask(services, request, run)
        return
    answer(services, request, run, lambda: describe(services, name, revision))


def describe(services: Services, name: str, revision: str | None = None) -> Message:
    """The config as a message; `revision` None: the one that would be launched."""
    catalog = services.catalog.catalog()
    config = catalog.configs[name]
    launches = [one for one in catalog.launches if one.config == name]
    shown = config.revision(revision) or best_revision(config, launches)
    return Message(
        template="show",
        context={
            "name": name,
            "host": config.host,
            "aliases": list(config.aliases),
            "tags": list(config.tags),
            "archived": config.archived,
            "revision": {**to_json(shown), "id": shown.id},
            "number": [r.id for r in config.revisions].index(shown.id) + 1,
            "count": len(config.revisions),
            "pinned": config.pinned == shown.id,
            "proven": proven(launches, shown),
            "lineage": [_ancestor(one) for one in lineage(config, shown.id)[1:6]],
        },
    )


def proven(launches: list[LaunchRecord], revision: Revision) -> list[dict[str, Any]]:
    """How launches of this revision went, by host."""
    mine = [one for one in launches if one.revision == revision.id]
    rows = []
    for host in dict.fromkeys(one.host for one in mine):
        here = [one for one in mine if one.host == host]
        speeds = [one.decode_tok_s for one in here if one.decode_tok_s is not None]
        rows.append(
            {
                "host": host,
                "launches": len(here),
                "ready": sum(was_ready(one) for one in here),
                "decode_tok_s": median(speeds) if speeds else None,
                "engine_version": here[-1].engine_version,
                "last_at": here[-1].started_at.isoformat(),
            }
        )
    return rows


def _ancestor(revision: Revision) -> str:
    when = f", {revision.created_at:%d %b %Y}" if revision.created_at else ""
    return f"{revision.id} from {revision.source or 'unknown'}{when}"


COMMAND = CommandSpec(intent=Intent.SHOW, permission=Permission.READ, run=_run)
