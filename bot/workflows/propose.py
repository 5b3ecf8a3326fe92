"""From what is wanted to a plan that people see: look at the host, plan, store, show; then go on or ask first."""

import re
from dataclasses import replace
from typing import Any

from bot.core.catalog.proven import best_revision
from bot.core.domain.catalog import LaunchConfig, LaunchRecord, Revision
from bot.core.domain.host import Host
from bot.core.domain.message import Conversation, Json, Message, Posted
from bot.core.domain.operation import Actor, Approval, OperationState
from bot.core.domain.plan import Plan, Refusal
from bot.core.domain.records import from_json, to_json
from bot.core.planning import (
    Running,
    StartRequest,
    derived_revision,
    plan_restart,
    plan_start,
    plan_stop,
)
from bot.core.planning.free import news
from bot.core.rendering.redact import redact
from bot.errors import BadInputError
from bot.workflows import waits
from bot.workflows.drift import start_drift
from bot.workflows.engine_help import look_for_start
from bot.workflows.look import look
from bot.workflows.ports import Run
from bot.workflows.refused import audit, finding_card, not_planned
from bot.workflows.running import running_on
from bot.workflows.servers import busy_requests, observe
from bot.workflows.services import Services
from bot.workflows.underway import underway
from bot.workflows.wanted import Wanted

#: a unit in words such as "unit a.service, Environment=HF_HOME" or "unit /etc/systemd/system/a.service, last seen …"
_UNIT_FILE = re.compile(r"\bunit (?:/\S*/)?([^/\s]+)\.service\b")


def propose(services: Services, run: Run, wanted: Wanted, actor: Actor, conversation: Conversation) -> str:
    """Look, plan, show; carried out at once where nothing needs an approval. Gives the template that was shown."""
    card = from_json(Posted, run.step("say reading", lambda: to_json(_post_reading(services, wanted, conversation))))
    outcome: Any = run.step("plan", lambda: _plan(services, wanted, actor, conversation))
    message = Message(template=outcome["template"], context=outcome["context"])
    run.step("show plan", lambda: _update(services, card, message))
    template, operation = str(outcome["template"]), wanted.operation
    if template == "plan" and outcome["context"]["next"] == "approval":
        run.step("ask approval", lambda: ask_approval(services, operation))
    elif template == "plan" and outcome["context"]["next"] == "now":
        run.step("set running", lambda: _set_running(services, operation))
        run.step("submit", lambda: submit(services, operation, wanted.host))
    return template


def run_of(operation: str) -> str:
    """Id of the run that carries an operation out."""
    return f"carry:{operation}"


def submit(services: Services, operation: str, host: str) -> str:
    """Enqueue the run that carries an operation out; once."""
    services.runs.submit("carry_out_v1", run_id=run_of(operation), partition=host, arguments={"operation": operation})
    return operation


def _post_reading(services: Services, wanted: Wanted, conversation: Conversation) -> Posted:
    if wanted.wait is not None and (wait := services.waits.get(wanted.wait)) is not None:
        free = {**waits.context(services, wait), "state": "free"}
        message = Message(template="waiting_free", context=free)
        return services.messenger.post(conversation, message, key=f"{wanted.operation}:card")
    message = Message(
        template="reading",
        context={
            "verb": wanted.verb,
            "config": wanted.config or wanted.target_config,
            "host": wanted.host,
            "overrides": dict(wanted.overrides),
            "reasons": list(wanted.reasons),
            "ignored": list(wanted.ignored),
            "note": wanted.note or None,
            "looking": True,
        },
    )
    return services.messenger.post(conversation, message, key=f"{wanted.operation}:card")


def _update(services: Services, card: Posted, message: Message) -> bool:
    services.messenger.update(card, message, final=True)
    return True


def _set_running(services: Services, operation: str) -> bool:
    services.operations.set_state(operation, OperationState.RUNNING, at=services.clock.now())
    return True


def _plan(services: Services, wanted: Wanted, actor: Actor, conversation: Conversation) -> Json:
    """Look and plan; stores the plan. Gives the card's template and context."""
    host = known_host(services, wanted.host)
    made = plan(services, host, wanted, actor)
    if wanted.verb != "stop":
        made = underway(services, made, operation=wanted.operation, host=wanted.host, config=wanted.config) or made
    _keep_revision(services, wanted, actor, made)
    if isinstance(made, Refusal):
        return not_planned(services, wanted, made, actor, conversation)
    fresh = news(wanted.shown, made.findings) if wanted.wait else ()
    if fresh and not made.needs_approval:
        # what was agreed to is not what would be done now: the person decides
        return {"template": "plan", "context": _news_card(services, wanted, made, fresh)}
    made = replace(made, needs_approval=(*made.needs_approval, *fresh))
    now = services.clock.now()
    services.operations.propose(
        operation=wanted.operation,
        plan=made,
        conversation=conversation,
        actor=actor,
        text=wanted.text,
        note=wanted.note,
        at=now,
    )
    audit(services, wanted, actor, "waits for approval" if made.needs_approval else "carried out")
    return {"template": "plan", "context": _plan_card(services, wanted, made)}


def plan(services: Services, host: Host, wanted: Wanted, actor: Actor) -> Plan | Refusal:
    """Look at the host and plan. Raises BadInputError for an override that the engine does not have."""
    if wanted.verb == "stop":
        facts = look(services, host, only=("units", "containers", "ports", "system", "gpu_processes"))
        target = choose_target(running_on(services, host, facts), wanted, _found_units(services, wanted))
        return target if isinstance(target, Refusal) else plan_stop(host, target, facts, reasons=wanted.reasons)
    config, revision = wanted_revision(services, wanted, actor)
    engine = services.engines[revision.engine]
    facts = look_for_start(services, host, engine, revision)
    running = running_on(services, host, facts)
    request = StartRequest(
        operation_id=wanted.operation,
        host=host,
        config=config,
        revision=revision,
        engine=engine,
        facts=facts,
        checks=services.checks,
        running=running,
        history=_history(services, config.name, host.name),
        reasons=wanted.reasons,
        drift=start_drift(services, config, revision, host.name, facts),
    )
    found = _found_units(services, wanted)
    if wanted.verb == "start" or (wanted.unless_found and not any(_unit_name(one) in found for one in running)):
        return plan_start(request)
    target = choose_target(running, wanted, found)
    return target if isinstance(target, Refusal) else plan_restart(request, target)


def wanted_revision(services: Services, wanted: Wanted, actor: Actor) -> tuple[LaunchConfig, Revision]:
    """The config and the revision to launch, overrides applied. A new revision is among the config's, not stored."""
    catalog = services.catalog.catalog()
    config = catalog.configs.get(wanted.config or "")
    if config is None:
        raise BadInputError(f"there is no config {wanted.config}", remedy="say “list configs” to see the known ones")
    launches = [one for one in catalog.launches if one.config == config.name]
    base = config.revision(wanted.revision) or best_revision(config, launches)
    strange = [flag for engine, flags in wanted.flags.items() if engine != base.engine for flag in flags]
    if strange and base.engine not in wanted.flags:
        raise BadInputError(
            f"{base.engine} has no flag --{', --'.join(strange)}", remedy=f"{config.name} runs on {base.engine}"
        )
    revision = derived_revision(
        services.engines[base.engine],
        base,
        wanted.overrides,
        flags=wanted.flags.get(base.engine),
        source="change in thread" if wanted.verb == "change" else "request",
        author=actor.id,
        note=wanted.note,
        created_at=services.clock.now(),
    )
    if config.revision(revision.id) is None:
        config = replace(config, revisions=(*config.revisions, revision))
    return config, revision


def _keep_revision(services: Services, wanted: Wanted, actor: Actor, made: Plan | Refusal) -> None:
    """Store a new revision once something goes on with it: a plan, or a refusal that shows a way on. What is refused
    for good leaves nothing behind."""
    if wanted.verb == "stop" or (
        isinstance(made, Refusal) and not made.passing and made.running is None and made.underway is None
    ):
        return
    config, revision = wanted_revision(services, wanted, actor)
    services.catalog.add_revision(config.name, revision)


def _found_units(services: Services, wanted: Wanted) -> frozenset[str]:
    """Units of others, without ".service", and containers that the wanted config was found in."""
    config = services.catalog.catalog().configs.get(wanted.target_config or "")
    if config is None:
        return frozenset()
    places = [place for one in config.revisions for place in (one.source, *one.provenance.values())]
    boxes = [one.provenance.get("container", "").removeprefix("container ") for one in config.revisions]
    return frozenset([*(match[1] for place in places for match in _UNIT_FILE.finditer(place)), *filter(None, boxes)])


def choose_target(
    running: tuple[Running, ...], wanted: Wanted, found_units: frozenset[str] = frozenset()
) -> Running | Refusal:
    """The one server that a stop or restart is about. `found_units`: units of others that run the named config."""
    if wanted.target_unit or wanted.target_pid:
        exact = [one for one in running if _is(one, wanted)]
        return (
            exact[0] if exact else Refusal(reason="what was to be stopped runs no longer", remedy="look at the status")
        )
    name = wanted.target_config
    named = [one for one in running if name and one.launch is not None and one.launch.config == name]
    found = [one for one in running if one.launch is None and _unit_name(one) in found_units]
    # a unit that runs a container keeps it up: the unit is what to stop
    named = named or [one for one in found if one.container is None] or found
    fitting = named or list(running)
    if len(fitting) == 1 and (named or not name or fitting[0].launch is None or wanted.verb != "stop"):
        return fitting[0]
    if not fitting or (name and not named and wanted.verb == "stop"):
        others = ", ".join(one.what for one in running)
        return Refusal(
            reason=f"{name or 'no server of a known engine'} does not run on {wanted.host}"
            if name
            else f"no server of a known engine runs on {wanted.host}",
            remedy=f"these run there: {others}" if others else "say “status” to see what runs where",
            absent=True,
            others=tuple(one.what for one in running),
        )
    return Refusal(
        reason=f"{len(fitting)} servers run on {wanted.host}: {', '.join(one.what for one in fitting)}",
        remedy="say which one, by its config's name",
    )


def _unit_name(one: Running) -> str | None:
    return one.unit.removesuffix(".service") if one.unit else None


def _is(one: Running, wanted: Wanted) -> bool:
    if wanted.target_unit:
        return one.unit == wanted.target_unit
    return one.unit is None and one.pid == wanted.target_pid


def known_host(services: Services, name: str) -> Host:
    """A host of the inventory. Raises BadInputError."""
    host = services.hosts.inventory().hosts.get(name)
    if host is None:
        raise BadInputError(f"{name} is not a known host", remedy="say “hosts” to see the known ones", host=name)
    return host


def relied_on_now(services: Services, made: Plan, operation: str) -> tuple[tuple[str, str], ...]:
    """State of the host that a plan relies on, looked at again, or why it cannot be planned any more."""
    stopped = next((step for step in made.steps if step.kind == "stop"), None)
    wanted = Wanted(
        request_id=operation,
        verb=made.operation,
        host=made.host,
        config=made.config,
        revision=made.revision,
        target_unit=stopped.unit if stopped else None,
        target_pid=stopped.pid if stopped and not stopped.unit else None,
    )
    again = plan(services, known_host(services, made.host), wanted, services.operations.details(operation)["actor"])
    return again.relies_on if isinstance(again, Plan) else (("plan", again.reason),)


def ask_approval(services: Services, operation: str) -> str:
    """Open the approval and post its card."""
    made = services.operations.plan(operation)
    details = services.operations.details(operation)
    expires_at = services.clock.now() + services.approval_lifetime
    services.operations.ask(Approval(operation=operation, fingerprint=made.fingerprint, expires_at=expires_at))
    approval = services.operations.approval(operation)
    message = Message(
        template="approval",
        context={
            "operation": operation,
            "fingerprint": made.fingerprint,
            "verb": made.operation,
            "host": made.host,
            "config": made.config,
            "requested_by": details["actor"].id,
            "because": list(made.needs_approval),
            "serving": _serving(services, made),
            "steps": [{"summary": step.summary} for step in made.steps],
            "diff": [{"name": line.name, "old": line.old, "new": line.new} for line in made.diff],
            "findings": [finding_card(one) for one in made.findings if one.judgement != "ok"],
            "plan": None,
            "note": details["note"] or None,
            "expires_at": (approval.expires_at if approval else expires_at).isoformat(),
        },
    )
    return services.messenger.post(details["conversation"], message, key=f"{operation}:approval").ts


def _serving(services: Services, made: Plan) -> list[dict[str, Any]]:
    """The servers that the plan takes away, and how busy they are now."""
    units = {step.unit for step in made.steps if step.kind == "stop"}
    host = known_host(services, made.host)
    found = []
    for launch in services.launches.running(made.host):
        if services.launches.unit(launch.id) in units:
            view = observe(services, launch, host, prove_token=False)
            found.append(
                {
                    "name": launch.config,
                    "uptime_s": view.uptime_s,
                    "running_requests": busy_requests(services, launch, host),
                    "decode_tok_s": launch.decode_tok_s,
                }
            )
    return found


def _plan_card(services: Services, wanted: Wanted, made: Plan) -> dict[str, Json]:
    return {
        "verb": made.operation if wanted.unless_found else wanted.verb,
        "operation": wanted.operation,
        "fingerprint": made.fingerprint,
        "plan": to_json(made),
        "against": _against(services, made),
        "ignored": list(wanted.ignored),
        "note": wanted.note or None,
        "next": "approval" if made.needs_approval else "now",
    }


def end_card(services: Services, operation: str, state: OperationState) -> None:
    """Edit the card of a plan that was carried out at once: it is over, so there is nothing to cancel. A plan with an
    approval has its buttons on the approval's own card."""
    made, details = services.operations.plan(operation), services.operations.details(operation)
    if made.needs_approval:
        return
    context = {
        "verb": made.operation,
        "operation": operation,
        "fingerprint": made.fingerprint,
        "plan": to_json(made),
        "against": _against(services, made, but=operation),
        "ignored": [],
        "note": details["note"] or None,
        "next": "over",
        "outcome": state.value,
    }
    message = Message(template="plan", context=context)
    # posting with the card's key gives the card that is there
    card = services.messenger.post(details["conversation"], message, key=f"{operation}:card")
    services.messenger.update(card, message, final=True)


def _against(services: Services, made: Plan, *, but: str = "") -> str | None:
    for launch in reversed(_history(services, made.config, made.host)):
        if launch.id != but and launch.ready_after_s is not None:
            speed = f" at {launch.decode_tok_s:.0f} tok/s" if launch.decode_tok_s else ""
            return f"launch #{launch.number}, ready{speed}"
    return None


def _history(services: Services, config: str | None, host: str) -> tuple[LaunchRecord, ...]:
    """Launches of a config on a host, oldest first."""
    return tuple(reversed(services.launches.recent(config=config, host=host, limit=50))) if config else ()


def _news_card(services: Services, wanted: Wanted, made: Plan, fresh: tuple[str, ...]) -> dict[str, Any]:
    start = {
        "label": "Start it",
        "action": "start",
        "operation": wanted.operation,
        "extra": {"config": wanted.config, "host": wanted.host, "revision": made.revision},
    }
    card = _plan_card(services, wanted, made)
    return {**card, "next": "ask", "news": [redact(one) for one in fresh], "offers": [start]}
