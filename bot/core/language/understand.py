"""One sentence to one Command."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from bot.core.domain.catalog import Catalog
from bot.core.domain.command import ACTIONS, Command, Intent, Question, ThreadContext
from bot.core.domain.engine import Engine
from bot.core.domain.host import Inventory
from bot.core.language import actions, injection, phrases, reading, slots, targets
from bot.core.language import lexicon as lex
from bot.core.language.clauses import split
from bot.core.language.normalise import Normalised, normalise
from bot.core.language.quoting import unquote
from bot.core.language.slots import Slots
from bot.core.language.speech import ACTION_VERBS, Act, classify
from bot.core.language.spelling import correct, correct_verbs
from bot.core.language.tokens import Clause, Token, tokenise
from bot.core.language.topics import strong, topics
from bot.core.language.vocabulary import Vocabulary

_ASKING = frozenset({"request", "wish", "desire"})
_LOOKING = lex.words("check look test examine verify diagnose probe")
_TELLING = frozenset({"statement", "past", "own_plan", "desire", "condition", "hypothetical"})
_HELD = {
    "negated": "negated", "hypothetical": "hypothetical", "past": "past", "own_plan": "own_plan", "condition": "conditional",
    "question": "question", "statement": "statement",
}  # fmt: skip
_QUIET = frozenset({Intent.NONE, Intent.HELP, Intent.CANCEL})


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
    clauses = split(tokens)
    acts = [classify(c) for c in clauses]
    command = _Reader(text, normal, acts, vocabulary, context, now).command()
    if whole_quote and command.intent in ACTIONS and not command.ask:
        command = replace(command, ask=True, question=Question(code="confirm_quote"))
    quoted = (*normal.quoted, *said)
    if command.intent is Intent.NONE and quoted and command.held is None:
        command = replace(command, held="quoted")
    return replace(command, ignored=(*command.ignored, *quoted))


class _Reader:
    """Reading one message's clauses."""

    def __init__(
        self,
        text: str,
        normal: Normalised,
        acts: Sequence[Act],
        vocabulary: Vocabulary,
        context: ThreadContext | None,
        now: datetime | None,
    ) -> None:
        self.text = text
        self.normal = normal
        self.acts = acts
        self.vocabulary = vocabulary
        self.context = context
        self.now = now
        #: requests that were read as parts of one
        self.merged: frozenset[int] = frozenset()

    def command(self) -> Command:
        """The whole message's command."""
        if any(a.kind == "joke" for a in self.acts):
            return self._none("joke")
        asked = [(i, a) for i, a in enumerate(self.acts) if a.kind in _ASKING]
        found = [(i, self._intent(i)) for i, _ in asked]
        found = [(i, intent) for i, intent in found if intent is not Intent.NONE]
        acting = [(i, n) for i, n in found if n in ACTIONS]
        if acting:
            return self._act(acting, [n for _, n in found])
        others = [(i, n) for i, n in found if n not in _QUIET] or found
        if others and others[0][1] is not Intent.CANCEL:
            return self._read(*others[0])
        questions = [
            (i, self._intent(i))
            for i, a in enumerate(self.acts)
            if a.kind in ("question", "fragment", "hypothetical", "negated")
        ]
        questions = [(i, n) for i, n in questions if n is not Intent.NONE and n not in ACTIONS]
        if others:
            return self._read(*others[0])
        if questions and not self._shadowed(questions):
            return self._read(*questions[0])
        bare = [
            (i, n)
            for i, a in enumerate(self.acts)
            if a.kind in ("fragment", "question") and (n := self._follow_up(i)) is not Intent.NONE
        ]
        if bare:
            return self._act(bare[:1], [bare[0][1]])
        if (wanted := self._without_verb()) is not None:
            return wanted
        return self._none(self._why_not())

    def _without_verb(self) -> Command | None:
        """ "mistral with eagle on node7 please": a config and a host and nothing else. Without "please" it is asked about."""
        if not self.acts or any(a.kind not in ("fragment", "social") or a.clause.end == "?" for a in self.acts):
            return None
        tokens = slots.join([a.clause for a in self.acts if a.kind == "fragment"])
        found = slots.read(tokens, self.vocabulary)
        polite = any("please" in a.clause.words for a in self.acts)
        if not (found.names.hits and found.hosts.named) or targets.leftovers(tokens):
            return None
        place = next(i for i, a in enumerate(self.acts) if a.kind == "fragment")
        self.merged = frozenset(range(len(self.acts)))
        made = self._act([(place, Intent.START)], [])
        return (
            made
            if polite or made.ask or made.intent is not Intent.START
            else replace(made, ask=True, question=Question(code="no_verb"))
        )

    def _shadowed(self, questions: list[tuple[int, Intent]]) -> bool:
        """A stray noun beside a report or statement asks for nothing: "I restarted it, logs look fine"."""
        fragments_only = all(self.acts[i].kind == "fragment" for i, _ in questions)
        places = {i for i, _ in questions}
        said = any(
            a.kind in ("past", "own_plan", "statement")
            or (a.kind == "fragment" and i < min(places) and len(targets.leftovers(a.clause.tokens)) > 0)
            for i, a in enumerate(self.acts)
        )
        return (
            fragments_only
            and said
            and not any(self.acts[i].clause.words[0] in lex.HEALTH_WORDS | lex.LOG_WORDS for i, _ in questions)
        )

    def _none(self, held: str | None) -> Command:
        return Command(intent=Intent.NONE, text=self.text, held=held)

    def _why_not(self) -> str | None:
        for act in self.acts:
            if act.kind in _HELD and (act.verb in ACTION_VERBS or act.kind == "negated"):
                return _HELD[act.kind]
        return None

    # ---- intents

    def _slots_of(self, place: int, kind: Intent | None = None) -> Slots:
        return slots.read(self.acts[place].clause.tokens, self.vocabulary, kind=kind)

    def _intent(self, place: int) -> Intent:
        """The intent of one clause."""
        act = self.acts[place]
        found = self._slots_of(place)
        text = " ".join(act.clause.words[act.at if act.kind != "question" else _question_start(act) :])
        if (special := _reports(act, text, found)) is not None:
            return special
        asking = act.kind in _ASKING
        if (
            asking
            and (saved := phrases.save(act.clause.words[act.at :], [t.raw for t in act.clause.tokens[act.at :]]))
            and act.kind != "desire"
        ):
            if saved.name or self.context:
                return Intent.SAVE
        if (
            act.kind in ("fragment", "question")
            and self._follow_up(place) is Intent.CHANGE
            and act.clause.words[0] in ("and", "with", "same", "but", "now", "again")
        ):
            return Intent.NONE
        named = found.target or (_objectless(act) and self._gathers_target(place))
        pronoun = found.pronoun and self.context is not None
        if asking:
            acted = actions.action(
                act,
                target=named or pronoun,
                own_target=found.target,
                overrides=found.set_anything,
                thread=self.context is not None,
            )
            if acted is Intent.STOP and self._turns_off(act, found):
                acted = Intent.CHANGE
            if acted is not None and self._plausible(act, acted, found, named or pronoun):
                return acted
        if act.kind in ("negated", "hypothetical") and not (
            act.kind == "hypothetical" and act.verb in lex.READ_VERBS - ACTION_VERBS
        ):
            return Intent.HELP if _asks_how(text) else Intent.NONE
        about = topics(text)
        return reading.intent(
            act, text, target=found.names.anything or (asking and act.verb in _LOOKING and not found.target and self._gathers_target(place)), host=bool(found.hosts.named or found.hosts.several or found.hosts.unknown),
            topics=about, strong_topics=strong(about), config=self._config_like(found),
        )  # fmt: skip

    def _turns_off(self, act: Act, found: Slots) -> bool:
        """ "turn off mtp on X": a way of running is named, not a model or config."""
        index = self.vocabulary.index
        hits = found.names.hits
        if act.verb not in ("turn", "switch", "shut") or not hits:
            return False
        return all(h.words in index.tags and h.words not in index.exact for h in hits)

    def _config_like(self, found: Slots) -> bool:
        return bool(found.names.hits or found.reference)

    def _gathers_target(self, place: int) -> bool:
        """Whether the phrases beside a request name a target."""
        return any(
            self._slots_of(i).target
            for i in range(len(self.acts))
            if i != place and self.acts[i].kind in ("fragment", "statement", "question")
        )

    def _plausible(self, act: Act, intent: Intent, found: Slots, target: bool) -> bool:
        """An idiom is no request: "never stop learning", "stop it", "start over", unless something of ours is named."""
        if actions.idiom(act):
            return False
        if intent is Intent.CANCEL or target:
            return True
        rest = [w for w in act.clause.words[act.at + 1 :] if w not in lex.POLITE]
        if not rest and sum(1 for a in self.acts if a.kind != "social") > 1:
            return self.context is not None
        if rest[:1] and rest[0] in ("with", "by", "to", "from", "over", "in", "here", "for", "of", "at"):
            return self.context is not None and found.set_anything
        if intent is Intent.CHANGE:
            if self._turns_off(act, found):
                return True
            return found.set_anything and (self.context is not None or (found.pronoun and len(self.acts) > 1))
        unknown = targets.unknown_object(act, found)
        if any(t.fixed for t in act.clause.tokens[act.at : act.at + 1]):
            return False
        if not rest or set(rest) <= lex.FILLERS:
            return not (set(rest) - lex.POLITE) or bool(
                set(rest)
                & (
                    lex.BOX_NOUNS
                    | {
                        "it",
                        "this",
                        "that",
                        "model",
                        "again",
                        "same",
                        "one",
                        "back",
                        "down",
                        "up",
                        "instance",
                        "now",
                        "config",
                    }
                )
            )
        return bool(unknown) and (
            any(c.isdigit() or c == "-" for c in unknown)
            or (intent is Intent.START and len(unknown.split()) == 1 and unknown not in self.vocabulary.known)
            or (
                intent in (Intent.STOP, Intent.RESTART)
                and len(rest) == 1
                and unknown not in self.vocabulary.known
                and not unknown.endswith("ing")
            )
        )

    def _follow_up(self, place: int) -> Intent:
        """In a thread: "and with 5 steps", "64k context please", "plain instead"."""
        if self.context is None or self.acts[place].clause.end == "?" and self.acts[place].clause.words[:1] == ["why"]:
            return Intent.NONE
        words = self.acts[place].clause.words
        found = self._slots_of(place)
        before = self.acts[place - 1].clause.words if place else []
        opener = (
            (self.acts[place].clause.link == "but" and before[-1:] == ["same"])
            or bool(set(words[:2]) & {"and", "with", "but", "now", "same", "without", "again", "also", "then", "no"})
            or "instead" in words
            or "please" in words
        )
        if any(a.kind in ("past", "statement", "own_plan") for a in self.acts):
            return Intent.NONE
        if found.set_anything and (opener or targets.leftovers(found.tokens) == []):
            return Intent.CHANGE
        if (
            opener
            and found.names.anything
            and (
                "instead" in words
                or "without" in words
                or words[0] in ("with", "without", "now", "same", "and")
                or before[-1:] == ["same"]
            )
        ):
            return Intent.CHANGE
        if words[:1] == ["again"] and len(words) <= 3:
            return Intent.RESTART
        return Intent.NONE

    # ---- reading requests

    def _read(self, place: int, intent: Intent) -> Command:
        used = self._beside(place, intent)
        found = slots.read(used, self.vocabulary, kind=intent)
        if not found.target or found.pronoun:
            found = self._with_antecedent(place, found, used, intent)
        act = self.acts[place]
        made = targets.reading_command(self.text, intent, act, found, self.vocabulary, self.context, self.now)
        return replace(made, note=self._note(place, used))

    def _beside(self, place: int, intent: Intent) -> list[Token]:
        """The request's own words with the phrases beside it; a reading request also takes the questions beside it."""
        kinds = {"fragment"} if intent in ACTIONS else {"fragment", "question", "request"}
        own = self.acts[place].clause
        clauses: list[Clause] = []
        noted = -1
        for at, act in enumerate(self.acts):
            if at == place:
                clauses.append(own)
                continue
            if act.kind in _TELLING and at > place:
                noted = act.clause.sentence
            if act.clause.sentence == noted and act.kind == "fragment":
                continue
            if at in self.merged:
                clauses.append(act.clause)
            elif act.kind in kinds and act.clause.link != "because" and self._is_slot(act, intent):
                clauses.append(act.clause)
            elif (
                act.kind == "negated"
                and act.verb in ("use", "want", "need", "enable", "have", "include", "load")
                and intent in ACTIONS
            ):
                clauses.append(act.clause)
        return slots.join(clauses)

    def _is_slot(self, act: Act, intent: Intent) -> bool:
        """A phrase that says more about the request, not a reason for it."""
        found = slots.read(act.clause.tokens, self.vocabulary, kind=intent)
        left = targets.leftovers(act.clause.tokens)
        if intent not in ACTIONS:
            return (
                found.target
                or bool(found.counts.concurrency or found.counts.lines or found.rhythm or found.channel)
                or bool(topics(found.text))
            )
        return (found.target or found.set_anything) and len(left) <= 1

    def _with_antecedent(self, place: int, found: Slots, used: list[Token], intent: Intent) -> Slots:
        """Take the target from what was said before (or after) when the request only points to it."""
        others = [a.clause for i, a in enumerate(self.acts) if i != place and a.clause.tokens[0] not in used]
        for clause in others:
            extra = slots.read(clause.tokens, self.vocabulary, kind=intent)
            if extra.hosts.named or extra.names.positive:
                kept = [t for t in clause.tokens if t.role in ("host", "name")]
                mark = Token(",", ",", "mark", 0, 0)
                place_word = Token("on", "on", "word", 0, 0)
                return slots.read([*used, mark, place_word, *kept], self.vocabulary, kind=intent)
        return slots.read(used, self.vocabulary, kind=intent)

    def _note(self, place: int, used: list[Token]) -> str | None:
        """The reason given behind the request, as typed."""
        after = [t for a in self.acts[place + 1 :] for t in a.clause.tokens if t not in used and a.kind != "social"]
        if not after:
            return None
        return self.normal.text[after[0].start : after[-1].end].strip().translate({0xE000: None, 0xE001: None}) or None

    # ---- actions

    def _act(self, acting: list[tuple[int, Intent]], others: list[Intent]) -> Command:
        place, intent = acting[0]
        if len(acting) > 1:
            merged = self._merge(acting)
            if merged is None:
                return self._several(acting)
            place, intent = merged
            self.merged = frozenset(i for i, _ in acting)
        act = self.acts[place]
        if held := self._held(place):
            return self._none(held)
        used = self._beside(place, intent)
        found = slots.read(used, self.vocabulary, kind=intent)
        if not (found.names.anything or found.hosts.named or found.hosts.several or found.all) or (
            found.pronoun and not found.names.anything
        ):
            found = self._with_antecedent(place, found, used, intent)
        request = targets.Request(
            text=self.text, intent=intent, act=act, slots=found, vocabulary=self.vocabulary, context=self.context, now=self.now,
            wish=act.kind == "wish", suspicions=self.normal.suspicions, injected=injection.found(self.normal.text),
            other_person=self.normal.other_person or self._addressed(place),
        )  # fmt: skip
        made = targets.action_command(request)
        return replace(made, note=self._note(place, used))

    def _addressed(self, place: int) -> bool:
        """ "Bob, can you …": the request is to somebody else."""
        first = next((a for a in self.acts if a.kind != "social"), None)
        if first is None or self.acts[place] is first and first.clause.tokens[0].kind != "person":
            return False
        names = [t for t in first.clause.tokens if t.kind != "mark" and t.text not in lex.OPENERS]
        if first.clause.tokens[0].kind == "person":
            return True
        known = self.vocabulary.known
        return (
            len(names) == 1
            and names[0].raw[:1].isupper()
            and not names[0].raw.isupper()
            and names[0].text.isalpha()
            and names[0].text not in known
            and not names[0].role
        )

    def _held(self, place: int) -> str | None:
        """A condition, a later time or a withdrawal that goes with the request."""
        act = self.acts[place]
        before_note = _own_words(act)
        if phrases.later(before_note):
            return "deferred"
        for at, other in enumerate(self.acts):
            if at == place:
                continue
            if other.kind == "condition" and other.clause.sentence == act.clause.sentence and abs(at - place) == 1:
                return "conditional"
            words = " ".join(other.clause.words)
            if (
                other.kind in ("fragment", "social", "negated")
                and abs(at - place) == 1
                and (moment := phrases.later(words))
            ):
                if set(words.replace(moment, " ").split()) <= lex.OPENERS | lex.POLITE | {
                    "but",
                    "not",
                    "at",
                    "or",
                    "so",
                    "on",
                    "maybe",
                    "the",
                    "only",
                    "sharp",
                }:
                    return "deferred"
            if at > place and _withdrawn(words):
                return "withdrawn"
            if other.kind == "negated" and at > place and other.verb in ACTION_VERBS and not self._slots_of(at).target:
                return "withdrawn"
        return None

    def _merge(self, acting: list[tuple[int, Intent]]) -> tuple[int, Intent] | None:
        """One request out of several that mean one thing: "stop and start X" is a restart, "start X with 5 steps, set tp 2"."""
        kinds = {intent for _, intent in acting}
        if kinds == {Intent.STOP, Intent.START}:
            (stop, start) = sorted(acting, key=lambda x: x[1] is Intent.START)
            first, second = self._slots_of(stop[0]), self._slots_of(start[0])
            named = [s for s in (first, second) if s.target]
            if len(named) < 2 and (named or self.context):
                return (start[0] if second.target or not first.target else stop[0]), Intent.RESTART
            return None
        bare = [(i, n) for i, n in acting if not self._slots_of(i).target and not self._slots_of(i).set_anything]
        if len(acting) - len(bare) == 1 and len(kinds) == 1:
            return next(x for x in acting if x not in bare)
        if len(kinds) == 2 and Intent.CHANGE in kinds:
            return next(x for x in acting if x[1] is not Intent.CHANGE)
        return None

    def _several(self, acting: list[tuple[int, Intent]]) -> Command:
        place, intent = acting[0]
        for other, _ in acting:
            if held := self._held(other):
                return self._none(held)
        tokens = slots.join([self.acts[i].clause for i, _ in acting])
        found = slots.read(tokens, self.vocabulary)
        made = targets.reading_command(self.text, intent, self.acts[place], found, self.vocabulary, None, self.now)
        values = {"actions": [n.value for _, n in acting]}
        return replace(made, ask=True, question=Question(code="several_actions", values=values))


def _objectless(act: Act) -> bool:
    """Whether the request says no object of its own: "restart it", "please check"."""
    rest = act.clause.words[act.at + 1 :] if act.verb and act.kind != "desire" else act.clause.words[act.at :]
    return set(rest) <= lex.FILLERS | lex.POLITE | lex.OPENERS or any(t.role for t in act.clause.tokens[act.at :])


def _question_start(act: Act) -> int:
    return act.at


def _own_words(act: Act) -> str:
    """The request up to the purpose or reason that trails it: "… for a demo at 3"."""
    words = act.clause.words
    rest = words[act.at :]
    for at, word in enumerate(rest):
        following = rest[at + 1] if at + 1 < len(rest) else ""
        purpose = word == "for" and following in (
            "a",
            "an",
            "the",
            "our",
            "my",
            "tomorrow",
            "tonight",
            "his",
            "her",
            "their",
            "some",
            "today",
            "this",
            "next",
            "todays",
            "monday",
            "me",
            "us",
        )
        aim = word == "to" and following not in lex.FILLERS and at > 1 and following.isalpha() and len(following) > 2
        if at and (purpose or aim):
            return " ".join(words[: act.at + at])
    return " ".join(words)


_WITHDRAWALS = frozenset({
    "no wait", "wait no", "never mind", "nevermind", "forget it", "forget that", "scratch that", "wait", "hold on", "no", "not now", "not yet",
    "actually no", "do not", "no do not", "please do not", "stop", "cancel that", "ignore that", "ignore this", "ignore me", "not really",
    "my bad", "wrong channel", "wrong thread", "oops", "just testing", "or not", "or maybe not", "maybe not", "not today", "but not now", "but not yet", "cancel",
    "but not today", "only joking", "i am joking", "i am kidding", "sorry wrong channel", "sorry wrong thread", "no sorry", "on second thought no", "he said", "she said", "they said",
})  # fmt: skip


def _withdrawn(words: str) -> bool:
    return words in _WITHDRAWALS


def _asks_how(text: str) -> bool:
    return text.startswith(("how do", "how can", "how to", "how should"))


def _reports(act: Act, text: str, found: Slots) -> Intent | None:
    """SCHEDULE or UNSCHEDULE: a rhythm or an end for reports."""
    words = set(act.clause.words)
    nouns = words & lex.REPORT_NOUNS
    recurring = bool(words & lex.RECURRENCE) and not words & {"everything"}
    ends = (
        (act.verb in lex.END_VERBS and act.kind in _ASKING)
        or "no more" in " ".join(act.clause.words)
        or act.kind == "negated"
    )
    plural = nouns - {"status", "check", "message", "ping", "post", "update"}
    if ends and nouns and (act.kind == "negated" or not found.names.positive) and (plural or recurring):
        if act.kind == "negated" and act.verb not in (
            "post",
            "send",
            "report",
            "ping",
            "show",
            "spam",
            "notify",
            "message",
            "update",
            "remind",
            "need",
            "want",
            "give",
            "get",
            "schedule",
            "do",
            "",
        ):
            return None
        return Intent.UNSCHEDULE
    if act.verb in ("unschedule", "unsubscribe") and act.kind in _ASKING:
        return Intent.UNSCHEDULE
    if act.kind in ("question", "past", "own_plan", "statement", "hypothetical", "condition", "negated"):
        return None
    if recurring and (nouns or (act.verb in lex.SCHEDULE_VERBS and words & (nouns | lex.HEALTH_WORDS))):
        return Intent.SCHEDULE
    if recurring and act.verb in ("check", "ping", "monitor", "probe") and found.target:
        return Intent.SCHEDULE
    if act.verb == "schedule" and nouns and act.kind in _ASKING and not words & {"list", "show"}:
        return Intent.SCHEDULE
    return None
