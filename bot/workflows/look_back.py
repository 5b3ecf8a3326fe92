"""What was done and by whom, from the audit log and the launches: a sentence that answers, and the rows behind it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from bot.core.catalog.deeds import EDITS, Answer, Deed, about, answer, deeds, matching
from bot.core.catalog.past import Window, asked_action, asks_who, window
from bot.core.domain.command import Command
from bot.core.domain.message import Message
from bot.core.domain.operation import Actor, OperationState
from bot.core.domain.plan import StepKind
from bot.core.domain.waiting import WaitState
from bot.core.rendering.clean import cut, one_line
from bot.core.rendering.redact import redact
from bot.errors import RefusedError
from bot.workflows.services import Services

#: events and launches that are looked at: many months of a team
LOOKED_AT = 5_000
ROWS = 10
_DETAIL_LIMIT = 160
_STATES = {
    OperationState.PROPOSED: "waiting",
    OperationState.RUNNING: "running",
    OperationState.SUCCEEDED: "done",
    OperationState.FAILED: "failed",
    OperationState.REJECTED: "rejected",
    OperationState.EXPIRED: "expired",
    OperationState.CANCELLED: "cancelled",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question about the past. `configs`: None for all; `subject`: what they are in words; `when`: the window in
    words; `names`: tell people by name, where nobody can be mentioned."""

    hosts: tuple[str, ...] = ()
    configs: frozenset[str] | None = None
    subject: str | None = None
    number: int | None = None
    window: Window | None = None
    when: str | None = None
    #: "start", "stop", "restart", "change" or "fail"; None: everything
    action: str | None = None
    who: bool = False
    limit: int = ROWS
    names: bool = False


def asked_in(services: Services, command: Command, actor: Actor, *, names: bool) -> Asked:
    """The question that a sentence asks."""
    found = window(command.when, services.clock.now(), zone_of(actor)) if command.when else None
    return Asked(
        hosts=command.hosts or ((command.host,) if command.host else ()),
        configs=_configs(services, command),
        subject=command.config or command.model or " ".join(word for name in command.names for word in name) or None,
        number=command.launch_numbers[0] if command.launch_numbers else None,
        window=found,
        when=command.when if found else None,
        action=asked_action(command.text),
        who=asks_who(command.text),
        names=names,
    )


def zone_of(actor: Actor) -> tzinfo:
    """The time zone of a person; of one whose zone is not known here, UTC."""
    try:
        return ZoneInfo(actor.time_zone)
    except (ValueError, KeyError, OSError):
        return ZoneInfo("UTC")


def _configs(services: Services, command: Command) -> frozenset[str] | None:
    if command.config:
        return frozenset({command.config})
    models = {command.model, *command.models} - {None}
    if not command.candidates and not models:
        return None
    # candidates are the few best; all that have the model are asked about
    configs = services.catalog.catalog().configs.values()
    few = len(command.candidates) < 5
    of_model = () if command.candidates and few else (one.name for one in configs if one.model in models)
    return frozenset((*command.candidates, *of_model))


def look_back(services: Services, asked: Asked) -> Message:
    """The history that is asked for."""
    return Message(template="history", context=report(services, asked))


def report(services: Services, asked: Asked) -> dict[str, Any]:
    """Context of the template history."""
    host = asked.hosts[0] if len(asked.hosts) == 1 else None
    launches = services.launches.recent(host=host, limit=LOOKED_AT)
    # a rename has the host of its config, or none: all events, to know the names of now
    told = [_known_end(services, one) for one in deeds(services.audit.events(limit=LOOKED_AT), launches)]
    if asked.configs is not None:
        names = {one.id: one.config for one in launches}
        told = [replace(one, replaced=_replaced(services, one, names)) for one in told]
    found = [
        one
        for one in told
        if one.state != WaitState.PLANNED
        and about(one, asked.action, hosts=asked.hosts, configs=asked.configs)
        and (asked.number is None or (one.launch is not None and one.launch.number == asked.number))
    ]
    named = asked.configs is not None
    first = answer(found, asked.action, asked.window, who=asked.who, named=named)
    rows = matching(found, asked.action, asked.window)
    people = _People(services, told, names=asked.names)
    return {
        "subject": asked.subject,
        "hosts": list(asked.hosts),
        "when": asked.when,
        "action": asked.action,
        "answer": _answer(services, people, first),
        "rows": [_row(services, people, one) for one in rows[: asked.limit]],
        "more": max(0, len(rows) - asked.limit),
    }


def _known_end(services: Services, deed: Deed) -> Deed:
    """What became of an operation that no event tells the end of; "planned": of a wait that went on as another one."""
    if deed.state not in ("open", "queued") or deed.operation is None:
        return deed
    if deed.state == "queued":
        wait = services.waits.get(deed.operation)
        # one that was taken up again has its first request's id
        state = wait.state if wait is not None else WaitState.PLANNED
        return replace(deed, state="queued" if state is WaitState.WAITING else state.value)
    try:
        details = services.operations.details(deed.operation)
    except RefusedError:
        return deed
    return replace(deed, state=_STATES[OperationState(details["state"])], detail=str(details["detail"] or ""))


def _replaced(services: Services, deed: Deed, names: Mapping[str, str]) -> str | None:
    """The other config that a restart took down. `names`: configs of launches by id."""
    if deed.action not in ("restart", "change") or deed.operation is None or not deed.done:
        return None
    try:
        plan = services.operations.plan(deed.operation)
    except RefusedError:
        return None
    units = [step.unit for step in plan.steps if step.kind is StepKind.STOP and step.unit]
    # the name of a unit of ours ends in its launch's id
    stopped = [names.get(unit.rpartition("-")[2]) for unit in units]
    return next((name for name in stopped if name is not None and name != deed.config), None)


class _People:
    """How people are told: by id, which Slack shows as a mention, or by name."""

    def __init__(self, services: Services, told: list[Deed], *, names: bool) -> None:
        self._services = services
        self._names = names
        self._asked = {one.by: one.operation for one in told if one.operation is not None}
        self._known: dict[str, str] = {}

    def shown(self, person: str | None) -> str | None:
        """The id, or the name where names are wanted and it is known."""
        if not person or not self._names:
            return person or None
        if person not in self._known:
            self._known[person] = self._name(person) or person.removeprefix("cli:")
        return self._known[person]

    def _name(self, person: str) -> str:
        """As the workspace knows the person now, else as it did at the person's last request."""
        now = self._services.person(Actor(id=person)).name
        operation = self._asked.get(person)
        if now or operation is None:
            return now
        try:
            actor: Actor = self._services.operations.details(operation)["actor"]
        except RefusedError:
            return ""
        return actor.name if actor.id == person else ""


def _answer(services: Services, people: _People, found: Answer) -> dict[str, Any]:
    row = _row(services, people, found.deed) if found.deed is not None else None
    return {"kind": found.kind, "row": row, "count": found.count}


def _row(services: Services, people: _People, deed: Deed) -> dict[str, Any]:
    """One operation as the template and `--json` show it."""
    approval = services.operations.approval(deed.operation) if deed.operation else None
    launch = deed.launch
    return {
        "at": deed.at.isoformat(),
        "by": people.shown(deed.by),
        "action": deed.action,
        "edit": deed.action in EDITS,
        "host": deed.host,
        "config": deed.config,
        "replaced": deed.replaced,
        "state": deed.state,
        "decided_by": people.shown(approval.decided_by) if approval else None,
        "approved": approval.approved if approval else None,
        "cancelled_by": people.shown(deed.cancelled_by),
        "note": _note(services, deed),
        "detail": _short(deed.detail),
        "failed_at": _iso(deed.failed_at),
        "launch": None
        if launch is None
        else {
            "number": launch.number,
            "state": launch.state,
            "started_at": launch.started_at.isoformat(),
            "ended_at": _iso(launch.ended_at),
            "ready_after_s": launch.ready_after_s,
            "ran_s": ((launch.ended_at or services.clock.now()) - launch.started_at).total_seconds(),
            "decode_tok_s": launch.decode_tok_s,
            "detail": _short(launch.detail),
        },
    }


def _note(services: Services, deed: Deed) -> str | None:
    """The reason that the person gave."""
    if deed.launch is not None and deed.launch.note:
        return redact(deed.launch.note)
    if deed.operation is None:
        return None
    try:
        return redact(str(services.operations.details(deed.operation)["note"])) or None
    except RefusedError:
        return None


def _short(text: str) -> str | None:
    return cut(redact(one_line(text)), _DETAIL_LIMIT) or None


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
