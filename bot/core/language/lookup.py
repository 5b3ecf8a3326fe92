"""Requests that change nothing on a host: their slots, and what they are about."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

from bot.core.catalog.edits import EditKind
from bot.core.catalog.resolve import by_names, narrowed, ranked_names
from bot.core.domain.command import Command, Intent, Question, Reason
from bot.core.language import comparing, editing, phrases, saving, slots, topics
from bot.core.language.draft import draft, leftovers, names_target, nearest, tags
from bot.core.language.message import Message
from bot.core.language.slots import Slots
from bot.core.language.speech import Act
from bot.core.language.vocabulary import Vocabulary

_OF_ONE = frozenset({Intent.LOGS, Intent.BENCH, Intent.INSPECT, Intent.SHOW, Intent.SAVE})
_EDITS = frozenset(kind.value for kind in EditKind)
#: changes that need nothing but a config; a pin without a revision means the one that is launched now
_NO_VALUE = frozenset({EditKind.PIN, EditKind.UNPIN, EditKind.ARCHIVE, EditKind.RESTORE})
_OF_NO_THREAD = frozenset({Intent.SCHEDULE, Intent.UNSCHEDULE, Intent.SCHEDULES, Intent.HELP, Intent.HOSTS})


def command(message: Message, intent: Intent, act: Act, found: Slots) -> Command:
    """A reading request, located by the catalog and the thread, with the question that is left."""
    changed = editing.edit(act.clause.tokens[act.at :]) if intent is Intent.SAVE else None
    if changed is not None:
        return _edited(message, changed)
    made = _counted(draft(message.text, intent, found), found, message.vocabulary)
    if intent is Intent.SAVE:
        made = _named_save(made, act)
    elif intent not in (Intent.HELP, Intent.NONE):
        made = replace(made, unknown=_unknown(made, found, message.vocabulary))
    return _asked(_located(made, found, message), found, message)


def _counted(made: Command, found: Slots, vocabulary: Vocabulary) -> Command:
    counts, rhythm = found.counts, found.rhythm
    levels = counts.concurrency
    return replace(
        made,
        overrides={},
        relative=(),
        flags={},
        tags=tags(made.names, vocabulary.index),
        lines=counts.lines,
        concurrency=(levels[0] if len(levels) == 1 else list(levels)) if levels else None,
        prompt_tokens=counts.prompt_tokens,
        output_tokens=counts.output_tokens,
        topics=topics.topics(found.text) if made.intent in (Intent.INSPECT, Intent.COMPARE) else (),
        when=phrases.when(found.text),
        every=rhythm.every if rhythm else None,
        cron=rhythm.cron if rhythm else None,
    )


def _unknown(made: Command, found: Slots, vocabulary: Vocabulary) -> tuple[str, ...]:
    """ "logs for falcon": a word behind "for", "of" or "from" that is in no vocabulary."""
    if made.names or made.hosts or made.unknown or made.engine or found.hosts.several or made.all:
        return made.unknown
    for before, token in pairwise(found.tokens):
        placed = before.text in ("for", "of", "from") and token.kind == "word" and not token.role
        if placed and token.text not in vocabulary.known and not token.text.isdigit():
            return (token.raw,)
    return ()


def _named_save(made: Command, act: Act) -> Command:
    saved = saving.save(act.clause.words[act.at :], [t.raw for t in act.clause.tokens[act.at :]])
    if saved is None:
        return made
    return replace(made, name=saved.name, save_as=saved.how, names=(), hosts=(), host=None, unknown=(), all=False)


def _edited(message: Message, changed: editing.Edit) -> Command:
    """A change of the catalog: only the words that name the config are looked up."""
    found = slots.read([*changed.target], message.vocabulary, kind=Intent.SAVE)
    made = replace(
        draft(message.text, Intent.SAVE, found),
        name=changed.value,
        save_as=changed.kind.value,
        overrides={},
        flags={},
        all=False,
    )
    if changed.named and not names_target(made) and not made.unknown:
        made = replace(made, unknown=tuple(leftovers(found.tokens))[:1])
    if made.unknown:
        return _asked(made, found, message)
    return _asked(_located(made, found, message), found, message)


def _located(made: Command, found: Slots, message: Message) -> Command:
    """Model, config and host by the catalog, and by the thread where nothing is said."""
    said = names_target(made) or bool(made.unknown)
    placed = bool(made.hosts or found.hosts.several or made.all)
    if not said and not placed and message.context is not None and made.intent not in _OF_NO_THREAD:
        return _of_thread(made, message)
    if not said:
        return made
    if made.intent is Intent.COMPARE:
        return comparing.compared(made, found, message.vocabulary, message.context)
    index = message.vocabulary.index
    ids = by_names(made, index)
    ids, reasons = narrowed(made, index, ids, context=message.context, now=message.now) if ids else (ids, ())
    models = tuple(dict.fromkeys(index.models[i] for i in sorted(ids)))
    hosts = {index.hosts[i] for i in ids}
    host = made.host
    if not made.hosts and len(hosts) == 1 and made.intent in _OF_ONE:
        host = next(iter(hosts))
    return replace(
        made,
        model=models[0] if len(models) == 1 else None,
        models=models[:8],
        config=index.configs[min(ids)].name if len(ids) == 1 else None,
        host=host,
        hosts=made.hosts or ((host,) if host else ()),
        candidates=ranked_names(index, ids) if len(ids) > 1 else (),
        reasons=(*made.reasons, *reasons),
    )


def _of_thread(made: Command, message: Message) -> Command:
    context, index = message.context, message.vocabulary.index
    if context is None:
        return made
    number = index.numbers.get(context.config or "")
    return replace(
        made,
        host=context.host,
        hosts=(context.host,) if context.host else (),
        config=context.config,
        model=index.models[number] if number is not None else None,
        reasons=(*made.reasons, Reason(slot="host", value=context.host or "", how="thread")),
    )


def _asked(made: Command, found: Slots, message: Message) -> Command:
    """A reading request asks only when it cannot know what to look at."""
    question = _question(made, found, message)
    if question is None:
        return made
    near = nearest(made.unknown, message.vocabulary) if made.unknown else {}
    return replace(made, ask=True, question=question, nearest=near)


def _question(made: Command, found: Slots, message: Message) -> Question | None:
    if made.unknown:
        values: Mapping[str, Any] = {"names": list(made.unknown)}
        return Question(code="unknown_name", values=values)
    if found.hosts.several and made.intent in _OF_ONE | {Intent.SCHEDULE, Intent.SCAN}:
        options = sorted(set().union(*found.hosts.several))[:5]
        return Question(code="which_host", values={"hosts": options})
    if made.intent is Intent.SAVE:
        if made.config is None and made.candidates and made.save_as in _EDITS:
            return Question(code="which_config")
        if made.save_as in _NO_VALUE and made.config:
            return None
        if message.context is None and not made.config and not made.launch_numbers:
            return Question(code="which_target")
        return None if made.name else Question(code="no_name")
    if made.intent is Intent.SCHEDULE and not (made.every or made.cron):
        return Question(code="no_schedule")
    return _which(made) if made.intent in _OF_ONE else None


def _which(made: Command) -> Question | None:
    if made.intent is Intent.SHOW and made.config is None and len(made.candidates) > 1:
        return Question(code="which_config")
    if made.host or made.config or made.hosts or made.launch_numbers:
        return None
    return Question(code="which_config" if made.candidates else "which_target")
