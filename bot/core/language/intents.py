"""The intent of one clause, with its message around it."""

from bot.core.domain.command import Intent
from bot.core.language import actions, correcting, draft, editing, reading, reports, saving
from bot.core.language import lexicon as lex
from bot.core.language.message import ASKING, Message
from bot.core.language.slots import Slots
from bot.core.language.speech import ACTION_VERBS, Act
from bot.core.language.topics import strong, topics

_LOOKING = lex.words("check look test examine verify diagnose probe")
#: words behind a bare verb that make it a request: "stop the server", "start it again"
_POINTING = lex.BOX_NOUNS | lex.words("it this that model again same one back down up instance now config")
_PREPOSITIONS = lex.words("with by to from over in here for of at")
_JOINING = lex.words("and with but now same without again also then no")
_CARRYING_ON = _JOINING - {"also", "then", "no", "without"}
_GOING_ON = lex.words("with without now same and")
_AS_IT_WAS = lex.words("the same again once more one time thing config setup as before just it please")
_HOW = ("how do", "how can", "how to", "how should")


def of(message: Message, place: int) -> Intent:
    """The intent of the clause at `place`; NONE when it asks for nothing."""
    act = message.acts[place]
    found = message.slots_of(place)
    text = " ".join(act.clause.words[act.at :])
    if (report := reports.intent(act, found)) is not None:
        return report
    if act.kind in ("request", "wish") and _saves(message, act):
        return Intent.SAVE
    joins = act.kind in ("fragment", "question") and act.clause.words[0] in _CARRYING_ON
    sets = bool(found.settings.relative or found.settings.values) or _repeats(message, place)
    joins = joins or (act.kind == "fragment" and sets)
    if joins and follow_up(message, place) is Intent.CHANGE:
        return Intent.NONE
    if act.kind in ASKING and (acted := _action(message, place, act, found)) is not None:
        return acted
    asks_to_read = act.kind == "hypothetical" and act.verb in lex.READ_VERBS - ACTION_VERBS
    if act.kind in ("negated", "hypothetical") and not asks_to_read:
        return Intent.HELP if text.startswith(_HOW) else Intent.NONE
    if act.kind == "question" and _supposed(message, act):
        return Intent.NONE
    # a setting with its value is no question about it: "gemma on node8, tp 2"
    about = () if act.kind == "fragment" and found.settings.values else topics(text)
    points = act.kind in ASKING and act.verb in _LOOKING and not found.target
    return reading.intent(
        act,
        text,
        target=found.names.anything or (points and message.target_beside(place)),
        host=bool(found.hosts.named or found.hosts.several or found.hosts.unknown),
        topics=about,
        strong_topics=strong(about),
        config=bool(found.names.hits or found.reference),
    )


def _supposed(message: Message, act: Act) -> bool:
    """ "if I kill X, is the port free?": the question is about what would be."""
    return any(
        a.kind == "condition" and a.verb in ACTION_VERBS and a.clause.sentence == act.clause.sentence
        for a in message.acts
    )


def _saves(message: Message, act: Act) -> bool:
    if editing.edit(act.clause.tokens[act.at :]) is not None:
        return True
    saved = saving.save(act.clause.words[act.at :], [t.raw for t in act.clause.tokens[act.at :]])
    return saved is not None and bool(saved.name or message.context)


def _action(message: Message, place: int, act: Act, found: Slots) -> Intent | None:
    """The action that a request means, when it is about something of ours."""
    target = found.target or (_objectless(act) and message.target_beside(place))
    target = target or (found.pronoun and message.context is not None)
    acted = actions.action(
        act,
        target=target,
        own_target=found.target,
        overrides=found.set_anything,
        thread=message.context is not None,
    )
    if acted is Intent.STOP and _turns_off(message, act, found):
        acted = Intent.CHANGE
    if acted is None or actions.idiom(act):
        return None
    if acted is Intent.CANCEL or target or _plausible(message, act, acted, found):
        return acted
    return None


def _objectless(act: Act) -> bool:
    """Whether the request says no object of its own: "restart it", "please check"."""
    rest = act.clause.words[act.at + 1 :] if act.verb and act.kind != "desire" else act.clause.words[act.at :]
    return set(rest) <= lex.FILLERS | lex.POLITE | lex.OPENERS or any(t.role for t in act.clause.tokens[act.at :])


def _turns_off(message: Message, act: Act, found: Slots) -> bool:
    """ "turn off mtp on X": a way of running is named, not a model or config."""
    index = message.vocabulary.index
    hits = found.names.hits
    if act.verb not in ("turn", "switch", "shut") or not hits:
        return False
    return all(h.words in index.tags and h.words not in index.exact for h in hits)


def _plausible(message: Message, act: Act, intent: Intent, found: Slots) -> bool:
    """With no known target, an idiom is no request: "never stop learning", "start over"."""
    in_thread = message.context is not None
    rest = [w for w in act.clause.words[act.at + 1 :] if w not in lex.POLITE]
    if not rest and sum(1 for a in message.acts if a.kind != "social") > 1:
        return in_thread
    if rest and rest[0] in _PREPOSITIONS:
        return in_thread and found.set_anything
    if intent is Intent.CHANGE:
        goes_on = in_thread or (found.pronoun and len(message.acts) > 1)
        return _turns_off(message, act, found) or (found.set_anything and goes_on)
    if act.clause.tokens[act.at].fixed:
        return False
    if set(rest) <= lex.FILLERS:
        return not rest or bool(set(rest) & _POINTING)
    return _names_something(message, intent, draft.unknown_object(act), len(rest))


def _names_something(message: Message, intent: Intent, unknown: str, length: int) -> bool:
    """Whether an unknown object may be a name: "start mistral", "stop gpt-neo"."""
    if not unknown:
        return False
    if any(c.isdigit() or c == "-" for c in unknown):
        return True
    strange = unknown not in message.vocabulary.known
    if intent is Intent.START:
        return strange and len(unknown.split()) == 1
    return strange and length == 1 and not unknown.endswith("ing")


def _repeats(message: Message, place: int) -> bool:
    """ "same but tp 1", "tp 1 instead": as it was, but for what is said here."""
    clause = message.acts[place].clause
    before = message.acts[place - 1].clause.words if place else []
    same = before[-1:] == ["same"] or (bool(before) and set(before) <= _AS_IT_WAS)
    return (same and clause.link == "but") or (clause.words[-1] == "instead" and clause.end != "?")


def follow_up(message: Message, place: int) -> Intent:
    """In a thread: "and with 5 steps", "64k context please", "plain instead"."""
    clause = message.acts[place].clause
    words = clause.words
    if message.context is None or (clause.end == "?" and words[0] == "why"):
        return Intent.NONE
    polite = bool({"instead", "please"} & set(words))
    told = message.acts[:place] if polite else message.acts
    if any(a.kind in ("past", "statement", "own_plan") for a in told):
        return Intent.NONE
    found = message.slots_of(place)
    if found.reference is not None and found.reference.kind == "speed":
        return Intent.NONE  # "6 draft tokens = 55 tok/s"
    same_but = _repeats(message, place)
    going = words[next((i for i, w in enumerate(words) if w not in lex.OPENERS or w in _GOING_ON), 0)]
    opener = bool(set(words[:2]) & _JOINING or polite or (clause.link == "but" and same_but))
    if found.set_anything and (opener or not draft.leftovers(found.tokens)):
        return Intent.CHANGE
    other_config = {"instead", "without"} & set(words) or same_but
    other_config = other_config or (going in _GOING_ON and (going != "same" or correcting.names_only(clause)))
    if opener and found.names.anything and other_config:
        return Intent.CHANGE
    if clause.end == "?":
        return Intent.NONE
    again = (words[0] == "again" and len(words) <= 3) or ("again" in words and set(words) <= _AS_IT_WAS)
    return Intent.RESTART if again else Intent.NONE
