"""Requests that change what runs: which host and config they mean, and what must be asked first."""

from dataclasses import dataclass, replace

from bot.core.catalog.relative import settle
from bot.core.catalog.resolve import by_names, narrowed, ranked_names, resolve
from bot.core.domain.catalog import Catalog
from bot.core.domain.command import Command, Intent, Question, Reason
from bot.core.domain.host import Inventory
from bot.core.domain.resolution import NotFound, Resolved
from bot.core.language import lexicon as lex
from bot.core.language import phrases
from bot.core.language.draft import draft, leftovers, names_target, nearest, plain_by_trait, tags, unknown_object
from bot.core.language.message import Message
from bot.core.language.slots import Slots
from bot.core.language.speech import Act
from bot.core.language.vocabulary import Vocabulary

_NO_CATALOG, _NO_INVENTORY = Catalog(), Inventory()
_SPECULATIVE = frozenset({"speculative_steps", "speculative_draft_tokens", "speculative_topk"})
_REPLACING = frozenset({"replace", "swap", "exchange"})
_SAYING = frozenset({"says", "said", "say", "wrote", "writes", "reads", "told", "states", "stated", "asked"})
#: words that mean the thread's launch
_POINTING = frozenset({"it", "this", "that", "same"})
#: more words than a request ever has
_MOST_WORDS = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """An action request with its slots. `injected`: words that give orders about our rules."""

    message: Message
    intent: Intent
    act: Act
    slots: Slots
    injected: str | None
    other_person: bool

    @property
    def vocabulary(self) -> Vocabulary:
        """The live vocabulary."""
        return self.message.vocabulary


def command(request: Request) -> Command:
    """The command; everything that is not clear becomes a question."""
    if (refused := _refused(request)) is not None:
        return refused
    found, index = request.slots, request.vocabulary.index
    made = _switched(draft(request.message.text, request.intent, found), request)
    made = plain_by_trait(made, index)
    made = replace(made, tags=tags(made.names, index))
    made = _with_thread(made, request)
    made = replace(made, unknown=_all_unknown(made, request))
    made, question = _aimed(made, request)
    question = _first_question(made, request) or question
    unknown = " ".join(made.unknown).lower()
    made = replace(
        made,
        ask=question is not None,
        question=question,
        nearest=nearest(made.unknown, request.vocabulary),
        ignored=_ignored(found, unknown),
    )
    return settle(made, index, request.vocabulary.engines, request.message.context)


def _ignored(found: Slots, unknown: str) -> tuple[str, ...]:
    """Words without a meaning here, and a time limit: nothing is stopped by itself."""
    limit = phrases.limit(found.text)
    words = (w for w in leftovers(found.tokens) if w not in unknown and w not in (limit or "").split())
    return tuple(dict.fromkeys((*((limit,) if limit else ()), *words)))


def _refused(request: Request) -> Command | None:
    """Text that hides something or gives orders about our rules: no setting of it is used."""
    suspicions = list(request.message.normal.suspicions)
    if request.injected:
        suspicions.append(("instructions", request.injected))
    spans = [t.raw for t in request.slots.tokens if t.code and not t.role and t.text not in lex.FILLERS]
    if spans:
        suspicions.append(("shell_characters", f"`{' '.join(spans)}`"))
    if len(request.slots.tokens) > _MOST_WORDS:
        suspicions.append(("too_long", str(len(request.slots.tokens))))
    if not suspicions:
        return None
    reason, words = suspicions[0]
    hosts = tuple(request.slots.hosts.named)
    return Command(
        intent=request.intent,
        text=request.message.text,
        ask=True,
        question=Question(code="unsafe_text", values={"reason": reason, "words": words[:60]}),
        all=request.slots.all,
        hosts=hosts,
        host=hosts[0] if len(hosts) == 1 else None,
    )


def _switched(made: Command, request: Request) -> Command:
    """ "from A to B", "replace A with B", "swap A for B": only B is the target."""
    verb = request.act.verb
    if verb not in (lex.SWITCH_VERBS | {"change"}) - {"go"}:
        return made
    words, hits = [t.text for t in request.slots.tokens], request.slots.names.positive
    marks = [i for i, w in enumerate(words) if w in ("to", "with", "for", "by", "onto")]
    marks = [i for i in marks if any(h.start > i for h in hits) and any(h.start < i for h in hits)]
    start = words.index("from") if "from" in words else None
    if not marks:
        if start is None or "to" not in words[:start] or not any(h.start > start for h in hits):
            return made
        return replace(made, names=tuple(h.words for h in hits if h.start < start))
    after = tuple(h.words for h in hits if h.start > marks[-1])
    shared = tuple(h.words for h in hits if h.start < marks[-1] and (start is None or h.start < start))
    both = replace(made, names=(*shared, *after))
    fits = verb not in _REPLACING and by_names(both, request.vocabulary.index)
    return both if fits else replace(made, names=after)


def _with_thread(made: Command, request: Request) -> Command:
    """In a thread, what is not said is the thread's launch."""
    context = request.message.context
    if context is None or made.all or request.slots.hosts.several:
        return made
    named = names_target(made)
    if not named and made.unknown:
        return made
    if not made.hosts and context.host and (not named or _fits_thread(made, request)):
        reason = Reason(slot="host", value=context.host, how="thread")
        made = replace(made, host=context.host, hosts=(context.host,), reasons=(*made.reasons, reason))
    again = made.reference is None or made.reference.kind == "last"
    here = made.host == context.host or _elsewhere(made, request)
    if not named and again and context.config and here and request.intent is not Intent.STOP:
        reason = Reason(slot="config", value=context.config, how="thread")
        made = replace(made, config=context.config, reasons=(*made.reasons, reason))
    return made


def _elsewhere(made: Command, request: Request) -> bool:
    """ "start it on node8", "same on node8": the thread's config on another host."""
    words = {t.text for t in request.slots.tokens}
    points = bool(words & _POINTING) or request.act.kind in ("fragment", "statement")
    return points and request.intent is Intent.START and len(made.hosts) == 1


def _fits_thread(made: Command, request: Request) -> bool:
    """Whether the names may mean something of the thread's host and model."""
    index, context = request.vocabulary.index, request.message.context
    own = index.numbers.get(context.config or "") if context else None
    ids = by_names(made, index)
    if own is None or context is None:
        return False
    here = ids & index.by_model.get(index.models[own], frozenset())
    return own in ids or bool(here & index.by_host.get(context.host or "", frozenset()))


def _all_unknown(made: Command, request: Request) -> tuple[str, ...]:
    """Unknown names, also the bare object of the verb where nothing known is named."""
    known = names_target(made) or made.config or made.reference
    if known or request.intent is Intent.CHANGE:
        return made.unknown
    thing = unknown_object(request.act)
    noise = all(w.lower() in lex.COMMON | lex.FILLERS for w in thing.split())
    return made.unknown if noise or thing in made.unknown else (*made.unknown, thing)


# ---- host and config

Aimed = tuple[Command, Question | None]


def _aimed(made: Command, request: Request) -> Aimed:
    """Config, model and host; the question that is left."""
    if made.all:
        return made, Question(code="everything", values={"host": made.host})
    if made.intent is Intent.STOP:
        return _aim_at_running(made, request)
    said = made.tags or made.without or made.overrides or made.flags or made.reference or made.relative
    switches = request.act.verb in lex.SWITCH_VERBS or made.speculative is not None
    if made.intent in (Intent.START, Intent.CHANGE) or said or switches:
        return _aim_at_config(made, request)
    if made.config is not None:
        return _filled(made, request), None
    return _aim_at_running(made, request)


def _aim_at_running(made: Command, request: Request) -> Aimed:
    """What runs there, whatever its config: a host is enough, else the one host that the model runs on."""
    made = _candidates(made, request)
    if made.names and not made.models and not made.unknown:
        return made, Question(code="no_match")
    only = made.candidates[0] if len(made.candidates) == 1 else None
    if made.host is not None:
        return replace(made, config=only), None
    index = request.vocabulary.index
    hosts = {index.hosts[index.numbers[c]] for c in made.candidates}
    if request.slots.hosts.unknown:
        return replace(made, config=only), None
    if len(made.models) == 1 and len(hosts) == 1:
        host = next(iter(hosts))
        return replace(made, host=host, hosts=(host,) if host else (), config=only), None
    return made, Question(code="which_target", values={"hosts": sorted(h for h in hosts if h)})


def _candidates(made: Command, request: Request) -> Command:
    """The model where one fits, and the configs that fit."""
    if not names_target(made):
        return made
    index = request.vocabulary.index
    ids = by_names(made, index)
    if ids:
        ids, _ = narrowed(made, index, ids, context=request.message.context, now=request.message.now)
    models = tuple(dict.fromkeys(index.models[i] for i in sorted(ids)))
    shown = ranked_names(index, ids)
    return replace(made, models=models[:8], model=models[0] if len(models) == 1 else None, candidates=shown)


def _aim_at_config(made: Command, request: Request) -> Aimed:
    index = request.vocabulary.index
    said = names_target(made) or made.config is not None or made.reference is not None
    if not said:
        if made.host is None:
            return made, Question(code="which_target")
        here = index.by_host.get(made.host, frozenset())
        if not made.unknown and (len(here) != 1 or made.intent is not Intent.START):
            shown = ranked_names(index, here)
            return replace(made, candidates=shown), Question(code="which_config")
        if not made.unknown:
            made = replace(made, config=index.configs[min(here)].name)
    message = request.message
    found = resolve(made, _NO_CATALOG, _NO_INVENTORY, index=index, context=message.context, now=message.now, limit=0)
    if isinstance(found, Resolved):
        made = replace(made, config=found.candidate.config, reasons=(*made.reasons, *found.reasons))
        return _filled(made, request), None
    made = _candidates(made, request)
    if isinstance(found, NotFound):
        return replace(made, candidates=tuple(c.config for c in found.nearest[:5])), Question(code=found.code)
    return made, Question(code="which_config")


def _filled(made: Command, request: Request) -> Command:
    """Model and host of the config that is meant; a host that was said stays."""
    index = request.vocabulary.index
    number = index.numbers.get(made.config or "")
    if number is None:
        return made
    elsewhere = made.hosts or request.slots.hosts.unknown
    host = made.host or (None if elsewhere else index.hosts[number])
    hosts = made.hosts or ((host,) if host else ())
    return replace(made, model=index.models[number], models=(index.models[number],), host=host, hosts=hosts)


# ---- questions


def _first_question(made: Command, request: Request) -> Question | None:
    """What must be asked whatever the config is, the gravest first."""
    found = request.slots
    for code, name, near in found.pasted.faults:
        if code in ("unsafe_text", "secret_value"):
            reason = "shell_characters" if code == "unsafe_text" else code
            return Question(code="unsafe_text", values={"reason": reason, "words": name})
        return Question(code=code, values={"name": name, "near": list(near)})
    if made.unknown:
        return Question(code="unknown_name", values={"names": list(made.unknown)})
    for code, name, words in found.settings.faults:
        return Question(code=code, values={"name": name, "words": words})
    if len(made.hosts) > 1:
        return Question(code="several_targets", values={"hosts": list(made.hosts)})
    if found.hosts.several:
        return Question(code="which_host", values={"hosts": sorted(set().union(*found.hosts.several))[:5]})
    if made.host in request.vocabulary.hosts.protected:
        return Question(code="protected_host", values={"host": made.host})
    if (said := _contradiction(made, request)) is not None:
        return Question(code="contradiction", values={"words": said})
    return _unsure(request)


def _unsure(request: Request) -> Question | None:
    """A name or verb that was guessed, a wish that is not plainly an order, a request to somebody else."""
    guessed = [" ".join(h.words) for h in request.slots.names.hits if h.guessed]
    if guessed:
        return Question(code="guessed_name", values={"names": guessed})
    if _reported(request):
        return Question(code="confirm_quote")
    if request.other_person or request.act.kind == "wish":
        return Question(code="confirm_wish")
    tokens = request.act.clause.tokens
    verb = tokens[request.act.at] if request.act.at < len(tokens) else None
    if verb is not None and verb.fixed == "other":
        return Question(code="confirm_wish", values={"verb": verb.text})
    return None


def _reported(request: Request) -> bool:
    """ "the runbook says: restart node7": somebody else's words."""
    return any(
        a.clause.end == ":" and a is not request.act and _SAYING & set(a.clause.words) for a in request.message.acts
    )


def _contradiction(made: Command, request: Request) -> str | None:
    """Speculative settings for a config that has no speculation, or that shall have none."""
    if not _SPECULATIVE & {*made.overrides, *(change.name for change in made.relative)}:
        return None
    if made.without or made.speculative is False:
        return "speculation"
    index = request.vocabulary.index
    number = index.numbers.get(made.config or "")
    return made.config if number is not None and number not in index.speculative else None
