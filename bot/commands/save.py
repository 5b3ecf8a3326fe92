"""save: give what runs (or a config) a name, a tag, an alias; pin it; rename, archive."""

from dataclasses import replace

from bot.commands._asking import question
from bot.commands._spec import CommandSpec
from bot.core.catalog.edits import EditKind
from bot.core.catalog.proven import best_revision
from bot.core.domain.catalog import LaunchConfig, LaunchRecord
from bot.core.domain.command import Command, Intent
from bot.core.domain.message import Message
from bot.core.domain.operation import AuditEvent, Permission
from bot.errors import BadInputError
from bot.workflows.conversation import permitted
from bot.workflows.edit_config import archived, archived_message, edit_config
from bot.workflows.find_launch import by_number, find_launch
from bot.workflows.ports import Run
from bot.workflows.services import Request, Services

_EDITS = frozenset(kind.value for kind in EditKind)


def _run(services: Services, request: Request, run: Run) -> None:
    run.step("save", lambda: _work(services, request, run))


def _work(services: Services, request: Request, run: Run) -> bool:
    """Looked up, permitted, done and said in one step: who may is asked at that moment."""
    command = request.command
    hidden = archived(services, command.text)
    restores = command.save_as == EditKind.RESTORE
    name = hidden.name if hidden and restores else command.config
    if hidden is not None and not restores:
        message = archived_message(services, hidden)
    elif command.ask and not (restores and name):
        message = question(services, request)
    else:
        host = _host(services, request, name)
        if not permitted(services, request.actor, request.conversation, host, Permission.OPERATE, _verb(command)):
            return False
        if command.save_as in _EDITS and name is not None:
            message = edit_config(services, name, EditKind(command.save_as), _value(services, request), request.actor)
        else:
            message = _save(services, request)
    services.messenger.post(request.conversation, message, key=f"{request.id}:answer")
    return True


def _verb(command: Command) -> str:
    return f"{command.save_as} configs" if command.save_as in _EDITS else "save configs"


def _host(services: Services, request: Request, name: str | None) -> str | None:
    """The host whose config is changed: it decides who may."""
    config = services.catalog.catalog().configs.get(name or "")
    return config.host if config is not None else request.command.host


def _value(services: Services, request: Request) -> str | None:
    """What is set. A revision may be named by a launch, or by its thread; else it is the one that would be
    launched."""
    command = request.command
    if command.save_as != EditKind.PIN or command.name:
        return command.name
    catalog = services.catalog.catalog()
    if command.launch_numbers:
        return by_number(services, command.launch_numbers[0]).revision
    thread = services.launches.in_thread(request.conversation) if request.conversation.joined else None
    if thread is not None and thread.config == command.config:
        return thread.revision
    launches = [one for one in catalog.launches if one.config == command.config]
    return best_revision(catalog.configs[command.config or ""], launches).id


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
    if kind in _EDITS:
        return edit_config(services, config.name, EditKind(kind), value, request.actor)
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


COMMAND = CommandSpec(intent=Intent.SAVE, permission=Permission.READ, run=_run)
