"""save: give what runs (or a config) a name, a tag, an alias; pin it as baseline."""

from dataclasses import replace

from bot.commands._asking import ask
from bot.commands._spec import CommandSpec
from bot.core.domain.catalog import LaunchConfig, LaunchRecord
from bot.core.domain.command import Intent
from bot.core.domain.message import Message
from bot.core.domain.operation import AuditEvent, Permission
from bot.errors import BadInputError
from bot.workflows.answer import answer
from bot.workflows.find_launch import find_launch
from bot.workflows.ports import Run
from bot.workflows.services import Request, Services


def _run(services: Services, request: Request, run: Run) -> None:
    if request.command.ask:
        ask(services, request, run)
        return
    answer(services, request, run, lambda: _save(services, request))


def _save(services: Services, request: Request) -> Message:
    command = request.command
    launch = _launch(services, request)
    name = command.config or (launch.config if launch else None)
    config = services.catalog.catalog().configs.get(name or "")
    if config is None:
        raise BadInputError("it is not clear what to save", remedy="say it in the launch's thread, or name the config")
    kind, value = command.save_as or "name", command.name or ""
    if kind == "baseline":
        return _baseline(services, request, config, launch)
    if kind in ("tag", "alias"):
        known = config.tags if kind == "tag" else config.aliases
        already = value in known
        if not already and kind == "tag":
            services.catalog.save(replace(config, tags=(*known, value)))
        elif not already:
            services.catalog.save(replace(config, aliases=(*known, value)))
        return _saved(services, request, kind, config.name, value, already)
    return _named(services, request, config, launch, value)


def _named(
    services: Services, request: Request, config: LaunchConfig, launch: LaunchRecord | None, value: str
) -> Message:
    """A new config with the launch's revision; a name that only adds words becomes an alias of the same config."""
    catalog = services.catalog.catalog()
    if value in catalog.configs:
        raise BadInputError(f"there is a config {value} already", remedy="choose another name")
    known = {r.id: r for r in config.revisions}
    revision = known.get(launch.revision) if launch else config.latest
    if revision is None:
        raise BadInputError("the launch's revision is not in the catalog", remedy="scan the host to find it again")
    measured = None
    if " " in value:
        services.catalog.save(replace(config, aliases=(*config.aliases, value), pinned=revision.id))
        return _saved(services, request, "alias", config.name, value, False)
    made = LaunchConfig(
        name=value, revisions=(revision,), host=launch.host if launch else config.host, tags=(), measured=measured
    )
    services.catalog.save(made)
    return _saved(services, request, "config", value, None, False)


def _baseline(services: Services, request: Request, config: LaunchConfig, launch: LaunchRecord | None) -> Message:
    if launch is None:
        raise BadInputError("which launch shall be the baseline?", remedy="say it in the launch's thread")
    services.launches.pin_baseline(launch.id)
    services.catalog.save(replace(config, pinned=launch.revision))
    return _saved(services, request, "baseline", config.name, f"launch #{launch.number}", False)


def _launch(services: Services, request: Request) -> LaunchRecord | None:
    try:
        return find_launch(services, request)
    except BadInputError:
        return None


def _saved(services: Services, request: Request, what: str, name: str, value: str | None, already: bool) -> Message:
    services.audit.add(
        AuditEvent(
            at=services.clock.now(), actor=request.actor.id, action="save", config=name, outcome=f"{what} {value or ''}"
        )
    )
    return Message(
        template="saved", context={"what": what, "name": name, "names": [], "value": value, "already": already}
    )


COMMAND = CommandSpec(intent=Intent.SAVE, permission=Permission.OPERATE, run=_run)
