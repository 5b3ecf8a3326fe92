"""help: what can be said, from the commands' own syntax, with examples from the live catalog."""

from bot.commands._spec import CommandSpec
from bot.core.access import permission
from bot.core.domain.command import Intent
from bot.core.domain.message import Message
from bot.core.domain.operation import Permission
from bot.core.language.help import topics
from bot.workflows.answer import answer
from bot.workflows.home import examples
from bot.workflows.ports import Run
from bot.workflows.services import Request, Services


def _run(services: Services, request: Request, run: Run) -> None:
    may = permission(request.actor, services.policy, request.conversation.channel, None)

    def look() -> Message:
        known = topics(services.catalog.catalog(), services.hosts.inventory())
        return Message(
            template="help",
            context={
                "topic": None,
                "verbs": [
                    {"name": t.intent.value, "help": " · ".join(t.syntax), "examples": list(t.examples[:2])}
                    for t in known
                ],
                "examples": list(examples(services, limit=4)),
                "may": may.name.lower(),
            },
        )

    answer(services, request, run, look)


COMMAND = CommandSpec(intent=Intent.HELP, permission=Permission.READ, run=_run)
