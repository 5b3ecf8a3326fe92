"""logs: the last lines of a server's log, redacted."""

from bot.commands._spec import CommandSpec
from bot.core.domain.command import Intent
from bot.core.domain.host import Host
from bot.core.domain.message import Message
from bot.core.domain.operation import Permission
from bot.core.language.failures import asks_why_it_failed
from bot.core.rendering.redact import redact
from bot.errors import RelaunchError
from bot.workflows.answer import answer
from bot.workflows.fail import told_again
from bot.workflows.find_launch import find_launch, label, last_failed
from bot.workflows.ports import Run
from bot.workflows.services import Request, Services

_USUAL_LINES = 20
_MOST_LINES = 200
_READ_BYTES = 4_000_000


def _run(services: Services, request: Request, run: Run) -> None:
    wanted = min(request.command.lines or _USUAL_LINES, _MOST_LINES)

    def look() -> Message:
        if asks_why_it_failed(request.command.text):
            failed = last_failed(services, request)
            told = told_again(services, failed) if failed else None
            if told is not None:
                return told
        launch = find_launch(services, request)
        saved = services.launches.log(launch.id)
        host = services.hosts.inventory().hosts.get(launch.host)
        if saved is not None or host is None:
            lines, source = (saved or "").splitlines(), f"saved log of {label(launch)}"
        else:
            lines, source = live(services, launch.id, host)
        shown = [redact(line.rsplit("\r", 1)[-1]) for line in lines[-wanted:]]
        return Message(
            template="logs",
            context={
                "config": launch.config,
                "host": launch.host,
                "source": source,
                "lines": shown,
                "total": len(lines),
                "pattern": None,
                "matches": None,
                "uploaded": False,
            },
        )

    answer(services, request, run, look)


def live(services: Services, launch: str, host: Host) -> tuple[list[str], str]:
    """All log lines on the host (of a very long log the first 200 MB), and where they are from."""
    plan, unit = services.launches.plan(launch), services.launches.unit(launch)
    if plan is None:
        return [], "no log"
    runner = services.runners[plan.runner]
    lines: list[str] = []
    cursor = ""
    for _ in range(50):
        command = runner.log(unit, cursor, services.script, limit_bytes=_READ_BYTES)
        try:
            chunk = runner.parse_log(services.remote.run(host, command), cursor)
        except RelaunchError as error:
            lines.append(f"[not read further: {error.message}]")
            break
        lines = [*lines, *chunk.lines][-_MOST_LINES * 50 :]
        if not chunk.more or chunk.cursor == cursor:
            break
        cursor = chunk.cursor
    return lines, f"log of {unit}"


COMMAND = CommandSpec(intent=Intent.LOGS, permission=Permission.READ, run=_run)
