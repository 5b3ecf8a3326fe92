"""help: what can be said, from the commands' own syntax, with examples from the live catalog."""

import re
from typing import Any

from bot.commands._spec import CommandSpec
from bot.core.access import permission
from bot.core.domain.command import Intent
from bot.core.domain.message import Message
from bot.core.domain.operation import Permission
from bot.core.language.help import Topic, topics
from bot.workflows.answer import answer
from bot.workflows.ports import Run
from bot.workflows.services import Request, Services

#: the short help: what is shown in which group, in this order
_GROUPS: dict[str, tuple[Intent, ...]] = {
    "change": (Intent.START, Intent.STOP, Intent.RESTART),
    "look": (Intent.STATUS, Intent.HEALTH, Intent.LOGS, Intent.COMPARE),
    "keep": (Intent.CATALOG, Intent.HISTORY, Intent.SCHEDULE),
}


def _run(services: Services, request: Request, run: Run) -> None:
    may = permission(request.actor, services.policy, request.conversation.channel, None)

    def look() -> Message:
        known = {topic.intent: topic for topic in topics(services.catalog.catalog(), services.hosts.inventory())}
        asked = about(request.command.text)
        shown = {"": (asked,)} if asked else _GROUPS
        return Message(
            template="help",
            context={
                "topic": asked.value if asked else None,
                "groups": [
                    {"name": name, "verbs": [_verb(known[one], short=asked is None) for one in intents]}
                    for name, intents in shown.items()
                ],
                "more": sorted(one.value for one in known if asked is None and one is not Intent.HELP),
                "direct": request.conversation.direct or request.conversation.channel.startswith("cli:"),
                "may": may.name.lower(),
            },
        )

    answer(services, request, run, look)


def about(text: str) -> Intent | None:
    """The verb that help is asked on: "help start"; None for all of it."""
    words = re.findall(r"[a-z]+", text.lower())
    named = [one for one in Intent if one.value in words and one not in (Intent.HELP, Intent.NONE)]
    return named[0] if named else None


def _verb(topic: Topic, *, short: bool) -> dict[str, Any]:
    return {
        "name": topic.intent.value,
        "syntax": [] if short else list(topic.syntax),
        "examples": list(topic.examples[:1] if short else topic.examples),
    }


COMMAND = CommandSpec(intent=Intent.HELP, permission=Permission.READ, run=_run)
