"""history: launches and who did what, newest first."""

from datetime import datetime
from typing import Any

from bot.commands._spec import CommandSpec
from bot.core.domain.catalog import LaunchRecord
from bot.core.domain.command import Command, Intent
from bot.core.domain.message import Message
from bot.core.domain.operation import AuditEvent, Permission
from bot.workflows.answer import answer
from bot.workflows.find_launch import fits
from bot.workflows.ports import Run
from bot.workflows.services import Request, Services

_LAUNCHES = 10
_EVENTS = 10
_ACTIONS = frozenset({"start", "stop", "restart", "change"})


def _run(services: Services, request: Request, run: Run) -> None:
    command = request.command

    def look() -> Message:
        launches = [
            one for one in services.launches.recent(host=command.host, limit=500) if fits(services, request, one)
        ]
        configs = {one.config for one in launches}
        named = bool(command.config or command.model or command.candidates)
        events = [
            event
            for event in services.audit.events(host=command.host, limit=200)
            if event.action in _ACTIONS and (not named or event.config in configs)
        ]
        return Message(
            template="history",
            context={
                "title": title(command),
                "answer": _answer(command, launches),
                "launches": [_launch(one) for one in launches[:_LAUNCHES]],
                "events": [_event(one) for one in events[:_EVENTS]],
                "more": max(0, len(launches) - _LAUNCHES),
            },
        )

    answer(services, request, run, look)


def title(command: Command) -> str:
    """What the history is of."""
    parts = [command.config or command.model or "", f"on {command.host}" if command.host else ""]
    return " ".join(part for part in parts if part) or "all hosts"


def _answer(command: Command, launches: list[LaunchRecord]) -> str | None:
    """The sentence for "when did we last run …"."""
    if not (command.config or command.model or command.candidates):
        return None
    if not launches:
        return "It was never launched through me."
    last = launches[0]
    when: datetime = last.started_at
    return f"Last launched {when:%Y-%m-%d %H:%M} UTC on {last.host} (launch #{last.number}, {last.state})."


def _launch(launch: LaunchRecord) -> dict[str, Any]:
    return {
        "number": launch.number,
        "config": launch.config,
        "host": launch.host,
        "state": launch.state,
        "started_at": launch.started_at.isoformat(),
        "ready_after_s": launch.ready_after_s,
        "decode_tok_s": launch.decode_tok_s,
        "by": launch.requested_by or None,
        "note": launch.note or None,
    }


def _event(event: AuditEvent) -> dict[str, Any]:
    return {
        "at": event.at.isoformat(),
        "by": event.actor,
        "action": event.action,
        "host": event.host,
        "config": event.config,
        "outcome": event.outcome,
    }


COMMAND = CommandSpec(intent=Intent.HISTORY, permission=Permission.READ, run=_run)
