"""From slots to a Command: which host and config are meant, and what must be asked first."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from bot.core.catalog.index import CatalogIndex
from bot.core.catalog.nearest import nearest_names
from bot.core.catalog.resolve import by_names, narrowed, ranked, resolve
from bot.core.domain.catalog import Catalog
from bot.core.domain.command import Command, Intent, Question, Reason, ThreadContext
from bot.core.domain.host import Inventory
from bot.core.domain.resolution import Ambiguous, NotFound, Resolved
from bot.core.language import lexicon as lex
from bot.core.language import phrases, topics
from bot.core.language.slots import Slots
from bot.core.language.speech import Act
from bot.core.language.tokens import Token
from bot.core.language.vocabulary import Vocabulary

_EMPTY_CATALOG, _EMPTY_INVENTORY = Catalog(), Inventory()
_SPECULATIVE = frozenset({"speculative_steps", "speculative_draft_tokens", "speculative_topk"})
_NEEDS_TARGET = frozenset({Intent.LOGS, Intent.BENCH, Intent.INSPECT, Intent.SHOW, Intent.SAVE, Intent.SCAN})
_PLAIN_VERBS = (
    lex.START_VERBS | lex.STOP_VERBS | lex.RESTART_VERBS | lex.SWITCH_VERBS | lex.CHANGE_VERBS | lex.READ_VERBS | lex.PARTICLE_STOP
    | lex.SCHEDULE_VERBS | lex.SAVE_VERBS | lex.PAST_FORMS
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """An action request with its slots."""

    text: str
    intent: Intent
    act: Act
    slots: Slots
    vocabulary: Vocabulary
    context: ThreadContext | None
    now: datetime | None
    wish: bool
    suspicions: tuple[tuple[str, str], ...]
    injected: str | None
    other_person: bool


def leftovers(tokens: list[Token]) -> list[str]:
    """Words that no slot took and that are no grammar."""
    return [
        t.text for t in tokens
        if not t.role and t.kind in ("word", "clock") and t.text not in lex.FILLERS and t.text not in lex.OPENERS and t.text not in _PLAIN_VERBS
        and t.text not in lex.POLITE and t.text not in lex.REPORT_NOUNS
    ]  # fmt: skip


def unknown_object(act: Act, found: Slots) -> str:
    """The words right behind the verb that name something unknown, or ""."""
    words: list[str] = []
    for token in act.clause.tokens[act.at + 1 :]:
        if token.kind not in ("word", "literal"):
            break
        if token.role:
            if words or token.role in ("host", "override", "flag", "time"):
                break
            continue
        if token.text in lex.FILLERS or token.text in lex.POLITE or token.text in lex.OPENERS:
            if words:
                break
            continue
        words.append(token.raw)
    del found
    return " ".join(words)


def _base(text: str, intent: Intent, found: Slots) -> Command:
    """Slots as a Command, nothing resolved."""
    switched = [
        h for h in found.names.hits if intent is not Intent.STOP and (h.off or _off_before(found.tokens, h.start))
    ]
    positive = tuple(dict.fromkeys(h.words for h in found.names.positive if h not in switched))
    return Command(
        intent=intent,
        text=text,
        host=found.hosts.named[0] if len(found.hosts.named) == 1 else None,
        hosts=tuple(found.hosts.named),
        engine=found.names.engine if not found.names.engine_negated else None,
        names=positive,
        without=tuple(dict.fromkeys(h.words[-1] for h in found.names.hits if h.negated or h in switched)),
        size=found.names.size,
        speculative=found.names.speculative,
        overrides=dict(found.settings.values),
        flags=dict(found.pasted.flags),
        reference=found.reference,
        all=found.all,
        unknown=(*(n for n, _ in found.names.unknown), *found.hosts.unknown),
        channel=found.channel,
        channel_id=found.channel_id,
        launch_numbers=phrases.launches(found.text),
        reasons=tuple(
            Reason(slot="host", value=h, how=found.hosts.how[h], words=found.hosts.words[h]) for h in found.hosts.named
        ),
    )


def _off_before(tokens: list[Token], start: int) -> bool:
    """ "turn off mtp"."""
    before = [t.text for t in tokens[max(0, start - 3) : start] if t.text not in ("the", "our")]
    return len(before) > 1 and before[-1] == "off" and before[-2] in ("turn", "switch")


def _tags(names: tuple[tuple[str, ...], ...], index: CatalogIndex) -> tuple[str, ...]:
    return tuple(index.tags[n] for n in names if n in index.tags)


def _nearest(unknown: tuple[str, ...], vocabulary: Vocabulary) -> dict[str, tuple[str, ...]]:
    return {name: nearest_names(name, vocabulary.names) for name in unknown[:3]}


# ---- reading requests


def reading_command(
    text: str,
    intent: Intent,
    act: Act,
    found: Slots,
    vocabulary: Vocabulary,
    context: ThreadContext | None,
    now: datetime | None,
) -> Command:
    """A request that changes nothing on a host."""
    command = _base(text, intent, found)
    counts = found.counts
    command = replace(
        command,
        overrides={},
        flags={},
        tags=_tags(command.names, vocabulary.index),
        lines=counts.lines,
        concurrency=(counts.concurrency[0] if len(counts.concurrency) == 1 else list(counts.concurrency))
        if counts.concurrency
        else None,
        prompt_tokens=counts.prompt_tokens,
        output_tokens=counts.output_tokens,
        topics=topics.topics(found.text) if intent in (Intent.INSPECT, Intent.COMPARE) else (),
        when=phrases.when(found.text),
        every=found.rhythm.every if found.rhythm else None,
        cron=found.rhythm.cron if found.rhythm else None,
    )
    if intent not in (Intent.SAVE, Intent.HELP, Intent.NONE):
        command = replace(command, unknown=_unknown_of(command, found, vocabulary))
    command = _named_save(command, act) if intent is Intent.SAVE else command
    command = _located(command, found, vocabulary, context, now)
    return _read_questions(command, found, vocabulary, context)


def _unknown_of(command: Command, found: Slots, vocabulary: Vocabulary) -> tuple[str, ...]:
    """ "logs for falcon": a word behind "for", "of" or "from" that is in no vocabulary."""
    if command.names or command.hosts or command.unknown or command.engine or found.hosts.several or command.all:
        return command.unknown
    for before, token in zip(found.tokens, found.tokens[1:], strict=False):
        if (
            before.text in ("for", "of", "from")
            and not token.role
            and token.kind == "word"
            and token.text not in vocabulary.known
            and not token.text.isdigit()
        ):
            return (token.raw,)
    return ()


def _named_save(command: Command, act: Act) -> Command:
    saved = phrases.save(act.clause.words[act.at :], [t.raw for t in act.clause.tokens[act.at :]])
    if saved is None:
        return command
    return replace(command, name=saved.name, save_as=saved.how, names=(), hosts=(), host=None, unknown=(), all=False)


def _located(
    command: Command, found: Slots, vocabulary: Vocabulary, context: ThreadContext | None, now: datetime | None
) -> Command:
    """Model, config and host by the catalog, and by the thread where nothing is said."""
    index = vocabulary.index
    said = bool(
        command.names or command.engine or command.without or command.speculative is not None or command.unknown
    )
    placed = bool(command.hosts or found.hosts.several)
    if (
        not said
        and not placed
        and context is not None
        and not command.all
        and command.intent not in (Intent.SCHEDULE, Intent.UNSCHEDULE, Intent.SCHEDULES, Intent.HELP, Intent.HOSTS)
    ):
        number = index.numbers.get(context.config or "")
        return replace(
            command, host=context.host, hosts=(context.host,) if context.host else (), config=context.config,
            model=index.models[number] if number is not None else None,
            reasons=(*command.reasons, Reason(slot="host", value=context.host or "", how="thread")),
        )  # fmt: skip
    if command.intent is Intent.COMPARE and said:
        return _compared(command, found, vocabulary, context)
    if not said:
        return command
    ids = by_names(command, index)
    ids, reasons = narrowed(command, index, ids, context=context, now=now) if ids else (ids, ())
    models = tuple(dict.fromkeys(index.models[i] for i in sorted(ids)))
    config = index.configs[min(ids)].name if len(ids) == 1 else None
    hosts = {index.hosts[i] for i in ids}
    host = command.host
    if (
        host is None
        and not command.hosts
        and len(hosts) == 1
        and command.intent in (Intent.LOGS, Intent.BENCH, Intent.INSPECT, Intent.SHOW, Intent.SAVE)
    ):
        host = next(iter(hosts))
    return replace(
        command, model=models[0] if len(models) == 1 else None, models=models[:8], config=config, host=host,
        hosts=command.hosts or ((host,) if host else ()), candidates=tuple(c.config for c in ranked(index, ids, 5)) if len(ids) > 1 else (),
        reasons=(*command.reasons, *reasons),
    )  # fmt: skip


def _compared(command: Command, found: Slots, vocabulary: Vocabulary, context: ThreadContext | None) -> Command:
    """The configs that a comparison names, each side by itself; the second side may leave out what the first one said."""
    index = vocabulary.index
    sides = _sides(found)
    chosen: list[str] = []
    previous: frozenset[int] = frozenset()
    for side in sides:
        probe = replace(command, names=side, without=(), reference=None, config=None)
        ids = by_names(probe, index)
        if not ids:
            continue
        ids, _ = narrowed(probe, index, ids, context=context, now=None)
        if len(ids) > 1 and previous:
            models = {index.models[i] for i in previous}
            hosts = {index.hosts[i] for i in previous}
            ids = frozenset(i for i in ids if index.models[i] in models) or ids
            ids = frozenset(i for i in ids if index.hosts[i] in hosts) or ids
        previous = ids
        if len(ids) == 1:
            chosen.append(index.configs[min(ids)].name)
    if len(chosen) == 1 and len(sides) > 1:
        chosen = _retry(command, sides, chosen, vocabulary, context)
    if context and context.config and len(chosen) == 1 and found.pronoun and context.config not in chosen:
        chosen.insert(0, context.config)
    ids = by_names(command, index) if not chosen else frozenset(index.numbers[c] for c in chosen)
    models = tuple(dict.fromkeys(index.models[i] for i in sorted(ids)))
    hosts = {index.hosts[i] for i in ids}
    host = command.host or (next(iter(hosts)) if len(hosts) == 1 else None)
    return replace(
        command, configs=tuple(dict.fromkeys(chosen)), models=models[:8], model=models[0] if len(models) == 1 else None, host=host,
        config=chosen[0] if len(chosen) == 1 else None,
    )  # fmt: skip


def _retry(
    command: Command,
    sides: list[tuple[tuple[str, ...], ...]],
    chosen: list[str],
    vocabulary: Vocabulary,
    context: ThreadContext | None,
) -> list[str]:
    """A side that fitted several: read it beside the side that is clear."""
    index = vocabulary.index
    clear = index.configs[index.numbers[chosen[0]]]
    found: list[str] = []
    for side in sides:
        ids = by_names(replace(command, names=side, without=(), reference=None), index)
        near = frozenset(i for i in ids if index.models[i] == clear.model) or ids
        near = frozenset(i for i in near if index.hosts[i] == clear.host) or near
        near = near - {index.numbers[clear.name]} if len(near) > 1 else near
        if len(near) == 1:
            found.append(index.configs[min(near)].name)
    del context
    return list(dict.fromkeys(found)) if len(set(found)) > 1 else chosen


def _sides(found: Slots) -> list[tuple[tuple[str, ...], ...]]:
    """Names grouped between "and", "vs", "with", "to" and commas."""
    cuts = lex.words("and vs versus with to against or than from between , &")
    sides: list[list[tuple[str, ...]]] = [[]]
    last = 0
    for hit in found.names.positive:
        between = {t.text for t in found.tokens[last : hit.start]}
        if sides[-1] and between & cuts:
            sides.append([])
        elif sides[-1] and hit.start == last and hit.words in found_exact(found, hit.words):
            sides.append([])
        sides[-1].append(hit.words)
        last = hit.end
    return [tuple(s) for s in sides if s]


def found_exact(found: Slots, words: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Two whole names side by side ("diff a b") are two sides."""
    return (words,) if len(words) >= 3 else ()


def _read_questions(command: Command, found: Slots, vocabulary: Vocabulary, context: ThreadContext | None) -> Command:
    """A reading request asks only when it cannot know what to look at."""
    if command.unknown:
        values: Mapping[str, Any] = {"names": list(command.unknown)}
        return replace(
            command,
            ask=True,
            question=Question(code="unknown_name", values=values),
            nearest=_nearest(command.unknown, vocabulary),
        )
    if found.hosts.several and command.intent in _NEEDS_TARGET | {Intent.SCHEDULE}:
        options = sorted(set().union(*found.hosts.several))[:5]
        return replace(command, ask=True, question=Question(code="which_host", values={"hosts": options}))
    if command.intent is Intent.SAVE:
        if context is None and not command.config and not command.launch_numbers:
            return replace(command, ask=True, question=Question(code="which_target"))
        return command if command.name else replace(command, ask=True, question=Question(code="no_name"))
    if command.intent is Intent.SCHEDULE and not (command.every or command.cron):
        return replace(command, ask=True, question=Question(code="no_schedule"))
    if command.intent in _NEEDS_TARGET and command.intent is not Intent.SCAN:
        return _one_target(command)
    return command


def _one_target(command: Command) -> Command:
    if command.intent is Intent.SHOW and len(command.models) and command.config is None and len(command.candidates) > 1:
        return replace(command, ask=True, question=Question(code="which_config"))
    if command.host or command.config or command.hosts or command.launch_numbers:
        return command
    if command.candidates:
        return replace(command, ask=True, question=Question(code="which_config"))
    return replace(command, ask=True, question=Question(code="which_target"))


# ---- actions


def action_command(request: Request) -> Command:
    """A request that changes what runs. Everything that is not clear becomes a question."""
    if (refused := _refused(request)) is not None:
        return refused
    found, index = request.slots, request.vocabulary.index
    command = _without_named_switch(_base(request.text, request.intent, found), request)
    command = replace(command, tags=_tags(command.names, index))
    if request.intent is Intent.CANCEL:
        return replace(command, intent=Intent.CANCEL)
    command = _with_thread(command, request)
    command = replace(command, unknown=_all_unknown(command, request))
    command, question = _aim(command, request)
    question = _first_question(command, request) or question
    if question is not None:
        command = replace(command, ask=True, question=question)
    if command.unknown:
        command = replace(command, nearest=_nearest(command.unknown, request.vocabulary))
    left = leftovers(found.tokens)
    return replace(command, ignored=tuple(dict.fromkeys(w for w in left if w not in " ".join(command.unknown).lower())))


def _refused(request: Request) -> Command | None:
    """Text that hides something or gives orders about our rules: nothing of it is used."""
    code = (
        request.suspicions[0]
        if request.suspicions
        else ("instructions", request.injected)
        if request.injected
        else None
    )
    if code is None and len(request.slots.tokens) > 150:
        code = ("too_long", str(len(request.slots.tokens)))
    if code is None:
        return None
    question = Question(code="unsafe_text", values={"reason": code[0], "words": str(code[1])[:60]})
    hosts = tuple(request.slots.hosts.named)
    return Command(
        intent=request.intent, text=request.text, ask=True, question=question, all=request.slots.all, hosts=hosts,
        host=hosts[0] if len(hosts) == 1 else None,
    )  # fmt: skip


def _without_named_switch(command: Command, request: Request) -> Command:
    """ "from A to B", "replace A with B", "swap A for B": only B is the target."""
    if request.act.verb not in lex.SWITCH_VERBS | {"change", "turn", "use"} or request.act.verb in (
        "go",
        "use",
        "turn",
    ):
        return command
    tokens, hits = request.slots.tokens, request.slots.names.positive
    words = [t.text for t in tokens]
    mark = next(
        (
            i
            for i in range(len(words) - 1, -1, -1)
            if words[i] in ("to", "with", "for", "by", "onto")
            and any(h.start > i for h in hits)
            and any(h.start < i for h in hits)
        ),
        None,
    )
    start = words.index("from") if "from" in words else None
    if mark is None:
        if start is not None and any(h.start > start for h in hits) and "to" in words[:start]:
            mark = words.index("to")
            target = [h.words for h in hits if mark < h.start < start or h.start < mark]
            return replace(command, names=tuple(target))
        return command
    after = [h.words for h in hits if h.start > mark]
    shared = [h.words for h in hits if h.start < mark and (start is None or h.start < start)]
    index = request.vocabulary.index
    if request.act.verb in ("replace", "swap", "exchange") or not by_names(
        replace(command, names=(*shared, *after)), index
    ):
        return replace(command, names=tuple(after))
    return replace(command, names=(*shared, *after))


def _with_thread(command: Command, request: Request) -> Command:
    """In a thread, what is not said is the thread's launch."""
    context = request.context
    if context is None or command.all or request.slots.hosts.several:
        return command
    named = bool(command.names or command.engine or command.without or command.speculative is not None)
    if not named and command.unknown:
        return command
    if not command.hosts and context.host and (not named or _fits_thread(command, request)):
        command = replace(
            command,
            host=context.host,
            hosts=(context.host,),
            reasons=(*command.reasons, Reason(slot="host", value=context.host, how="thread")),
        )
    if (
        not named
        and context.config
        and command.host == context.host
        and request.intent is not Intent.STOP
        and (command.reference is None or command.reference.kind == "last")
    ):
        command = replace(
            command,
            config=context.config,
            reasons=(*command.reasons, Reason(slot="config", value=context.config, how="thread")),
        )
    return command


def _fits_thread(command: Command, request: Request) -> bool:
    """Whether the names may mean something of the thread's host and model."""
    index, context = request.vocabulary.index, request.context
    ids = by_names(command, index)
    own = index.numbers.get(context.config or "") if context else None
    if own is None or not ids or context is None:
        return False
    if own in ids:
        return True
    here = ids & index.by_model.get(index.configs[own].model, frozenset())
    return bool(here & index.by_host.get(context.host or "", frozenset()))


def _all_unknown(command: Command, request: Request) -> tuple[str, ...]:
    """Unknown names, also the bare object of the verb where nothing known is named."""
    unknown = list(command.unknown)
    if (
        request.intent in (Intent.START, Intent.RESTART, Intent.STOP)
        and not command.names
        and not command.engine
        and not command.config
        and command.reference is None
    ):
        if (
            command.speculative is None
            and (thing := unknown_object(request.act, request.slots))
            and thing not in unknown
        ):
            if not _is_noise(thing):
                unknown.append(thing)
    return tuple(unknown)


def _is_noise(thing: str) -> bool:
    return all(w.lower() in lex.COMMON | lex.FILLERS for w in thing.split())


def _aim(command: Command, request: Request) -> tuple[Command, Question | None]:
    """Config, model and host; the question that is left."""
    if command.all:
        return command, Question(code="everything", values={"host": command.host})
    if command.intent is Intent.STOP:
        return _aim_stop(command, request)
    needs_config = command.intent in (Intent.START, Intent.CHANGE) or bool(
        command.tags or command.without or command.overrides or command.flags or command.reference or command.speculative is not None
        or request.act.verb in lex.SWITCH_VERBS
    )  # fmt: skip
    if not needs_config:
        return _aim_running(command, request)
    return _aim_config(command, request)


def _candidates(command: Command, request: Request) -> Command:
    """The model where one fits, and the configs that fit."""
    index = request.vocabulary.index
    ids = (
        by_names(command, index)
        if (command.names or command.engine or command.without or command.speculative is not None)
        else frozenset()
    )
    if ids:
        ids, _ = narrowed(command, index, ids, context=request.context, now=request.now)
    models = tuple(dict.fromkeys(index.models[i] for i in sorted(ids)))
    shown = tuple(c.config for c in ranked(index, ids, 5)) if ids else ()
    return replace(command, models=models[:8], model=models[0] if len(models) == 1 else None, candidates=shown)


def _aim_stop(command: Command, request: Request) -> tuple[Command, Question | None]:
    command = _candidates(command, request)
    if command.names and not command.models and not command.unknown:
        return command, Question(code="no_match")
    if command.host is not None:
        return replace(command, config=command.candidates[0] if len(command.candidates) == 1 else None), None
    index = request.vocabulary.index
    hosts = {index.configs[index.numbers[c]].host for c in command.candidates}
    if len(command.models) == 1 and len(hosts) == 1:
        host = next(iter(hosts))
        return replace(
            command,
            host=host,
            hosts=(host,) if host else (),
            config=command.candidates[0] if len(command.candidates) == 1 else None,
        ), None
    return command, Question(code="which_target", values={"hosts": sorted(h for h in hosts if h)})


def _aim_running(command: Command, request: Request) -> tuple[Command, Question | None]:
    """A restart of whatever runs there, with its own config."""
    if command.config is not None:
        return _filled(command, request), None
    return _aim_stop(command, request)


def _filled(command: Command, request: Request) -> Command:
    index = request.vocabulary.index
    number = index.numbers.get(command.config or "")
    if number is None:
        return command
    host = command.host or (index.hosts[number] if not command.hosts else None)
    return replace(
        command,
        model=index.models[number],
        models=(index.models[number],),
        host=host,
        hosts=command.hosts or ((host,) if host else ()),
    )


def _aim_config(command: Command, request: Request) -> tuple[Command, Question | None]:
    said = bool(
        command.names
        or command.engine
        or command.without
        or command.config
        or command.speculative is not None
        or command.reference
    )
    if not said and command.host is None:
        return command, Question(code="which_target")
    vocabulary = request.vocabulary
    if not said and command.host is not None and not command.unknown:
        ids = vocabulary.index.by_host.get(command.host, frozenset())
        if len(ids) != 1 or command.intent is not Intent.START:
            shown = tuple(c.config for c in ranked(vocabulary.index, ids, 5))
            return replace(command, candidates=shown), Question(code="which_config")
        command = replace(command, config=vocabulary.index.configs[min(ids)].name)
    found = resolve(
        command, _EMPTY_CATALOG, _EMPTY_INVENTORY, index=vocabulary.index, context=request.context, now=request.now
    )
    if isinstance(found, Resolved):
        filled = replace(command, config=found.candidate.config, reasons=(*command.reasons, *found.reasons))
        return _filled(filled, request), None
    if isinstance(found, Ambiguous):
        return _candidates(command, request), Question(code="which_config")
    assert isinstance(found, NotFound)
    shown = tuple(c.config for c in found.nearest[:5])
    return replace(_candidates(command, request), candidates=shown), Question(code=found.code)


def _first_question(command: Command, request: Request) -> Question | None:
    """What must be asked whatever the config is, the gravest first."""
    found = request.slots
    for code, name, near in found.pasted.faults:
        return Question(code=code, values={"name": name, "near": list(near)})
    if command.unknown:
        return Question(code="unknown_name", values={"names": list(command.unknown)})
    for code, name, words in found.settings.faults:
        return Question(code=code, values={"name": name, "words": words})
    if len(command.hosts) > 1:
        return Question(code="several_targets", values={"hosts": list(command.hosts)})
    if found.hosts.several:
        return Question(code="which_host", values={"hosts": sorted(set().union(*found.hosts.several))[:5]})
    if command.host in request.vocabulary.hosts.protected:
        return Question(code="protected_host", values={"host": command.host})
    if (said := _contradiction(command, request)) is not None:
        return Question(code="contradiction", values={"words": said})
    if any(h.guessed for h in found.names.hits):
        return Question(
            code="guessed_name", values={"names": [" ".join(h.words) for h in found.names.hits if h.guessed]}
        )
    if request.other_person or request.wish:
        return Question(code="confirm_wish")
    verb = request.act.clause.tokens[request.act.at] if request.act.at < len(request.act.clause.tokens) else None
    if verb is not None and verb.fixed == "other":
        return Question(code="confirm_wish", values={"verb": verb.text})
    return None


def _contradiction(command: Command, request: Request) -> str | None:
    """Speculative settings for a config that has no speculation, or that shall have none."""
    if not _SPECULATIVE & set(command.overrides):
        return None
    if command.without or command.speculative is False:
        return "speculation"
    index = request.vocabulary.index
    number = index.numbers.get(command.config or "")
    if number is not None and number not in index.speculative:
        return command.config
    return None
