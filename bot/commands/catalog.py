"""catalog: the launch configs that are known."""

from typing import Any

from bot.commands._spec import CommandSpec
from bot.core.catalog.proven import decode_tok_s, was_ready
from bot.core.domain.catalog import Catalog, LaunchConfig
from bot.core.domain.command import Command, Intent
from bot.core.domain.message import Message
from bot.core.domain.operation import Permission
from bot.workflows.answer import answer
from bot.workflows.ports import Run
from bot.workflows.services import Request, Services


def _run(services: Services, request: Request, run: Run) -> None:
    command = request.command

    def look() -> Message:
        catalog = services.catalog.catalog()
        chosen = [config for config in catalog.configs.values() if _fits(command, config)]
        asked = " ".join(filter(None, (command.config or command.model, f"on {command.host}" if command.host else "")))
        return Message(
            template="catalog",
            context={
                "configs": [row(catalog, config) for config in chosen],
                "asked": asked or None,
                "total": len(catalog.configs),
            },
        )

    answer(services, request, run, look)


def _fits(command: Command, config: LaunchConfig) -> bool:
    if config.archived and not command.config:
        return False
    if command.host and config.host != command.host:
        return False
    if command.config:
        return config.name == command.config
    if command.candidates:
        return config.name in command.candidates
    return not command.model or config.model == command.model


def row(catalog: Catalog, config: LaunchConfig) -> dict[str, Any]:
    """One line of the list."""
    launches = [one for one in catalog.launches if one.config == config.name]
    return {
        "name": config.name,
        "engine": config.engine,
        "model": config.model,
        "host": config.host,
        "tags": list(config.tags),
        "decode_tok_s": decode_tok_s(config, launches),
        "launches": len(launches),
        "ready": sum(was_ready(one) for one in launches),
        "last_used_at": launches[-1].started_at.isoformat() if launches else None,
        "archived": config.archived,
    }


COMMAND = CommandSpec(intent=Intent.CATALOG, permission=Permission.READ, run=_run)
