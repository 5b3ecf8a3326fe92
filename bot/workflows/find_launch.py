"""Which launch a question is about: a number, the thread's, the running one of a config or host, else the newest."""

from bot.core.domain.catalog import LaunchRecord
from bot.core.domain.launch import LaunchState
from bot.errors import BadInputError
from bot.workflows.services import Request, Services


def find_launch(services: Services, request: Request) -> LaunchRecord:
    """The one launch that is meant. Raises BadInputError when there is none."""
    command = request.command
    if command.launch_numbers:
        return by_number(services, command.launch_numbers[0])
    named = bool(command.config or command.model or command.candidates)
    thread = services.launches.in_thread(request.conversation) if request.conversation.joined else None
    about_it = thread is not None and (not named or thread.config in (command.config, *command.candidates))
    if thread is not None and about_it and command.host in (None, thread.host):
        return thread
    fitting = [one for one in services.launches.running(command.host) if fits(services, request, one)]
    if not fitting:
        fitting = [
            one for one in services.launches.recent(host=command.host, limit=200) if fits(services, request, one)
        ]
        fitting = fitting[:1]
    if not fitting:
        what = command.config or command.model or "anything"
        where = f" on {command.host}" if command.host else ""
        raise BadInputError(f"I know of no launch of {what}{where}", remedy="say “history” to see what ran")
    return fitting[-1]


def last_failed(services: Services, request: Request) -> LaunchRecord | None:
    """The newest launch that failed, of what is named, else of the thread."""
    command = request.command
    thread = services.launches.in_thread(request.conversation) if request.conversation.joined else None
    named = bool(command.config or command.model or command.candidates or command.host or command.launch_numbers)
    if thread is not None and thread.state == LaunchState.FAILED and not named:
        return thread
    return next(
        (
            one
            for one in services.launches.recent(host=command.host, limit=200)
            if one.state == LaunchState.FAILED
            and fits(services, request, one)
            and (not command.launch_numbers or one.number in command.launch_numbers)
        ),
        None,
    )


def fits(services: Services, request: Request, launch: LaunchRecord) -> bool:
    """Whether a launch has the config or model that the command names."""
    command = request.command
    if command.config:
        return launch.config == command.config
    if command.candidates:
        return launch.config in command.candidates
    if command.model:
        config = services.catalog.catalog().configs.get(launch.config)
        return config is not None and config.model == command.model
    return True


def by_number(services: Services, number: int) -> LaunchRecord:
    """Launch #number. Raises BadInputError."""
    for launch in services.launches.recent(limit=100_000):
        if launch.number == number:
            return launch
    raise BadInputError(f"there is no launch #{number}", remedy="say “history” to see the numbers")


def label(launch: LaunchRecord) -> str:
    """ "launch #12"."""
    return f"launch #{launch.number}"
