"""A button was pressed: check who pressed it, now, and do it once."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from bot.core.access import permission
from bot.core.catalog.relative import settle
from bot.core.domain.button import ButtonValue
from bot.core.domain.command import Command, Intent
from bot.core.domain.message import Conversation, Json, Message, Posted
from bot.core.domain.operation import Actor, OperationState, Permission
from bot.core.domain.plan import Plan
from bot.core.domain.records import from_json, to_json
from bot.core.domain.waiting import WaitState
from bot.core.planning import changed_since
from bot.errors import RefusedError
from bot.workflows import waits
from bot.workflows.cancel import cancel
from bot.workflows.conversation import Handler, permitted, read, telling, thread_context
from bot.workflows.hosts import trust
from bot.workflows.ports import Run
from bot.workflows.propose import propose, relied_on_now, submit
from bot.workflows.scan import save_found
from bot.workflows.services import Request, Services
from bot.workflows.sweep import close_card
from bot.workflows.underway import underway
from bot.workflows.wanted import Wanted


class Press:
    """One press of one button."""

    def __init__(self, services: Services, handlers: Mapping[Intent, Handler], arguments: Mapping[str, Any]) -> None:
        self.services = services
        self.handlers = handlers
        self.request_id = str(arguments["request_id"])
        self.actor = from_json(Actor, arguments["actor"])
        self.conversation = from_json(Conversation, arguments["conversation"])
        self.posted = from_json(Posted, arguments["posted"])
        self.value = ButtonValue.decode(str(arguments["value"]))

    def require(self, needed: Permission, host: str | None, verb: str) -> bool:
        """Whether this person may do this now; says so privately if not."""
        return permitted(self.services, self.actor, self.conversation, host, needed, verb)

    def private(self, template: str, context: Mapping[str, Any]) -> bool:
        """Show a message to who pressed only."""
        self.services.messenger.private(
            self.conversation, self.actor, Message(template=template, context=dict(context))
        )
        return True

    def extra(self, name: str) -> str | None:
        """A text that goes with the button."""
        value = self.value.extra.get(name)
        return str(value) if value is not None else None


def act(services: Services, handlers: Mapping[Intent, Handler], run: Run, arguments: Mapping[str, Any]) -> Json:
    """Do what a button asks for. arguments: request_id, actor, conversation, posted, value."""
    press = Press(services, handlers, arguments)

    def work() -> None:
        action = _ACTIONS.get(press.value.action)
        if action is None:
            run.step("old button", lambda: press.private("old_button", {"why_not": "version"}))
            return
        action(press, run)

    return telling(services, run, press.conversation, press.request_id, work)


def _approve(press: Press, run: Run) -> None:
    services, operation = press.services, press.value.operation
    plan, details = services.operations.plan(operation), services.operations.details(operation)
    if not run.step("permitted", lambda: press.require(Permission.APPROVE, plan.host, "approve")):
        return
    own = details["actor"].id == press.actor.id
    level = permission(press.actor, services.policy, press.conversation.channel, plan.host)
    if own and level < Permission.ADMINISTER and not services.approve_own:
        run.step("say own", lambda: press.private("not_permitted", _own(plan.host, level)))
        return
    state = run.step("state", lambda: services.operations.state(operation).value)
    if state != OperationState.PROPOSED.value:
        run.step("say used", lambda: press.private("old_button", {"why_not": "used"}))
        return
    changed: Any = run.step("look again", lambda: _changed(services, plan, operation))
    if changed:
        run.step("close stale", lambda: _stale(press, operation, "; ".join(changed)))
        return
    decided = run.step("decide", lambda: _decide(press, approved=True))
    if decided:
        run.step("say approved", lambda: _close(press, "approved"))
        run.step("submit", lambda: submit(services, operation, plan.host))


def _changed(services: Services, plan: Plan, operation: str) -> list[str]:
    """Why the plan no longer holds: a start of ours is under way, or the host is not as it was."""
    against = underway(services, plan, operation=operation, host=plan.host, config=plan.config)
    return [against.reason] if against else list(changed_since(plan, relied_on_now(services, plan, operation)))


def _reject(press: Press, run: Run) -> None:
    services, operation = press.services, press.value.operation
    plan, details = services.operations.plan(operation), services.operations.details(operation)
    own = details["actor"].id == press.actor.id
    needed = Permission.OPERATE if own else Permission.APPROVE
    if not run.step("permitted", lambda: press.require(needed, plan.host, "reject")):
        return
    if run.step("decide", lambda: _decide(press, approved=False)):
        run.step("say rejected", lambda: _close(press, "rejected"))


def _decide(press: Press, *, approved: bool) -> bool:
    """One conditional update; a second click is told privately what became of it."""
    services = press.services
    there = services.operations.approval(press.value.operation)
    if there is not None and there.decided_by == press.actor.id and there.approved == approved:
        # this very step was interrupted after its effect
        return True
    try:
        services.operations.decide(
            press.value.operation,
            fingerprint=press.value.fingerprint,
            approved=approved,
            actor=press.actor,
            at=services.clock.now(),
        )
    except RefusedError as error:
        press.private(
            "problem",
            {
                "message": error.message,
                "remedy": error.remedy,
                "host": None,
                "temporary": False,
                "again": None,
            },
        )
        return False
    return True


def _close(press: Press, state: str) -> bool:
    close_card(press.services, press.value.operation, state=state, by=press.actor.id, detail=None)
    return True


def _stale(press: Press, operation: str, detail: str) -> bool:
    services = press.services
    services.operations.set_state(
        operation, OperationState.EXPIRED, at=services.clock.now(), detail=f"stale: {detail}"[:2000]
    )
    close_card(services, operation, state="stale", by=press.actor.id, detail=detail)
    return True


def _own(host: str, level: Permission) -> dict[str, Any]:
    return {
        "verb": "approve",
        "host": host,
        "needs": "approve",
        "has": level.name.lower(),
        "outsider": False,
        "same_person": True,
        "ask": [],
    }


def _choose(press: Press, run: Run) -> None:
    """A candidate was chosen: the sentence goes on with it. The person who clicks needs the permission."""
    services = press.services
    text = press.extra("text") or ""
    context = thread_context(services, press.conversation)
    stored = run.step("understand", lambda: to_json(_chosen(press, read(services, text, context))))
    _handle(press, run, from_json(Command, stored), text, answers=True)


def _chosen(press: Press, command: Command) -> Command:
    unsafe = command.question is not None and command.question.code == "unsafe_text"
    if unsafe:
        return command
    config, host = press.extra("config"), press.extra("host")
    if config is not None and config not in press.services.catalog.catalog().configs:
        raise RefusedError(f"{config} is not in the catalog any more", remedy="ask again")
    if host is not None and host not in press.services.hosts.inventory().hosts:
        raise RefusedError(f"{host} is not in the inventory any more", remedy="ask again", host=host)
    own_host = press.services.catalog.catalog().configs[config].host if config else None
    target = host or command.host or own_host
    chosen = replace(
        command,
        config=config or command.config,
        host=target,
        hosts=(target,) if target else (),
        candidates=(config,) if config else command.candidates,
        unknown=(),
        ask=False,
        question=None,
    )
    context = thread_context(press.services, press.conversation)
    return settle(chosen, press.services.vocabulary().index, press.services.engines, context)


def _handle(press: Press, run: Run, command: Command, text: str, *, answers: bool = False) -> None:
    """`answers`: the button is one of a question's, which is answered then and loses its buttons."""
    needed, handler = press.handlers[command.intent]

    def allowed() -> bool:
        may = press.require(needed, command.host, command.intent.value)
        if may and answers:
            # no step of its own: runs of before have none
            context = {"by": press.actor.id, "config": command.config, "host": command.host, "text": text or None}
            message = Message(template="chosen", context=context)
            press.services.messenger.update(press.posted, message, final=True)
        return may

    if not run.step("permitted", allowed):
        return
    request = Request(
        id=press.request_id,
        actor=press.actor,
        conversation=_thread_of(press),
        command=replace(command, text=text),
        context=thread_context(press.services, press.conversation),
        confirmed=bool(press.value.extra.get("confirmed")),
    )
    handler(press.services, request, run)


def _thread_of(press: Press) -> Conversation:
    """Answers stay in the thread of the message whose button was pressed; a direct message needs none."""
    thread = press.posted.thread_ts or press.conversation.thread_ts
    if thread is None and not press.conversation.direct:
        thread = press.posted.ts
    return replace(press.conversation, thread_ts=thread)


def _run_text(press: Press, run: Run) -> None:
    """A button that says a sentence."""
    text = press.extra("text") or ""
    context = thread_context(press.services, press.conversation)
    stored = run.step("understand", lambda: to_json(read(press.services, text, context)))
    _handle(press, run, from_json(Command, stored), text)


def _relaunch(press: Press, run: Run) -> None:
    """Launch a known revision: on its host as a restart where something of it runs, else as a start."""
    services = press.services
    host, config = press.extra("host") or "", press.extra("config") or ""
    if not run.step("permitted", lambda: press.require(Permission.OPERATE, host, "start")):
        return
    running = run.step("running", lambda: [one.config for one in services.launches.running(host)])
    replaces = config if config in running else (running[0] if len(running) == 1 else None)
    overrides = press.value.extra.get("overrides") or {}
    wanted = Wanted(
        request_id=press.request_id,
        verb="restart" if replaces else "start",
        host=host,
        config=config,
        revision=press.extra("revision"),
        overrides=overrides if isinstance(overrides, dict) else {},
        text=f"{'restart' if replaces else 'start'} {config} on {host}",
        reasons=("asked for by button",),
        target_config=replaces,
    )
    propose(services, run, wanted, press.actor, _thread_of(press))


def _start(press: Press, run: Run) -> None:
    """Plan a start of exactly this revision, on other GPUs where the button names some."""
    gpus = press.value.extra.get("gpus")
    listed = [int(one) for one in gpus if isinstance(one, int)] if isinstance(gpus, list) else []
    _start_as(press, run, f"gpus {listed}", overrides={"gpus": listed} if listed else {}, when_free=False)


def _wait(press: Press, run: Run) -> None:
    """Start it once its GPUs are free; at once where they are by now."""
    _start_as(press, run, "wait", overrides={}, when_free=True)


def _start_as(press: Press, run: Run, what: str, *, overrides: Mapping[str, Any], when_free: bool) -> None:
    services = press.services
    host, config = press.extra("host") or "", press.extra("config") or ""
    if not run.step("permitted", lambda: press.require(Permission.OPERATE, host, "start")):
        return
    where = f" on gpus {','.join(map(str, overrides['gpus']))}" if overrides else ""
    wanted = Wanted(
        # of the card, not of the click: a second click is the same request
        request_id=f"{press.posted.channel}:{press.posted.ts}:{what}",
        verb="start",
        host=host,
        config=config,
        revision=press.extra("revision"),
        overrides=overrides,
        text=f"start {config} on {host}{where}",
        note=press.extra("note") or "",
        reasons=("asked for by button",),
        when_free=when_free,
    )
    used: Any = run.step("used", lambda: _became(services, wanted.operation))
    if used == "open":
        run.step("say used", lambda: press.private("old_button", {"why_not": "used"}))
        return
    if used == "over":
        wanted = replace(wanted, request_id=press.request_id)
    propose(services, run, wanted, press.actor, _thread_of(press))


def _became(services: Services, operation: str) -> str:
    """ "open" while what the button asked for is under way, "over" once it has ended, "" before."""
    wait = services.waits.get(operation)
    if wait is not None:
        return "open" if wait.state is WaitState.WAITING else "over"
    try:
        state = services.operations.state(operation)
    except RefusedError:
        return ""
    return "open" if state in (OperationState.PROPOSED, OperationState.RUNNING) else "over"


def _cancel_wait(press: Press, run: Run) -> None:
    services = press.services
    wait = services.waits.get(press.extra("wait") or "")
    if wait is None:
        run.step("say used", lambda: press.private("old_button", {"why_not": "gone"}))
        return
    if not run.step("permitted", lambda: press.require(Permission.OPERATE, wait.host, "cancel")):
        return

    def work() -> str:
        message = waits.cancel(services, wait, press.actor)
        return services.messenger.post(_thread_of(press), message, key=f"{press.request_id}:answer").ts

    run.step("cancel", work)


def _cancel(press: Press, run: Run) -> None:
    plan = press.services.operations.plan(press.value.operation)
    if not run.step("permitted", lambda: press.require(Permission.OPERATE, plan.host, "cancel")):
        return

    def work() -> str:
        message = cancel(press.services, press.value.operation, press.actor)
        return press.services.messenger.post(_thread_of(press), message, key=f"{press.request_id}:answer").ts

    run.step("cancel", work)


def _unschedule(press: Press, run: Run) -> None:
    if not run.step("permitted", lambda: press.require(Permission.OPERATE, None, "unschedule")):
        return
    schedule = press.extra("schedule") or ""

    def work() -> bool:
        from bot.workflows.rhythm import rhythm

        services = press.services
        known = {one.id: rhythm(one) for one in services.schedules.all()}
        removed = [known[schedule]] if services.schedules.remove(schedule) else []
        services.messenger.update(
            press.posted, Message(template="unscheduled", context={"removed": removed}), final=True
        )
        return True

    run.step("unschedule", work)


def _trust(press: Press, run: Run) -> None:
    host, key = press.extra("host") or "", press.extra("key") or ""
    if not run.step("permitted", lambda: press.require(Permission.ADMINISTER, host, "trust")):
        return

    def work() -> bool:
        trust(press.services, host, key, press.actor)
        context = {"host": host, "fingerprint": key, "by": press.actor.id}
        press.services.messenger.update(press.posted, Message(template="host_trusted", context=context), final=True)
        return True

    run.step("trust", work)


def _save(press: Press, run: Run) -> None:
    if not run.step("permitted", lambda: press.require(Permission.OPERATE, None, "save")):
        return

    def work() -> str:
        message = save_found(press.services, press.value, press.actor)
        return press.services.messenger.post(_thread_of(press), message, key=f"{press.request_id}:answer").ts

    run.step("save", work)


_ACTIONS: dict[str, Callable[[Press, Run], None]] = {
    "approve": _approve,
    "reject": _reject,
    "choose": _choose,
    "run": _run_text,
    "relaunch": _relaunch,
    "retry": _relaunch,
    "cancel": _cancel,
    "start": _start,
    "wait": _wait,
    "cancel_wait": _cancel_wait,
    "unschedule": _unschedule,
    "trust": _trust,
    "save": _save,
    "save_all": _save,
}
