"""What keeps a request from being acted on now: a condition, a later time, a withdrawal."""

from bot.core.domain.command import Intent
from bot.core.language import actions, phrases
from bot.core.language import lexicon as lex
from bot.core.language.message import Message
from bot.core.language.speech import ACTION_VERBS, WH, Act

_WITHDRAWALS = frozenset(
    {
        "no wait", "wait no", "never mind", "nevermind", "forget it", "forget that", "scratch that", "wait", "hold on",
        "no", "not now", "not yet", "actually no", "do not", "no do not", "please do not", "stop", "cancel that",
        "ignore that", "ignore this", "ignore me", "not really", "my bad", "wrong channel", "wrong thread", "oops",
        "just testing", "or not", "or maybe not", "maybe not", "not today", "but not now", "but not yet", "cancel",
        "but not today", "only joking", "i am joking", "i am kidding", "sorry wrong channel", "sorry wrong thread",
        "no sorry", "on second thought no", "he said", "she said", "they said",
    }
)  # fmt: skip
#: words beside a time that leave a clause nothing but a time
_TIMING = lex.OPENERS | lex.POLITE | lex.words("but not at or so on maybe the only sharp")
#: words behind "for" that open a purpose: "for a demo at 3"
_PURPOSE = lex.words("a an the our my his her their some this next todays today tonight tomorrow monday me us")
_TOLD = {
    "negated": "negated", "hypothetical": "hypothetical", "past": "past", "own_plan": "own_plan",
    "condition": "conditional", "question": "question", "statement": "statement",
}  # fmt: skip


#: "when its GPUs are free": what the bot itself waits for
_WAITING = frozenset({"when", "whenever", "once", "as"})
_FREE = frozenset({"free", "idle", "available", "unused"})


def held(message: Message, place: int, *, waits: bool = False) -> str | None:
    """Why the request at `place` is not for now: "deferred", "conditional", "withdrawn"; None when nothing keeps it.
    `waits`: that GPUs become free keeps it from nothing."""
    act = message.acts[place]
    if phrases.later(_own_words(act)):
        return "deferred"
    for at, other in enumerate(message.acts):
        if at == place:
            continue
        beside = abs(at - place) == 1
        if beside and other.kind == "condition" and other.clause.sentence == act.clause.sentence:
            if waits and at > place and _is_about_free_gpus(other):
                continue
            return "conditional"
        if beside and _is_time(other):
            return "deferred"
        if at > place and _doubts(act, other):
            return "question"
        if at > place and _withdraws(message, place, at):
            return "withdrawn"
    return None


def waits_for_gpus(message: Message, place: int) -> bool:
    """Whether the request at `place` is meant for when its GPUs are free: "when the cards are free", "when free"."""
    words = message.acts[place].clause.words
    if len(words) > 2 and words[-2] in _WAITING and words[-1] in _FREE:
        return True
    sentence = message.acts[place].clause.sentence
    following = message.acts[place + 1 : place + 2]
    return any(one.clause.sentence == sentence and _is_about_free_gpus(one) for one in following)


def _is_about_free_gpus(act: Act) -> bool:
    words = act.clause.words
    denied = any(word in ("not", "never", "no") for word in words)
    return act.kind == "condition" and words[0] in _WAITING and words[-1] in _FREE and len(words) <= 9 and not denied


def why_not(message: Message) -> str | None:
    """Why an action that the message mentions is not one it asks for."""
    for act in message.acts:
        if act.kind in _TOLD and (act.verb in ACTION_VERBS or act.kind == "negated"):
            return _TOLD[act.kind]
    return None


def _is_time(other: Act) -> bool:
    words = " ".join(other.clause.words)
    if other.kind not in ("fragment", "social", "negated") or not (moment := phrases.later(words)):
        return False
    return set(words.replace(moment, " ").split()) <= _TIMING


def _doubts(act: Act, other: Act) -> bool:
    """ "stop X? who said that?": the request is only repeated."""
    return act.kind == "wish" and act.clause.end == "?" and other.kind == "question" and other.clause.words[0] in WH


def _withdraws(message: Message, place: int, at: int) -> bool:
    other = message.acts[at]
    if " ".join(other.clause.words) in _WITHDRAWALS:
        return True
    if other.kind != "negated" or message.slots_of(at).target:
        return False
    asked, denied = (
        actions.action(a, target=True, own_target=True, overrides=False, thread=True)
        for a in (message.acts[place], other)
    )
    return asked is denied or (other.verb in ACTION_VERBS and not _undone(asked, denied))


def _undone(asked: Intent | None, denied: Intent | None) -> bool:
    """ "stop it, and never start it again": what is denied would undo the request, so the request stands."""
    if asked is Intent.STOP:
        return denied in (Intent.START, Intent.RESTART)
    return asked is Intent.START and denied is Intent.STOP


def _own_words(act: Act) -> str:
    """The request up to the purpose or aim that trails it: "… for a demo at 3", "… to run the eval tonight"."""
    words = act.clause.words
    rest = words[act.at :]
    for at, word in enumerate(rest[:-1]):
        following = rest[at + 1]
        aim = word == "to" and at > 1 and following not in lex.FILLERS and following.isalpha() and len(following) > 2
        if at and (aim or (word == "for" and following in _PURPOSE)):
            return " ".join(words[: act.at + at])
    return " ".join(words)
