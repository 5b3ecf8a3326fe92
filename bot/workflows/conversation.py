"""One sentence from a person: understand it, check who asks, do it, and say so; errors become messages."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import structlog

from bot.core.access import permission
from bot.core.catalog.edits import archived_named
from bot.core.domain.catalog import Catalog
from bot.core.domain.command import ACTIONS, Command, Intent, Question, ThreadContext
from bot.core.domain.host import Inventory
from bot.core.domain.message import Conversation, Json, Message
from bot.core.domain.operation import Actor, Permission
from bot.core.domain.records import from_json, to_json
from bot.core.language.understand import understand
from bot.errors import HostKeyError, RelaunchError, TemporaryError
from bot.workflows.hosts import key_message
from bot.workflows.ports import Run
from bot.workflows.services import Request, Services

_log = structlog.get_logger()
#: the vocabulary holds both
_NO_CATALOG, _NO_INVENTORY = Catalog(), Inventory()

#: does one intent; the permission it needs comes with it
Handler = tuple[Permission, Callable[[Services, Request, Run], None]]


def converse(services: Services, handlers: Mapping[Intent, Handler], run: Run, arguments: Mapping[str, Any]) -> Json:
    """Carry out one sentence. arguments: request_id, actor, conversation, text."""
    actor = from_json(Actor, arguments["actor"])
    conversation = from_json(Conversation, arguments["conversation"])
    request_id = str(arguments["request_id"])

    def work() -> None:
        context = thread_context(services, conversation)
        text = str(arguments["text"])
        stored = run.step("understand", lambda: to_json(_read_here(services, text, conversation, context)))
        command = from_json(Command, stored)
        request = Request(id=request_id, actor=actor, conversation=conversation, command=command, context=context)
        needed, handler = handlers[command.intent]
        if run.step(
            "permitted",
            lambda: permitted(services, actor, conversation, command.host, needed, command.intent.value),
        ):
            handler(services, request, run)

    return telling(services, run, conversation, request_id, work)


def _read_here(services: Services, text: str, conversation: Conversation, context: ThreadContext | None) -> Command:
    """In a thread its launch is what is talked of. A direct message goes from one thing to the next: there the last
    launch is meant only by a sentence that says nothing without it."""
    if context is None or conversation.thread_ts is not None:
        return read(services, text, context)
    alone = read(services, text, None)
    if alone.intent is Intent.START or not (alone.ask or alone.intent is Intent.NONE):
        return alone
    follow_up = read(services, text, context)
    return alone if follow_up.ask or follow_up.intent is Intent.NONE else follow_up


def read(services: Services, text: str, context: ThreadContext | None) -> Command:
    """Understand a sentence against the live catalog. What names an archived config is asked about: the words may also
    fit one that is offered."""
    command = understand(
        text,
        _NO_CATALOG,
        _NO_INVENTORY,
        context,
        vocabulary=services.vocabulary(),
        now=services.clock.now(),
    )
    if command.intent in ACTIONS and not command.ask:
        hidden = archived_named(services.catalog.catalog(), text)
        if hidden is not None and command.config != hidden.name:
            asked = Question(code="unknown_name", values={"names": [hidden.name]})
            return replace(command, ask=True, question=asked, candidates=())
    return command


def thread_context(services: Services, conversation: Conversation) -> ThreadContext | None:
    """The launch that a thread is about."""
    launch = services.launches.in_thread(conversation) if conversation.joined else None
    if launch is None:
        return None
    return ThreadContext(
        config=launch.config or None, host=launch.host, state=launch.state, launch_number=launch.number
    )


def permitted(
    services: Services, actor: Actor, conversation: Conversation, host: str | None, needed: Permission, verb: str
) -> bool:
    """Whether this person may do this here, now; if not, it is said to them alone."""
    has = permission(actor, services.policy, conversation.channel, host)
    if has >= needed:
        return True
    context: dict[str, Any] = {
        "verb": verb,
        "host": host,
        "needs": needed.name.lower(),
        "has": has.name.lower(),
        "outsider": actor.outsider,
        "same_person": False,
        "ask": [],
    }
    services.messenger.private(conversation, actor, Message(template="not_permitted", context=context))
    return False


def telling(
    services: Services, run: Run, conversation: Conversation, request_id: str, work: Callable[[], None]
) -> Json:
    """Run `work`; say what went wrong in the thread, known errors in their own words, others by a reference."""
    try:
        work()
    except RelaunchError as error:
        _log.info("refused or failed", error=error.message, host=error.host)
        message = key_message(services, error) if isinstance(error, HostKeyError) else problem(error)
        run.step("say problem", lambda: _post(services, conversation, message, f"{request_id}:problem"))
        return {"outcome": "problem", "message": error.message}
    except Exception as error:  # noqa: BLE001 - the border: nobody above could tell the person
        reference = hashlib.sha256(f"{request_id}{error!r}".encode()).hexdigest()[:8]
        _log.exception("unexpected error", reference=reference)
        unexpected = Message(template="error", context={"reference": reference, "doing": None})
        run.step("say error", lambda: _post(services, conversation, unexpected, f"{request_id}:error"))
        return {"outcome": "error", "reference": reference}
    return {"outcome": "done"}


def problem(error: RelaunchError) -> Message:
    """A known error as a message."""
    return Message(
        template="problem",
        context={
            "message": error.message,
            "remedy": error.remedy,
            "host": error.host,
            "temporary": isinstance(error, TemporaryError),
            "again": None,
        },
    )


def _post(services: Services, conversation: Conversation, message: Message, key: str) -> bool:
    services.messenger.post(conversation, message, key=key)
    return True
