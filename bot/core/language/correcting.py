"""Corrections without a verb in a thread: "no, on node8", "not that one, the plain one", "I meant node8"."""

from bot.core.domain.command import Intent
from bot.core.language import lexicon as lex
from bot.core.language.message import Message
from bot.core.language.tokens import Clause

#: what is said of the choice before the right one is named
_WRONG = lex.words("no nope nah wrong not that this one the it config host model server box sorry oops")
#: openers that correct by themselves
_CORRECTING = lex.words("no nope nah actually rather sorry oops")
_MEANT: tuple[list[str], ...] = (["i", "meant"], ["i", "mean"], ["we", "meant"], ["meant"])
_SMALL = lex.words("ah oh ok okay well hm hmm but and then now just please")
#: all that may stand beside the config or host that was meant
_BESIDE = (
    _CORRECTING
    | _SMALL
    | lex.words("i we meant mean the a one same identical again thing config setup model host exactly")
) | lex.words("with without not on at in to use using instead thanks box server")
_SAME = lex.words("same identical again")


def intent(message: Message, place: int) -> Intent:
    """CHANGE or START for a phrase that names the config or the host that was meant; NONE for any other phrase."""
    context, clause = message.context, message.acts[place].clause
    if context is None or clause.end == "?" or not _opens(message, place):
        return Intent.NONE
    found = message.slots_of(place)
    if not names_only(clause) or found.all or found.hosts.several:
        return Intent.NONE
    if found.hosts.unknown or (found.hosts.named and found.hosts.named != [context.host]):
        return Intent.START
    return Intent.CHANGE if found.names.hits or (found.hosts.named and found.set_anything) else Intent.NONE


def names_only(clause: Clause) -> bool:
    """Whether the clause says nothing beside names, hosts and settings."""
    free = {t.text for t in clause.tokens if not t.role and t.kind != "mark"}
    return free <= _BESIDE and "as" not in clause.words


def means(words: list[str]) -> bool:
    """ "sorry, I meant the plain one": what was meant is named by it."""
    rest = _without_openers(words)
    return any(rest[: len(meant)] == meant and rest[len(meant) :] not in ([], ["to"]) for meant in _MEANT)


def _opens(message: Message, place: int) -> bool:
    """Whether the phrase stands where a correction or a repetition does."""
    words = list(message.acts[place].clause.words)
    rest = _without_openers(words)
    corrects = bool(_CORRECTING & set(words[: len(words) - len(rest)]))
    if place and _denies(list(message.acts[place - 1].clause.words)):
        corrects = True
    return corrects or means(words) or (bool(_SAME & set(rest[:2])) and "here" not in rest)


def _without_openers(words: list[str]) -> list[str]:
    start = next((i for i, w in enumerate(words) if w not in _SMALL | _CORRECTING), len(words))
    return list(words[start:])


def _denies(before: list[str]) -> bool:
    """ "no", "wrong one", "not that one", "not node7", "same but"."""
    if before in (["oh", "no"], ["ah", "no"]):
        return False
    rest = [w for w in before if w not in lex.OPENERS or w in _CORRECTING]
    if not rest:
        return bool(_SAME & set(before))
    if set(rest) <= _WRONG or (set(rest) <= _SAME | lex.FILLERS and bool(_SAME & set(rest))):
        return True
    return rest[0] == "not" and len(rest) <= 4
