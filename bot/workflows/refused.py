"""What is shown instead of a plan: why not, what would help, and that it waits, as messages with ways on."""

from dataclasses import replace
from typing import Any

from bot.core.domain.finding import Finding
from bot.core.domain.message import Conversation, Json
from bot.core.domain.operation import Actor, AuditEvent
from bot.core.domain.plan import Refusal
from bot.core.domain.waiting import Wait, WaitState
from bot.core.planning.revision import diff_lines
from bot.core.rendering.redact import redact
from bot.workflows import underway, waits
from bot.workflows.services import Services
from bot.workflows.wanted import Wanted

#: of a person's reason, in a button's value
_NOTE_LIMIT = 300


def not_planned(services: Services, wanted: Wanted, refusal: Refusal, actor: Actor, conversation: Conversation) -> Json:
    """What is shown instead of a plan: that it waits, that it runs already, or why it is refused."""
    if wanted.when_free and refusal.passing and wanted.config:
        wait = _wait(services, wanted, refusal, actor, conversation)
        offers = _ways_on(wanted, refusal) if wait.state is WaitState.WAITING else []
        others = [one for one in offers if one["action"] != "wait"]
        audit(services, wanted, actor, "waits for its GPUs")
        return {"template": "waiting_free", "context": waits.context(services, wait, offers=others)}
    audit(services, wanted, actor, f"refused: {refusal.reason}")
    if refusal.underway is not None:
        return {"template": "underway", "context": underway.card(services, refusal, _ways_on(wanted, refusal))}
    if refusal.running is not None:
        return {"template": "already_running", "context": _already_running(services, wanted, refusal)}
    if refusal.absent:
        return {"template": "nothing_running", "context": _nothing_running(services, wanted, refusal)}
    return {"template": "refusal", "context": _refusal(wanted, refusal)}


def _wait(services: Services, wanted: Wanted, refusal: Refusal, actor: Actor, conversation: Conversation) -> Wait:
    """A new wait, or the one that this came from taken up again: somebody was faster."""
    if wanted.wait is not None:
        services.waits.move(wanted.wait, WaitState.WAITING, by=wanted.operation)
        there = services.waits.get(wanted.wait)
        if there is not None:
            return replace(there, holders=tuple(redact(one) for one in refusal.holders))
    asked = waits.Asked(
        id=wanted.operation,
        host=wanted.host,
        config=wanted.config or "",
        actor=actor,
        conversation=conversation,
        text=wanted.text,
        note=wanted.note,
    )
    return waits.begin(services, asked, refusal)


def _refusal(wanted: Wanted, refusal: Refusal) -> dict[str, Any]:
    return {
        "verb": wanted.verb,
        "host": wanted.host,
        "config": wanted.config or wanted.target_config,
        "reason": refusal.reason,
        "remedy": refusal.remedy,
        "findings": [
            {**finding_card(one), "evidence": [redact(line) for line in one.evidence]}
            for one in refusal.findings
            if one.judgement != "ok"
        ],
        "offers": _ways_on(wanted, refusal),
    }


def _ways_on(wanted: Wanted, refusal: Refusal) -> list[dict[str, Any]]:
    """Other GPUs that are free, and waiting, as buttons; each is planned anew when it is pressed."""
    if not refusal.passing or wanted.config is None:
        return []
    extra = {
        "config": wanted.config,
        "host": wanted.host,
        "revision": refusal.revision,
        **({"note": wanted.note[:_NOTE_LIMIT]} if wanted.note else {}),
    }
    offers: list[dict[str, Any]] = [
        {
            "label": f"Start on {'GPU' if len(gpus) == 1 else 'GPUs'} {','.join(map(str, gpus))}",
            "action": "start",
            "operation": wanted.operation,
            "extra": {**extra, "gpus": list(gpus)},
        }
        for gpus in refusal.free_gpus
    ]
    return [*offers, {"label": "Start when free", "action": "wait", "operation": wanted.operation, "extra": extra}]


def _already_running(services: Services, wanted: Wanted, refusal: Refusal) -> dict[str, Any]:
    """What runs, and how it differs from what was asked for."""
    launch = services.launches.get(refusal.running or "")
    config = services.catalog.catalog().configs.get(wanted.config or "")
    revisions = {one.id: one for one in config.revisions} if config else {}
    runs, asked = revisions.get(launch.revision if launch else ""), revisions.get(refusal.revision or "")
    lines = diff_lines(services.engines[asked.engine], runs, asked) if runs and asked else ()
    since = launch.started_at if launch else None
    restart = {
        "label": "Restart with these",
        "action": "relaunch",
        "operation": wanted.operation,
        "extra": {"config": wanted.config, "host": wanted.host, "revision": refusal.revision},
    }
    return {
        "config": wanted.config,
        "host": wanted.host,
        "since_s": (services.clock.now() - since).total_seconds() if since else None,
        "by": launch.requested_by if launch else None,
        "state": launch.state if launch else None,
        "differences": [{"name": one.name, "old": one.old, "new": one.new} for one in lines],
        "offer": restart if lines else None,
    }


def _nothing_running(services: Services, wanted: Wanted, refusal: Refusal) -> dict[str, Any]:
    """What ended last, and what runs instead."""
    name = wanted.target_config
    last = next(iter(services.launches.recent(config=name, host=wanted.host, limit=1)), None) if name else None
    return {
        "verb": wanted.verb,
        "config": name,
        "host": wanted.host,
        "last": {"number": last.number, "state": last.state} if last else None,
        "elsewhere": [{"config": one, "host": wanted.host} for one in refusal.others],
    }


def finding_card(finding: Finding) -> dict[str, Any]:
    return {
        "judgement": finding.judgement.value,
        "summary": redact(finding.summary),
        "remedy": redact(finding.remedy),
    }


def audit(services: Services, wanted: Wanted, actor: Actor, outcome: str) -> None:
    services.audit.add(
        AuditEvent(
            at=services.clock.now(),
            actor=actor.id,
            action=wanted.verb,
            host=wanted.host,
            config=wanted.config or wanted.target_config,
            operation=wanted.operation,
            outcome=outcome,
            detail=wanted.text[:2000],
        )
    )
