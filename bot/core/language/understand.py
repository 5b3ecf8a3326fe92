"""One message to one Command."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from bot.core.domain.catalog import Catalog
from bot.core.domain.command import ACTIONS, Command, Intent, Question, ThreadContext
from bot.core.domain.engine import Engine
from bot.core.domain.host import Inventory
from bot.core.language import aim, correcting, draft, holding, injection, intents, lookup, slots, slowdown
from bot.core.language import lexicon as lex
from bot.core.language.clauses import split
from bot.core.language.message import ASKING, Message
from bot.core.language.normalise import normalise
from bot.core.language.quoting import unquote
from bot.core.language.slots import Slots
from bot.core.language.speech import Act, classify
from bot.core.language.spelling import correct, correct_verbs
from bot.core.language.tokens import Clause, Token, tokenise
from bot.core.language.topics import topics
from bot.core.language.vocabulary import Vocabulary

#: kinds of clauses that tell something: what follows them in a sentence belongs to what they tell
_TELLING = frozenset({"statement", "past", "own_plan", "desire", "condition", "hypothetical"})
_QUIET = frozenset({Intent.NONE, Intent.HELP, Intent.CANCEL})
#: verbs of a denied setting: "but do not use mtp"
_USING = lex.words("use want need enable have include load")
#: "gemma up please", "mistral down on node7 please": what brings a server up or down, and what may stand beside it
_MOVES = (lex.PARTICLES_UP | lex.PARTICLES_DOWN) - {"on", "live", "alive"}
_AROUND_MOVES = lex.words("on in at the our with without and back again go")

Found = list[tuple[int, Intent]]


def understand(
    text: str,
    catalog: Catalog,
    inventory: Inventory,
    context: ThreadContext | None = None,
    bot_user: str | None = None,
    *,
    engines: Mapping[str, Engine] | None = None,
    vocabulary: Vocabulary | None = None,
    now: datetime | None = None,
) -> Command:
    """Read one message. Pass a prebuilt `vocabulary` (Vocabulary.of) when there is more than one message to read."""
    vocabulary = vocabulary or Vocabulary.of(catalog, inventory, engines)
    normal = normalise(text, bot_user)
    tokens = tokenise(normal.text)
    correct(tokens, vocabulary)
    tokens, said, whole_quote = unquote(tokens)
    correct_verbs(tokens, vocabulary)
    acts = [classify(c) for c in split(tokens)]
    command = _Reader(Message(text, normal, acts, vocabulary, context, now)).command()
    if whole_quote and command.intent in ACTIONS and not command.ask:
        command = replace(command, ask=True, question=Question(code="confirm_quote"))
    quoted = (*normal.quoted, *said)
    if command.intent is Intent.NONE and quoted and command.held is None:
        command = replace(command, held="quoted")
    return replace(command, ignored=(*command.ignored, *quoted))


class _Reader:
    """Choosing what a message asks for, and gathering the words that belong to it."""

    def __init__(self, message: Message) -> None:
        self.message = message
        self.acts = message.acts
        #: requests that were read as parts of one
        self.merged: frozenset[int] = frozenset()

    def command(self) -> Command:
        """The whole message's command: an action asked for, else something to read, else a question's answer."""
        if any(a.kind == "joke" for a in self.acts):
            return self._none("joke")
        found = self._intents(ASKING)
        acting = [(i, n) for i, n in found if n in ACTIONS]
        if acting:
            return self._act(acting)
        others = [(i, n) for i, n in found if n not in _QUIET] or found
        if others:
            return self._read(*others[0])
        questions = self._intents(frozenset({"question", "fragment", "hypothetical", "negated"}))
        questions = [(i, n) for i, n in questions if n not in ACTIONS]
        if questions and not self._shadowed(questions):
            return self._read(*questions[0])
        return self._without_request() or self._slowdown() or self._none(holding.why_not(self.message))

    def _intents(self, kinds: frozenset[str]) -> Found:
        found = [(i, intents.of(self.message, i)) for i, a in enumerate(self.acts) if a.kind in kinds]
        return [(i, n) for i, n in found if n is not Intent.NONE]

    def _none(self, held: str | None) -> Command:
        return Command(intent=Intent.NONE, text=self.message.text, held=held)

    def _shadowed(self, questions: Found) -> bool:
        """A stray noun beside a report or statement asks for nothing: "I restarted it, logs look fine"."""
        first = questions[0][0]
        if any(self.acts[i].kind != "fragment" for i, _ in questions):
            return False
        if any(self.acts[i].clause.words[0] in lex.HEALTH_WORDS | lex.LOG_WORDS for i, _ in questions):
            return False
        told = any(a.kind in ("past", "own_plan", "statement") for a in self.acts)
        return told or any(a.kind == "fragment" and draft.leftovers(a.clause.tokens) for a in self.acts[:first])

    def _without_request(self) -> Command | None:
        """Phrases only: a follow-up in a thread, or "mistral with eagle on node7 please"."""
        for place, act in enumerate(self.acts):
            if act.kind in ("fragment", "question"):
                follows = intents.follow_up(self.message, place)
                if follows is not Intent.NONE:
                    return self._act([(place, follows)])
        if corrected := self._corrected():
            return corrected
        if not self.acts or any(a.kind not in ("fragment", "social") or a.clause.end == "?" for a in self.acts):
            return None
        tokens = slots.join([a.clause for a in self.acts if a.kind == "fragment"])
        found = slots.read(tokens, self.message.vocabulary)
        told = found.reference is not None and found.reference.kind == "speed"
        if self.message.context and found.set_anything and not told and not draft.leftovers(tokens):
            self.merged = frozenset(range(len(self.acts)))
            return self._act([(next(i for i, a in enumerate(self.acts) if a.kind == "fragment"), Intent.CHANGE)])
        said = [w for a in self.acts for w in a.clause.words]
        polite = "please" in said or said[-1] == "go"
        plain = {t.text for t in tokens if not t.role and t.kind != "mark"}
        moved = polite and bool(_MOVES & plain) and plain <= _MOVES | lex.POLITE | _AROUND_MOVES
        if not found.names.hits or not (found.hosts.named or moved) or draft.leftovers(tokens):
            return None
        place = next(i for i, a in enumerate(self.acts) if a.kind == "fragment")
        self.merged = frozenset(range(len(self.acts)))
        down = bool(lex.PARTICLES_DOWN & plain)
        if down and (not moved or {"again", "back"} & plain):
            return None  # a report
        made = self._act([(place, Intent.STOP if down else Intent.START)])
        if polite or made.ask or made.intent is Intent.NONE:
            return made
        return replace(made, ask=True, question=Question(code="no_verb"))

    def _corrected(self) -> Command | None:
        """In a thread: another host or config than the one that was taken, without a verb."""
        if any(a.kind not in ("fragment", "social") and not correcting.means(a.clause.words) for a in self.acts):
            return None
        for place in range(len(self.acts)):
            if (meant := correcting.intent(self.message, place)) is not Intent.NONE:
                return self._act([(place, meant)])
        return None

    def _slowdown(self) -> Command | None:
        """A thread's server, or one that is named, is told to be slower than before."""
        told = [i for i, a in enumerate(self.acts) if a.kind not in ("social", "joke")]
        if not told or not slowdown.told(self.message.normal.text) or self.message.to_another(told[0]):
            return None
        named = [i for i in told if self.message.slots_of(i).names.hits or self.message.slots_of(i).hosts.named]
        if not named and self.message.context is None:
            return None
        return self._read((named or told)[0], Intent.COMPARE)

    # ---- gathering words

    def _beside(self, place: int, intent: Intent) -> list[Token]:
        """The request's own words with the phrases beside it; a reading request also takes the questions beside it."""
        kinds = {"fragment"} if intent in ACTIONS else {"fragment", "question", "request"}
        clauses: list[Clause] = []
        noted = -1
        for at, act in enumerate(self.acts):
            if at != place and at > place and act.kind in _TELLING:
                noted = act.clause.sentence
            reason = act.clause.sentence == noted and act.kind == "fragment"
            if at == place or (not reason and (at in self.merged or self._belongs(act, intent, kinds))):
                clauses.append(act.clause)
        return slots.join(clauses)

    def _belongs(self, act: Act, intent: Intent, kinds: set[str]) -> bool:
        """A phrase that says more about the request, not a reason for it."""
        if act.kind == "negated":
            return act.verb in _USING and intent in ACTIONS
        if act.kind not in kinds or act.clause.link == "because":
            return False
        found = slots.read(act.clause.tokens, self.message.vocabulary, kind=intent)
        if intent in ACTIONS:
            return (found.target or found.set_anything) and len(draft.leftovers(act.clause.tokens)) <= 1
        counts = found.counts
        counted = bool(counts.concurrency or counts.lines or found.rhythm or found.channel)
        return found.target or counted or bool(topics(found.text))

    def _slots(self, place: int, used: list[Token], intent: Intent) -> Slots:
        """Slots of the request; where it only points to its target, that is taken from what was said beside it."""
        vocabulary = self.message.vocabulary
        found = slots.read(used, vocabulary, kind=intent)
        there = not found.hosts.named and any(t.text == "there" and not t.role for t in used)
        if (found.names.anything and not there) or not (found.pronoun or not found.target):
            return found
        wanted = ("host",) if found.names.anything else ("host", "name")
        for at, act in enumerate(self.acts):
            if at == place or act.clause.tokens[0] in used:
                continue
            extra = slots.read(act.clause.tokens, vocabulary, kind=intent)
            if extra.hosts.named or (extra.names.positive and "name" in wanted):
                kept = [t for t in act.clause.tokens if t.role in wanted]
                between = [Token(",", ",", "mark", 0, 0), Token("on", "on", "word", 0, 0)]
                return slots.read([*used, *between, *kept], vocabulary, kind=intent)
        return slots.read(used, vocabulary, kind=intent)

    def _note(self, place: int, used: list[Token]) -> str | None:
        """The reason given behind the request, as typed."""
        after = [t for a in self.acts[place + 1 :] for t in a.clause.tokens if t not in used and a.kind != "social"]
        if not after:
            return None
        note = self.message.normal.text[after[0].start : after[-1].end]
        return note.strip().translate({0xE000: None, 0xE001: None}) or None

    # ---- making commands

    def _read(self, place: int, intent: Intent) -> Command:
        used = self._beside(place, intent)
        found = self._slots(place, used, intent)
        made = lookup.command(self.message, intent, self.acts[place], found)
        return replace(made, note=self._note(place, used))

    def _act(self, acting: Found) -> Command:
        place, intent = acting[0]
        if len(acting) > 1:
            merged = self._merge(acting)
            if merged is None:
                return self._several(acting)
            place, intent = merged
            self.merged = frozenset(i for i, _ in acting)
        starts = intent is Intent.START
        if held := holding.held(self.message, place, waits=starts):
            return self._none(held)
        used = self._beside(place, intent)
        request = aim.Request(
            message=self.message,
            intent=intent,
            act=self.acts[place],
            slots=self._slots(place, used, intent),
            injected=injection.found(self.message.normal.text),
            other_person=self.message.to_another(place),
        )
        when_free = starts and holding.waits_for_gpus(self.message, place)
        command = replace(aim.command(request), note=self._note(place, used), when_free=when_free)
        if when_free and not command.ask:
            # whenever that will be, nobody may be looking: such a start is confirmed first
            return replace(command, ask=True, question=Question(code="confirm_wait"))
        return command

    def _merge(self, acting: Found) -> tuple[int, Intent] | None:
        """One request out of several that mean one thing: "stop and start X" is a restart."""
        kinds = {intent for _, intent in acting}
        if kinds == {Intent.STOP, Intent.START}:
            stop, start = sorted(acting, key=lambda x: x[1] is Intent.START)[:2]
            first, second = self.message.slots_of(stop[0]).target, self.message.slots_of(start[0]).target
            if (first and second) or not (first or second or self.message.context):
                return None
            return (start[0] if second or not first else stop[0]), Intent.RESTART
        if freed := self._freed(acting):
            return freed
        bare = [x for x in acting if not self._says_something(x[0])]
        if len(acting) - len(bare) == 1 and len(kinds) == 1:
            return next(x for x in acting if x not in bare)
        if len(kinds) == 2 and Intent.CHANGE in kinds:
            return next(x for x in acting if x[1] is not Intent.CHANGE)
        return None

    def _freed(self, acting: Found) -> tuple[int, Intent] | None:
        """ "free node7, take mistral down": a host is to be freed, and what is to go is said as well."""
        if len(acting) != 2 or {n for _, n in acting} != {Intent.STOP}:
            return None
        free = [x for x in acting if self.acts[x[0]].verb in ("free", "clear", "drain")]
        if len(free) != 1 or self.message.slots_of(free[0][0]).names.anything:
            return None
        other = next(x for x in acting if x not in free)
        return None if self.message.slots_of(other[0]).hosts.named else other

    def _says_something(self, place: int) -> bool:
        found = self.message.slots_of(place)
        return found.target or found.set_anything

    def _several(self, acting: Found) -> Command:
        """Several different requests: none is carried out before it is asked about."""
        for place, _ in acting:
            if held := holding.held(self.message, place):
                return self._none(held)
        place, intent = acting[0]
        tokens = slots.join([self.acts[i].clause for i, _ in acting])
        found = slots.read(tokens, self.message.vocabulary)
        made = lookup.command(replace_context(self.message), intent, self.acts[place], found)
        values = {"actions": [n.value for _, n in acting]}
        return replace(made, ask=True, question=Question(code="several_actions", values=values))


def replace_context(message: Message) -> Message:
    """The message outside of any thread: several targets are never the thread's."""
    return replace(message, context=None)
