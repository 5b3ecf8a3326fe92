"""Changes of the catalog in words: "rename X to Y", "tag X as Y", "pin revision 12 of X", "archive X"."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.core.catalog.edits import EditKind
from bot.core.language import lexicon as lex
from bot.core.language.tokens import Token

_BETWEEN = lex.words("as to under =")
_OF = lex.words("of for from on in at")
_TAGS = {"tag": EditKind.TAG, "label": EditKind.TAG, "alias": EditKind.ALIAS, "nickname": EditKind.ALIAS}
_AWAY = {EditKind.TAG: EditKind.UNTAG, EditKind.ALIAS: EditKind.UNALIAS}
_REVISION = re.compile(r"r?\d{1,5}|#\d{1,5}|[0-9a-f]{6,12}")
#: words that only point: the thread's own config is meant
POINTING = lex.words(
    "this that it one config configuration setup launch run the current these settings here now thing server recipe "
    "model its my our a an revision version"
)
_TRAILING = lex.POLITE | lex.words("thanks thx ok again too")


@dataclass(frozen=True, slots=True)
class Edit:
    """A change, the words that name the config, and what is set (None: not said)."""

    kind: EditKind
    target: tuple[Token, ...]
    value: str | None = None

    @property
    def named(self) -> bool:
        """Whether a config is named at all; else the thread's is meant."""
        return any(token.kind != "mark" and token.text not in POINTING for token in self.target)


def edit(tokens: Sequence[Token]) -> Edit | None:
    """The change that a request asks for, from its verb on; None for anything else, and for "tag this as X" and "save
    it as X", which are about the launch of the thread."""
    words = [token for token in tokens if token.text not in ("please", "pls", "plz")]
    while words and (words[-1].text in _TRAILING or words[-1].kind == "mark"):
        words.pop()
    if len(words) < 2:
        return None
    read = _BY_VERB.get(words[0].text)
    return read(words[1:]) if read is not None else None


def _rename(words: list[Token]) -> Edit | None:
    target, value = _around(words, _BETWEEN)
    if value is None:
        return Edit(EditKind.RENAME, tuple(words))
    return Edit(EditKind.RENAME, target, _value(value))


def _labels(kind: EditKind) -> Callable[[list[Token]], Edit | None]:
    """ "tag X as Y", "alias X as Y". Of the thread's own launch, `saving` reads it."""

    def read(words: list[Token]) -> Edit | None:
        target, value = _around(words, _BETWEEN)
        found = Edit(kind, target, _value(value or []))
        if value is None and len(words) == 2 and "-" in words[0].text:
            # "tag qwen-mtp prod"
            found = Edit(kind, (words[0],), _value([words[1]]))
        return found if found.named and found.value else None

    return read


def _unlabels(kind: EditKind) -> Callable[[list[Token]], Edit | None]:
    """ "untag X from Y", "remove the tag X from Y"."""

    def read(words: list[Token]) -> Edit | None:
        value, target = _around(words, _OF)
        if target is None:
            return Edit(kind, (), _value(words))
        return Edit(kind, tuple(target), _value(value))

    return read


def _remove(words: list[Token]) -> Edit | None:
    """ "remove the tag X from Y"; anything else that is to be removed is no label."""
    place = next((at for at, token in enumerate(words[:3]) if token.text in _TAGS), None)
    if place is None or any(token.text not in POINTING for token in words[:place]):
        return None
    return _unlabels(_AWAY[_TAGS[words[place].text]])(words[place + 1 :])


def _add(words: list[Token]) -> Edit | None:
    """ "add the tag X to Y"."""
    place = next((at for at, token in enumerate(words[:3]) if token.text in _TAGS), None)
    if place is None or any(token.text not in POINTING for token in words[:place]):
        return None
    value, target = _around(words[place + 1 :], frozenset({"to", "for", "on"}))
    found = Edit(_TAGS[words[place].text], tuple(target or ()), _value(value))
    return found if target is not None and found.value else None


def _pin(words: list[Token]) -> Edit | None:
    """ "pin revision r12 of X", "pin X to r12". "pin this as baseline" is about a launch."""
    if {token.text for token in words} & {"baseline", "default", "reference"}:
        return None
    place = next((at for at, token in enumerate(words) if _is_revision(words, at)), None)
    if place is None:
        found = Edit(EditKind.PIN, tuple(words))
        return found if found.named else None
    rest = [token for at, token in enumerate(words) if at != place and token.text not in ("rev", *_OF, *_BETWEEN)]
    return Edit(EditKind.PIN, tuple(rest), words[place].text.lstrip("#"))


def _is_revision(words: list[Token], place: int) -> bool:
    before = words[place - 1].text if place else ""
    text = words[place].text
    if not _REVISION.fullmatch(text):
        return False
    return before in ("revision", "rev", "version", "to", "at") or re.fullmatch(r"r\d+", text) is not None


def _whole(kind: EditKind) -> Callable[[list[Token]], Edit | None]:
    def read(words: list[Token]) -> Edit | None:
        return Edit(kind, tuple(words))

    return read


def _restore(words: list[Token]) -> Edit | None:
    """ "restore X from the archive", "bring X back from the archive"."""
    texts = [token.text for token in words]
    if "archive" not in texts or "from" not in texts:
        return None
    kept = words[: texts.index("from")]
    return Edit(EditKind.RESTORE, tuple(token for token in kept if token.text != "back"))


_BY_VERB: dict[str, Callable[[list[Token]], Edit | None]] = {
    "rename": _rename,
    "tag": _labels(EditKind.TAG),
    "label": _labels(EditKind.TAG),
    "alias": _labels(EditKind.ALIAS),
    "nickname": _labels(EditKind.ALIAS),
    "untag": _unlabels(EditKind.UNTAG),
    "unalias": _unlabels(EditKind.UNALIAS),
    "remove": _remove,
    "delete": _remove,
    "drop": _remove,
    "add": _add,
    "pin": _pin,
    "unpin": _whole(EditKind.UNPIN),
    "archive": _whole(EditKind.ARCHIVE),
    "retire": _whole(EditKind.ARCHIVE),
    "unarchive": _whole(EditKind.RESTORE),
    "restore": _restore,
    "bring": _restore,
    "take": _restore,
}


def _around(words: Sequence[Token], marks: frozenset[str]) -> tuple[tuple[Token, ...], list[Token] | None]:
    """Words before and behind the last of the marks; None where there is none."""
    place = next((at for at in range(len(words) - 1, -1, -1) if words[at].text in marks), None)
    if place is None:
        return tuple(words), None
    return tuple(words[:place]), list(words[place + 1 :])


def _value(words: Sequence[Token]) -> str | None:
    """What is set, as typed."""
    kept = list(words)
    while kept and kept[0].text in ("the", "tag", "alias", "name", "called", "a", "an") and len(kept) > 1:
        kept.pop(0)
    return " ".join(token.raw for token in kept) or None
