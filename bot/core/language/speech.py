"""What a clause does: asks for something, asks a question, denies, supposes, reports. Only a request may act."""

import re
from dataclasses import dataclass

from bot.core.language import frames
from bot.core.language import lexicon as lex
from bot.core.language.tokens import Clause

#: kinds: "request", "wish" (a request that is confirmed first), "desire" (wants a state), "question", "negated",
#: "hypothetical", "past", "own_plan", "condition", "statement", "fragment", "social", "joke"


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """A clause and its kind. `at`: place of the verb, or of the first word after the frame."""

    kind: str
    clause: Clause
    verb: str = ""
    at: int = 0


ACTION_VERBS = (
    (
        lex.START_VERBS
        - {"get", "have", "put", "set", "open", "begin", "prepare", "execute", "light", "turn", "switch", "power"}
    )
    | (lex.STOP_VERBS - {"end", "close", "drop", "remove", "cut", "clear", "free", "quit"})
    | lex.RESTART_VERBS
)
ALL_VERBS = (
    lex.START_VERBS
    | lex.STOP_VERBS
    | lex.RESTART_VERBS
    | lex.PARTICLE_STOP
    | lex.PARTICLE_START
    | lex.SWITCH_VERBS
    | lex.CHANGE_VERBS
    | lex.READ_VERBS
    | lex.SAVE_VERBS
    | lex.SCHEDULE_VERBS
    | lex.END_VERBS
    | lex.CANCEL_VERBS
    | frozenset({"leave", "forget", "wait", "help", "hold", "learn", "explain", "dont"})
)

WH = lex.words("what which who whom whose when where why how")
AUX = lex.words("is are was were am do does did has have had can could will would should shall may might must")
_ANY = lex.words("any anything anyone anybody")


def classify(clause: Clause) -> Act:
    """The kind of one clause by its words alone."""
    words = clause.words
    if set(words) & lex.JOKE:
        return Act(kind="joke", clause=clause)
    at = _skip(words, 0)
    if at >= len(words):
        return Act(kind="social" if words else "fragment", clause=clause)
    later = words[:3] == ["as", "soon", "as"] or words[:2] == ["in", "case"]
    if (
        later
        or clause.link in ("if", "unless", "until", "till", "while", "once", "after", "before", "when", "whenever")
        or (
            words[at] in ("if", "unless", "once", "until", "when", "whenever", "after", "before", "while")
            and _conditional(words, at)
        )
    ):
        polite = _match(frames.REQUEST, words, at)
        if polite and _skip(words, at + polite) >= len(words):
            return Act(kind="social", clause=clause)
        asks_on = bool(polite) and bool(_verb(words, _skip(words, at + polite), False))
        if words[at] not in ("if", "when", "whenever") or not asks_on:
            return Act(kind="condition", clause=clause, at=at, verb=_any_action(words))
    return _framed(clause, words, at)


def _framed(clause: Clause, words: list[str], at: int) -> Act:
    """Peel frames off until a verb, a question or a statement is left."""
    wish, gerund = False, False
    while at < len(words):
        if taken := _match(frames.FORGET, words, at):
            at, wish = at + taken, True
        elif taken := _match(frames.NEGATED, words, at):
            verb_at = _skip(words, at + taken)
            if verb_at < len(words) and _verb(words, verb_at, True):
                return Act(kind="negated", clause=clause, verb=_verb(words, verb_at, True), at=verb_at)
            if words[at] in ("not", "never", "do") and words[at : at + 2] != ["do", "not"]:
                return Act(kind="fragment", clause=clause, at=at)
            return Act(kind="negated", clause=clause, verb=_any_action(words), at=at)
        elif taken := _match(frames.EMBEDDED, words, at):
            at += taken
            if at < len(words) and words[at] in ("if", "whether", "that"):
                at += 1
            return Act(kind="question", clause=clause, at=at, verb=_any_action(words[at:]))
        elif taken := _match(frames.GERUND_REQUEST, words, at):
            at, gerund = _skip(words, at + taken), True
            if at < len(words) and words[at] in ("if", "to"):
                at, gerund = at + 1, False
                return Act(kind="hypothetical", clause=clause, at=at, verb=_any_action(words))
        elif taken := _match(frames.REQUEST, words, at):
            after = at + taken
            if words[at : at + 2] == ["let", "me"] and not (
                after < len(words) and words[after] in ("see", "have", "get", "know", "check", "look")
            ):
                return Act(kind="own_plan", clause=clause, at=after, verb=_any_action(words))
            at = _skip(words, after)
        elif words[at] == "i" and words[at + 1 : at + 2] == ["want"] and _verb(words, at + 2, False) in ACTION_VERBS:
            at += 2  # "i want start": the "to" left out
        elif words[at] == "to" and words[at - 1 : at] == ["please"] and _verb(words, at + 1, False) in ALL_VERBS:
            at += 1  # "please to stop X"
        elif (taken := _match(frames.WISH, words, at)) and _verb(words, _skip(words, at + taken), False):
            at, wish = _skip(words, at + taken), True
        else:
            break
    return _headed(clause, words, at, wish=wish, gerund=gerund)


def _headed(clause: Clause, words: list[str], at: int, *, wish: bool, gerund: bool) -> Act:
    """The kind by the word that the frames left first."""
    if at >= len(words):
        return Act(kind="fragment", clause=clause, at=len(words))
    word = words[at]
    following = words[at + 1] if at + 1 < len(words) else ""
    if (taken := _match(frames.MAYBE, words, at)) and (act := _maybe(clause, words, at, taken)):
        return act
    if desire := _desire(clause, words, at):
        return desire
    if words[at : at + 2] == ["had", "to"] and clause.end != "?":
        return Act(kind="past", clause=clause, at=at, verb=_any_action(words))
    if (
        word in WH
        or word in _ANY
        or (
            word in AUX
            and not (word in ("do", "have") and following in ("a", "an", "the", "another", "one", "some", "it"))
        )
    ) and not (word == "have" and following not in lex.SUBJECTS):
        return Act(kind="question", clause=clause, at=at, verb=_any_action(words[at:]))
    verb = _verb(words, at, gerund)
    if (
        verb in ("take", "have", "give", "get", "do")
        and re.match(r"(?:\S+ ){1,4}(?:look|peek|glance|check)\b", " ".join(words[at : at + 6]))
        and "a" in words[at : at + 4]
    ):
        verb = "look"
    if verb and not _is_noun(words, at):
        kind = (
            "wish"
            if wish or (clause.end == "?" and at == _skip(words, 0) and "please" not in words and verb in ACTION_VERBS)
            else "request"
        )
        return Act(kind=kind, clause=clause, verb=verb, at=at)
    return _stated(clause, words, at)


def _maybe(clause: Clause, words: list[str], at: int, taken: int) -> Act | None:
    """A supposition with an action in it; a supposition about anything else is an ordinary question."""
    after = _skip(words, at + taken)
    verb = _verb(words, after, True) if after < len(words) else ""
    own = words[at] in ("i", "we", "he", "she", "they", "someone", "somebody")
    if words[at] == "let":
        return Act(kind="statement", clause=clause, at=at)
    if (
        verb
        and verb in lex.READ_VERBS - ACTION_VERBS - {"test"}
        and words[at] in ("can", "could", "may", "should", "might", "maybe", "perhaps")
    ):
        return Act(kind="request", clause=clause, verb=verb, at=after)
    if words[at] in ("why", "when") and verb and words[at + 1] in ("do", "did", "does", "are"):
        return Act(kind="question", clause=clause, at=at, verb=verb)
    if verb in ("have", "get") and words[at] in ("can", "could", "may", "would") and _match(frames.DESIRE, words, at):
        return None
    if verb and (
        verb in ACTION_VERBS
        or verb in lex.PARTICLE_STOP | lex.PARTICLE_START | lex.SWITCH_VERBS | lex.STOP_VERBS | lex.CHANGE_VERBS
    ):
        if (
            verb in ("have", "get", "use", "run", "set", "make", "do", "give", "load", "host", "keep", "serve")
            and words[at] not in ("maybe", "perhaps")
            and not own
        ):
            return (
                None
                if words[at] in ("do", "did", "are", "am", "will")
                else Act(kind="hypothetical", clause=clause, verb=verb, at=after)
            )
        return Act(kind="hypothetical", clause=clause, verb=verb, at=after)
    if words[at] in ("what", "how") and words[at + 1] in ("about",):
        return None
    return None


def _desire(clause: Clause, words: list[str], at: int) -> Act | None:
    """ "I'd like X running on Y", "we need X stopped": a state that is wanted."""
    taken = _match(frames.DESIRE, words, at)
    if not taken:
        return None
    rest = words[at + taken :]
    if not rest or _verb(words, at + taken, False) in lex.READ_VERBS - ACTION_VERBS or rest[0] in ("to", "you", "your"):
        return None
    return Act(kind="desire", clause=clause, at=at + taken, verb=rest[0])


def _stated(clause: Clause, words: list[str], at: int) -> Act:
    """No verb in the first place: a report, a plan of one's own, a statement, or just a phrase."""
    rest = words[at:]
    asked = clause.end == "?"
    if words[at] in lex.PAST_FORMS or (words[at] in lex.GERUNDS and at == _skip(words, 0)):
        return Act(kind="past", clause=clause, at=at, verb=_any_action(words))
    taken = _match(frames.OWN_PLAN, words, at)
    if taken and at + taken < len(words):
        verb = _verb(words, at + taken, True) or (words[at + taken] if words[at + taken] in lex.PAST_FORMS else "")
        if verb:
            return Act(kind="own_plan", clause=clause, at=at, verb=_any_action(words))
    if set(rest) <= lex.SOCIAL:
        return Act(kind="social", clause=clause, at=at)
    finite = next(
        (i for i, w in enumerate(rest) if w in lex.FINITE or (w in lex.PAST_FORMS and i) or _plural_verb(rest, i)), None
    )
    if (
        rest[0] in lex.SUBJECTS
        and len(rest) > 1
        and (rest[0] not in ("this", "that", "these", "those", "it") or finite is not None or rest[1] in lex.PAST_FORMS)
    ):
        return Act(
            kind="question" if asked and finite is not None else "statement",
            clause=clause,
            at=at,
            verb=_any_action(words),
        )
    if finite is not None and finite > 0 and not _relative(rest, finite):
        return Act(kind="question" if asked else "statement", clause=clause, at=at, verb=_any_action(words))
    if (last := _trailing_verb(words, at)) is not None:
        return Act(kind="wish" if asked else "request", clause=clause, at=last, verb=words[last])
    return Act(kind="question" if asked else "fragment", clause=clause, at=at, verb="")


def _trailing_verb(words: list[str], at: int) -> int | None:
    """ "gemma please stop": the verb behind its object."""
    last = len(words) - 1
    while last > at and (words[last] in lex.POLITE or words[last] in ("thanks", "asap")):
        last -= 1
    if (
        last <= at
        or words[last - 1] == "to"
        or words[last] not in ("start", "stop", "restart", "kill", "relaunch", "reload", "reboot", "launch")
    ):
        return None
    return (
        None
        if words[at] in ("the", "a", "an", "this", "that", "my", "our", "no", "for", "of", "on", "with", "by")
        else last
    )


def _plural_verb(rest: list[str], at: int) -> bool:
    """ "the numbers look off": a plain verb form behind its subject."""
    if at < 1 or rest[at] not in lex.PLURAL_VERBS or at + 1 >= len(rest):
        return False
    return rest[at - 1] not in (
        "to",
        "and",
        "or",
        "us",
        "please",
        "not",
        "can",
        "could",
        "will",
        "would",
        "the",
        "a",
        "with",
        "for",
        "in",
        "of",
    )


def _relative(rest: list[str], finite: int) -> bool:
    """ "the config that did 70", "same as what we had": the verb is inside the noun phrase."""
    return (
        any(w in ("that", "which", "what", "as", "we", "i", "how", "like") for w in rest[:finite])
        and rest[0] not in lex.SUBJECTS
    )


def _skip(words: list[str], at: int) -> int:
    """Past greetings and small words; the bot's own name only before a verb."""
    while at < len(words):
        word = words[at]
        following = words[at + 1] if at + 1 < len(words) else ""
        if word in lex.OPENERS or word in lex.POLITE:
            if word in ("now", "then", "again", "first") and following in lex.COPULA:
                break
            at += 1
        elif word in ("relaunch", "@user") and (
            following in ALL_VERBS or following in ("can", "could", "please", "would")
        ):
            at += 1
        else:
            break
    return at


def _match(pattern: re.Pattern[str], words: list[str], at: int) -> int:
    """Number of words that a frame takes, 0 when it does not fit."""
    match = pattern.match(" ".join(words[at : at + 16]) + " ")
    return len(match.group().split()) if match else 0


def _verb(words: list[str], at: int, gerund: bool) -> str:
    """The verb at a place in its base form, or ""."""
    if at >= len(words):
        return ""
    word = words[at]
    if word in ALL_VERBS:
        return word
    if gerund and word in lex.GERUND_OF:
        return lex.GERUND_OF[word]
    return ""


#: "launch history": the verb describes the noun
_NOUNS_BEHIND = lex.words(
    "history log logs configs scripts script commands times events records counts count order page list"
)


#: behind a verb that is a noun here: "restart was fine", "restart required"
_NOT_OBJECTS = lex.words(
    "of is was were are has had did does seems looks took takes worked failed went works time times fails required "
    "needed necessary pending complete done successful possible ok okay looks sequence attempt attempts loop loops"
)


def _is_noun(words: list[str], at: int) -> bool:
    """ "start of the run", "restart was fine", "stop signs are": the verb is a noun here."""
    following = words[at + 1] if at + 1 < len(words) else ""
    if words[at] in ACTION_VERBS and following in _NOUNS_BEHIND:
        return True
    if following not in _NOT_OBJECTS:
        return False
    listed = following == "of" and words[at] in lex.LOG_WORDS | {"list", "report"}
    return words[at] not in ("take", "get", "make", "check", "find", "show", "tell") and not listed


def _conditional(words: list[str], at: int) -> bool:
    """ "when" and "before" open a condition unless a question follows ("when did …")."""
    following = words[at + 1] if at + 1 < len(words) else ""
    if words[at] == "when":
        return following not in AUX
    return True


def _any_action(words: list[str]) -> str:
    """An action that the words mention in any form, or ""."""
    for word in words:
        if word in ACTION_VERBS:
            return word
        if word in lex.GERUND_OF and lex.GERUND_OF[word] in ACTION_VERBS:
            return lex.GERUND_OF[word]
        if word in _PAST_OF:
            return _PAST_OF[word]
    return ""


_PAST_OF = {
    **{v + "ed": v for v in ACTION_VERBS},
    **{v + "d": v for v in ACTION_VERBS if v.endswith("e")},
    "stopped": "stop",
    "ran": "run",
    "spun": "spin",
    "brought": "bring",
    "took": "take",
    "taken": "take",
    "reran": "rerun",
}
