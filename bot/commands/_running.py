"""What runs settles what is meant."""

from dataclasses import replace

from bot.core.domain.command import Reason
from bot.workflows.services import Request, Services


def settled_by_running(services: Services, request: Request) -> Request:
    """Names that fit several configs mean the one that runs, where exactly one of them does."""
    command = request.command
    code = command.question.code if command.question else ""
    if code not in ("which_config", "which_target") or not command.candidates:
        return request
    running = [
        one
        for one in services.launches.running(command.host)
        if one.config in command.candidates and command.reference is None
    ]
    if len(running) != 1:
        return request
    only = running[0]
    reason = Reason(slot="config", value=only.config, how="the one that runs", words="")
    return replace(
        request,
        command=replace(
            command,
            config=only.config,
            host=only.host,
            hosts=(only.host,),
            ask=False,
            question=None,
            reasons=(*command.reasons, reason),
        ),
    )


def target_config(
    services: Services, host: str, config: str | None, candidates: tuple[str, ...], models: tuple[str, ...]
) -> str | None:
    """Config of the running launch that is meant: the named one, else the one of the named model that runs there."""
    running = [one.config for one in services.launches.running(host)]
    if config in running:
        return config
    fitting = [name for name in running if name in candidates]
    if not fitting and models:
        configs = services.catalog.catalog().configs
        fitting = [name for name in running if name in configs and configs[name].model in models]
    return fitting[0] if len(fitting) == 1 else config
