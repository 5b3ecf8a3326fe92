"""Rename, tag, alias, pin, archive: the same for Slack, the terminal conversation and the command line."""

from bot.core.catalog.edits import Edited, EditKind, archived_named, edited
from bot.core.domain.catalog import LaunchConfig
from bot.core.domain.message import Message
from bot.core.domain.operation import Actor, AuditEvent
from bot.workflows.services import Services


def edit_config(services: Services, name: str, kind: EditKind, value: str | None, actor: Actor) -> Message:
    """Change one config and remember who did; doing it twice changes nothing more. Whether the actor may is asked
    before, by whoever calls. Raises BadInputError for what cannot be changed so."""
    catalog = services.catalog.catalog()
    if kind is EditKind.RENAME and name not in catalog.configs and _was_renamed(services, name, value):
        # this very rename was interrupted after its effect
        return _saved(services, kind, name, Edited(config=catalog.configs[str(value)], value=value))
    result = edited(catalog, name, kind, value)
    before, config = catalog.configs[name], result.config
    if not result.already:
        _store(services, before, config)
        services.audit.add(
            AuditEvent(
                at=services.clock.now(),
                actor=actor.id,
                action=kind.value,
                host=before.host,
                config=config.name,
                outcome=_outcome(before, kind, result.value),
            )
        )
    return _saved(services, kind, name, result)


def _saved(services: Services, kind: EditKind, name: str, result: Edited) -> Message:
    config = result.config
    running = [one.host for one in services.launches.running() if one.config == config.name]
    return Message(
        template="saved",
        context={
            "what": kind.value,
            "name": name,
            "names": [],
            "value": result.value,
            "already": result.already,
            "running": list(dict.fromkeys(running)) if kind is EditKind.ARCHIVE else [],
            "number": _number(config, result.value) if kind is EditKind.PIN else None,
        },
    )


def _was_renamed(services: Services, old: str, new: str | None) -> bool:
    events = services.audit.events(config=new, action=EditKind.RENAME.value, limit=1) if new else ()
    return bool(events) and events[0].outcome == f"from {old}"


def archived(services: Services, text: str) -> LaunchConfig | None:
    """The archived config that a sentence names whole."""
    return archived_named(services.catalog.catalog(), text)


def archived_message(services: Services, config: LaunchConfig) -> Message:
    """Says that a config is archived, with a way to take it back."""
    launches = services.launches.recent(config=config.name, limit=1)
    return Message(
        template="archived",
        context={
            "name": config.name,
            "host": config.host,
            "last_used_at": launches[0].started_at.isoformat() if launches else None,
            "text": f"unarchive {config.name}",
        },
    )


def _store(services: Services, before: LaunchConfig, config: LaunchConfig) -> None:
    if before.name != config.name:
        services.catalog.rename(before.name, config.name)
    services.catalog.save(config)


def _outcome(before: LaunchConfig, kind: EditKind, value: str | None) -> str:
    return f"from {before.name}" if kind is EditKind.RENAME else value or ""


def _number(config: LaunchConfig, revision: str | None) -> int | None:
    return next((place for place, one in enumerate(config.revisions, 1) if one.id == revision), None)
