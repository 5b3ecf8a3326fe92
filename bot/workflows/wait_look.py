"""One look at a host for a start that waits. Free at two looks: it is planned anew, as that person may do now."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from bot.core.access import permission
from bot.core.domain.message import Json, Message
from bot.core.domain.operation import Actor, Permission
from bot.core.domain.records import from_json, to_json
from bot.core.domain.waiting import Wait, WaitState
from bot.core.planning import StartRequest, held_back, probe_target
from bot.core.planning.free import FREE_FACTS, pause_s
from bot.core.rendering.redact import redact
from bot.errors import RelaunchError, TemporaryError
from bot.workflows import waits
from bot.workflows.conversation import telling
from bot.workflows.look import look
from bot.workflows.ports import Run
from bot.workflows.propose import known_host, propose
from bot.workflows.running import running_on
from bot.workflows.services import Services
from bot.workflows.wanted import Wanted

#: looks that must find the GPUs free, and the least time between two that count: a process that ends frees them late,
#: and between two trainings of one script they are free for a moment
_ENOUGH = 2
_APART_S = 10.0


def look_again(services: Services, run: Run, arguments: Mapping[str, Any]) -> Json:
    """Look once; go on where it is time. arguments: wait."""
    wait = services.waits.get(str(arguments["wait"]))
    if wait is None:
        return {"outcome": "gone"}
    return telling(services, run, wait.conversation, run.id, lambda: _look(services, run, wait))


def _look(services: Services, run: Run, wait: Wait) -> None:
    found: Any = run.step("look", lambda: _find(services, wait.id))
    if found["state"] == "expired":
        run.step("expire", lambda: waits.end(services, wait, WaitState.EXPIRED, by=run.id))
        run.step("say expired", lambda: _say(services, wait, WaitState.EXPIRED, None))
    elif found["state"] == "runs":
        detail = f"{wait.config} runs on {wait.host} already"
        run.step("end", lambda: waits.end(services, wait, WaitState.REFUSED, by=run.id, detail=detail))
    elif found["state"] == "away":
        run.step("say away", lambda: _say_away(services, wait, found["reason"]))
    elif found["state"] == "free" and found["looks"] >= _ENOUGH:
        _go_on(services, run, wait)


def _find(services: Services, wait_id: str) -> Json:
    """What one look finds, kept with the wait. A look that was interrupted and is done again is a look of its own."""
    wait = services.waits.get(wait_id)
    now = services.clock.now()
    if wait is None or wait.state is not WaitState.WAITING:
        return {"state": "over"}
    if wait.expires_at <= now:
        return {"state": "expired"}
    if any(one.config == wait.config for one in services.launches.running(wait.host)):
        return {"state": "runs"}
    try:
        free, holders = _is_free(services, wait)
    except RelaunchError as error:
        _keep(services, wait, free_looks=0, busy_looks=wait.busy_looks + 1, holders=wait.holders, away=error.message)
        return {"state": "away", "reason": error.message}
    if not free:
        _keep(services, wait, free_looks=0, busy_looks=wait.busy_looks + 1, holders=holders, away="")
        return {"state": "busy"}
    apart = wait.looked_at is None or (now - wait.looked_at).total_seconds() >= _APART_S
    looks = wait.free_looks + 1 if apart or not wait.free_looks else wait.free_looks
    _keep(services, wait, free_looks=looks, busy_looks=0, holders=(), away="")
    return {"state": "free", "looks": looks}


def _keep(
    services: Services, wait: Wait, *, free_looks: int, busy_looks: int, holders: tuple[str, ...], away: str
) -> None:
    now = services.clock.now()
    services.waits.looked(
        wait.id,
        at=now,
        free_looks=free_looks,
        busy_looks=busy_looks,
        holders=[redact(one) for one in holders],
        away=away[:500],
        next_look_at=now + timedelta(seconds=pause_s(free_looks, busy_looks)),
    )


def _is_free(services: Services, wait: Wait) -> tuple[bool, tuple[str, ...]]:
    host = known_host(services, wait.host)
    config = services.catalog.catalog().configs.get(wait.config)
    revision = config.revision(wait.revision) if config else None
    if config is None or revision is None:
        # the plan will say that it is gone
        return True, ()
    engine = services.engines[revision.engine]
    facts = look(services, host, probe_target(engine, revision), only=FREE_FACTS)
    request = StartRequest(
        operation_id=wait.id,
        host=host,
        config=config,
        revision=revision,
        engine=engine,
        facts=facts,
        checks=services.checks,
        running=running_on(services, host, facts),
    )
    against, holders = held_back(request)
    return not against, holders


def _go_on(services: Services, run: Run, wait: Wait) -> None:
    """Plan it anew and carry it out or ask, as if the person asked now."""
    person = from_json(Actor, run.step("who asked", lambda: to_json(services.person(wait.actor))))
    if not run.step("permitted", lambda: _may(services, wait, person)):
        if run.step("end", lambda: waits.end(services, wait, WaitState.REFUSED, by=run.id, detail="permission")):
            run.step("say refused", lambda: _say(services, wait, WaitState.REFUSED, "permission"))
        return
    if not run.step("claim", lambda: services.waits.move(wait.id, WaitState.PLANNED, by=run.id)):
        return
    wanted = Wanted(
        request_id=f"wait:{wait.id}",
        verb="start",
        host=wait.host,
        config=wait.config,
        revision=wait.revision,
        text=wait.text,
        note=wait.note,
        when_free=True,
        wait=wait.id,
        shown=wait.shown,
        reasons=("its GPUs are free",),
    )
    try:
        shown = propose(services, run, wanted, person, wait.conversation)
    except TemporaryError:
        # the host or the database went away: nothing was planned
        run.step("wait again", lambda: services.waits.move(wait.id, WaitState.WAITING, by=run.id))
        raise
    if shown != "waiting_free":
        run.step("show planned", lambda: _show(services, wait))


def _show(services: Services, wait: Wait) -> bool:
    waits.show(services, services.waits.get(wait.id) or wait)
    return True


def _may(services: Services, wait: Wait, person: Actor) -> bool:
    return permission(person, services.policy, wait.conversation.channel, wait.host) >= Permission.OPERATE


def _say(services: Services, wait: Wait, state: WaitState, detail: str | None) -> str:
    """Post what ended the waiting: an edit of its card notifies nobody."""
    ended = replace(services.waits.get(wait.id) or wait, state=state)
    message = Message(template="waiting_free", context=waits.context(services, ended, detail=detail))
    return services.messenger.post(wait.conversation, message, key=f"{wait.id}:{state.value}").ts


def _say_away(services: Services, wait: Wait, reason: str) -> str:
    """Once for each wait; it goes on."""
    message = Message(
        template="unreachable",
        context={
            "host": wait.host,
            "reason": reason,
            "doing": f"{wait.config} waits for its GPUs",
            "remedy": "",
            "seen_at": wait.looked_at.isoformat() if wait.looked_at and not wait.away else None,
            "retrying": True,
        },
    )
    return services.messenger.post(wait.conversation, message, key=f"{wait.id}:away").ts
