"""none: a sentence that asks for nothing; said so where it mentions an action."""

from bot.commands._spec import CommandSpec
from bot.core.domain.command import Intent
from bot.core.domain.message import Message
from bot.core.domain.operation import Permission
from bot.core.language.small_talk import small_talk
from bot.workflows.answer import answer
from bot.workflows.home import examples
from bot.workflows.ports import Run
from bot.workflows.services import Request, Services

#: why an action is not taken -> the word of the template
_WHY = {
    "negated": "negation",
    "question": "question",
    "hypothetical": "question",
    "past": "past",
    "quoted": "quote",
    "deferred": "later",
    "conditional": "condition",
}


def _run(services: Services, request: Request, run: Run) -> None:
    command = request.command
    if command.held is not None:
        context = {
            "why_not": _WHY.get(command.held, "unclear"),
            "verb": "change",
            "config": command.config,
            "host": command.host,
            "offer": None,
        }
        answer(services, request, run, lambda: Message(template="not_acted", context=context))
        return
    said = small_talk(command.text)
    if said is not None:
        greeting = {"said": said.value, "examples": list(examples(services, limit=2))}
        answer(services, request, run, lambda: Message(template="greeting", context=greeting))
        return
    shown = list(examples(services, limit=4))
    answer(services, request, run, lambda: Message(template="not_understood", context={"examples": shown}))


COMMAND = CommandSpec(intent=Intent.NONE, permission=Permission.READ, run=_run)
