"""A command to what is wanted done; shared by start, stop, restart and change."""

from bot.core.catalog.references import launch_meant
from bot.core.domain.command import Command
from bot.errors import RefusedError
from bot.workflows.services import Request, Services
from bot.workflows.wanted import Wanted


def wanted(
    request: Request,
    verb: str,
    host: str,
    config: str | None,
    *,
    target: str | None = None,
    revision: str | None = None,
    when_free: bool = False,
) -> Wanted:
    """What the sentence asks for, with how it was read."""
    command = request.command
    return Wanted(
        request_id=request.id,
        verb=verb,
        host=host,
        config=config,
        revision=revision,
        overrides=command.overrides,
        flags=command.flags,
        text=command.text,
        note=command.note or "",
        reasons=reasons(command),
        ignored=command.ignored,
        target_config=target,
        when_free=when_free,
    )


def referred(services: Services, request: Request, config: str) -> str | None:
    """Revision of the launch that the sentence refers to ("same as last time", "launch 12"); None where it names
    none: a launch may have been a variation of what the name means."""
    reference = request.command.reference
    if reference is None:
        return None
    launches = [one for one in services.catalog.catalog().launches if one.config == config]
    here = [one for one in launches if one.host == request.command.host]
    launch = launch_meant(reference, here or launches, services.clock.now())
    return launch.revision if launch else None


#: how a config or host was found -> in words; what was named needs none
_HOW = {
    "thread": "as in this thread",
    "only one": "the only one that fits",
    "size": "by its size",
    "reference": "by what you refer to",
    "baseline": "the baseline",
    "tag": "by its tag",
    "model": "by its model",
}
_SAID = frozenset({"named", "whole name", "name", "alias", "config"})


def reasons(command: Command) -> tuple[str, ...]:
    """How the config and the host were found, for people, where they were not simply named:
    "qwen3-mtp: by its tag (“stock mtp”)"."""
    found: dict[str, str] = {}
    for reason in command.reasons:
        if reason.slot not in ("config", "host") or reason.how in _SAID:
            continue
        words = f" (“{reason.words}”)" if reason.words and reason.words != reason.value else ""
        found[reason.value] = f"{reason.value}: {_HOW.get(reason.how, reason.how)}{words}"
    return tuple(found.values())


def need_host(command: Command) -> str:
    """The host; the language asks when there is none, so this is only a safeguard."""
    if command.host is None:
        raise RefusedError("it is not clear on which host", remedy="name the host")
    return command.host
