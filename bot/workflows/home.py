"""The App Home of a person, and the first words in a channel."""

from collections.abc import Mapping
from typing import Any

from bot.core.access import permission
from bot.core.domain.command import Intent
from bot.core.domain.message import Conversation, Json, Message
from bot.core.domain.operation import Actor, OperationState
from bot.core.domain.records import from_json
from bot.core.language.help import topics
from bot.workflows.ports import Run
from bot.workflows.servers import observe_all
from bot.workflows.services import Services

#: what is shown as examples: sentences that need no thread, looking before doing
_EXAMPLES = (Intent.STATUS, Intent.START, Intent.HEALTH, Intent.CATALOG, Intent.HISTORY)


def examples(services: Services, *, limit: int) -> tuple[str, ...]:
    """Sentences that can be said right now and anywhere, one for each thing to do."""
    known = {one.intent: one.examples for one in topics(services.catalog.catalog(), services.hosts.inventory())}
    return tuple(known[intent][0] for intent in _EXAMPLES if known.get(intent))[:limit]


def home(services: Services, actor: Actor) -> Message:
    """What one person sees on the home tab."""
    views = observe_all(services, prove_token=False)
    waiting = []
    for operation, kind, host in services.operations.in_state(OperationState.PROPOSED):
        details = services.operations.details(operation)
        config = services.operations.plan(operation).config
        waiting.append({"verb": kind, "config": config, "host": host, "by": details["actor"].id})
    return Message(
        template="home",
        context={
            "may": permission(actor, services.policy, None, None).name.lower(),
            "at": services.clock.now().isoformat(),
            "servers": [
                {
                    "config": view.launch.config,
                    "host": view.launch.host,
                    "state": view.launch.state,
                    "uptime_s": view.uptime_s,
                    "decode_tok_s": view.launch.decode_tok_s,
                }
                for view in views
            ],
            "unreachable": [{"host": v.launch.host, "reason": v.reason} for v in views if v.health_status is None],
            "waiting": waiting,
            "recent": [
                {
                    "number": one.number,
                    "config": one.config,
                    "host": one.host,
                    "state": one.state,
                    "started_at": one.started_at.isoformat(),
                }
                for one in services.launches.recent(limit=5)
            ],
            "examples": list(examples(services, limit=4)),
        },
    )


def joined(services: Services, run: Run, arguments: Mapping[str, Any]) -> Json:
    """First words in a channel. arguments: conversation, inviter."""
    conversation = from_json(Conversation, arguments["conversation"])

    def work() -> str:
        message = Message(
            template="welcome",
            context={
                "name": "@relaunch",
                "examples": list(examples(services, limit=3)),
                "hosts": len(services.hosts.inventory().hosts),
                "configs": len(services.catalog.catalog().configs),
            },
        )
        return services.messenger.post(conversation, message, key=f"{run.id}:welcome").ts

    return {"ts": run.step("welcome", work)}
