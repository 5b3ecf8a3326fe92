"""Models, configs, tags and engines in a sentence, found in the live catalog."""

import re
from dataclasses import dataclass, field

from bot.core.catalog.atoms import atoms, compact
from bot.core.language import lexicon as lex
from bot.core.language.tokens import Token
from bot.core.language.vocabulary import Vocabulary

ROLE = "name"
_LONGEST = 6
_NEGATIONS = lex.words("no without not minus except non nor w/o excluding sans never")
_BETWEEN = lex.words("the a any use using our with have want of enable run")
_SMALL = lex.words("little small smaller smallest tiny mini lil")
_LARGE = lex.words("big large larger largest bigger biggest huge")
_SPECULATION = lex.words("speculation speculative spec speculating")
_PLAIN = lex.words("plain vanilla")
_SIZE = re.compile(r"\d+(?:\.\d+)?b")
_TIME = lex.words(
    "week weeks month monday tuesday wednesday thursday friday saturday sunday time day days hour morning year"
)


@dataclass(slots=True)
class Hit:
    """One name, said with these tokens."""

    words: tuple[str, ...]
    start: int
    end: int
    negated: bool = False
    #: "off" stands behind it
    off: bool = False
    #: a letter was replaced to find it
    guessed: bool = False


@dataclass(slots=True)
class Names:
    """All names of one stretch of words."""

    hits: list[Hit] = field(default_factory=list)
    #: phrase as typed, place
    unknown: list[tuple[str, int]] = field(default_factory=list)
    engine: str | None = None
    engine_negated: bool = False
    size: str | None = None
    speculative: bool | None = None

    @property
    def positive(self) -> list[Hit]:
        """Names that the target must have."""
        return [h for h in self.hits if not h.negated]

    @property
    def anything(self) -> bool:
        """Whether a target is said at all."""
        return bool(self.hits or self.engine or self.unknown) or self.speculative is not None


def read(tokens: list[Token], vocabulary: Vocabulary) -> Names:
    """Find names among the tokens that have no role yet."""
    found = Names()
    at = 0
    while at < len(tokens):
        at += _one(tokens, at, vocabulary, found)
    _speculation(tokens, found, vocabulary)
    _size(tokens, found)
    return found


def _free(token: Token) -> bool:
    return not token.role and token.kind in ("word", "clock")


def _one(tokens: list[Token], at: int, vocabulary: Vocabulary, found: Names) -> int:
    if not _free(tokens[at]):
        return 1
    index = vocabulary.index
    run = 1
    while at + run < len(tokens) and run < _LONGEST and _free(tokens[at + run]):
        run += 1
    for length in range(run, 1, -1):
        piece = tokens[at : at + length]
        words = tuple(a for t in piece for a in atoms(t.text))
        if words in index.engines:
            return _engine(tokens, at, length, index.engines[words], found)
        if words in index.phrases and not _only_fillers(piece, words, vocabulary):
            return _hit(tokens, at, length, words, found, vocabulary)
    return _single(tokens, at, vocabulary, found)


def _only_fillers(piece: list[Token], words: tuple[str, ...], vocabulary: Vocabulary) -> bool:
    """ "no mtp" is read as a negation, and a tag made of small words only counts as a whole alias."""
    if words[0] in _NEGATIONS:
        return True
    return all(t.text in lex.FILLERS for t in piece) and words not in vocabulary.index.exact


def _single(tokens: list[Token], at: int, vocabulary: Vocabulary, found: Names) -> int:
    index, token = vocabulary.index, tokens[at]
    words = atoms(token.text)
    after_name = bool(found.hits and found.hits[-1].end == at)
    if not words:
        return 1
    if token.text in lex.FILLERS and not token.code:
        following = tokens[at + 1].text if at + 1 < len(tokens) else ""
        joins = after_name and index.lookup(words) & index.lookup(found.hits[-1].words)
        if not joins or following in _TIME or token.text in ("the", "a", "on", "with"):
            return 1
        return _hit(tokens, at, 1, words, found, vocabulary)
    if words in index.engines:
        return _engine(tokens, at, 1, index.engines[words], found)
    if all(w[0].isdigit() for w in words) and not _SIZE.fullmatch(token.text):
        return _number(tokens, at, words, after_name, vocabulary, found)
    if index.lookup(words):
        return _hit(tokens, at, 1, words, found, vocabulary)
    plain = compact(token.text)
    if plain in index.joined:
        return _hit(tokens, at, 1, index.joined[plain], found, vocabulary)
    if at + 1 < len(tokens) and _free(tokens[at + 1]):
        both = compact(token.text + tokens[at + 1].text)
        joined = index.joined.get(both) or ((both,) if both in index.words and both.isalpha() else None)
        if joined and len(both) > 4:
            return _hit(tokens, at, 2, joined, found, vocabulary)
    whole = vocabulary.completes(token.text) if token.text.isalpha() and len(token.text) >= 4 else None
    if whole and token.text not in vocabulary.known and not token.fixed:
        return _hit(tokens, at, 1, (whole,), found, vocabulary)
    return _unknown(tokens, at, words, after_name, vocabulary, found)


def _number(
    tokens: list[Token], at: int, words: tuple[str, ...], after_name: bool, vocabulary: Vocabulary, found: Names
) -> int:
    """A number belongs to a name only right behind it: "qwen 3.6"."""
    if not after_name or tokens[at].kind == "clock":
        return 1
    last = found.hits[-1]
    if vocabulary.index.lookup(words) & vocabulary.index.lookup(last.words):
        return _hit(tokens, at, 1, words, found, vocabulary)
    following = tokens[at + 1].text if at + 1 < len(tokens) else ""
    if following in lex.FILLERS - {"on", "with", "at", "please", "and", "now", "for", "from", "in"} or last.negated:
        return 1
    _add_unknown(tokens, last.start, at + 1, found)
    return 1


def _hit(
    tokens: list[Token], at: int, length: int, words: tuple[str, ...], found: Names, vocabulary: Vocabulary
) -> int:
    piece = tokens[at : at + length]
    negated = _negated(tokens, at, at + length)
    if found.hits and found.hits[-1].end == at and found.hits[-1].negated:
        negated = True
    guessed = any(t.fixed == "other" for t in piece)
    off = at + length < len(tokens) and tokens[at + length].text in ("off", "disabled")
    found.hits.append(Hit(words=words, start=at, end=at + length, negated=negated, off=off, guessed=guessed))
    for token in piece:
        token.role = ROLE
    del vocabulary
    return length


def _negated(tokens: list[Token], start: int, end: int) -> bool:
    at = start - 1
    while at >= 0 and tokens[at].text in _BETWEEN:
        at -= 1
    word = tokens[at].text if at >= 0 else ""
    two = f"{tokens[at - 1].text} {word}" if at > 0 else ""
    if word in _NEGATIONS or two in ("instead of", "rather than", "opposed to"):
        return True
    if at >= 1 and tokens[at].text == "instead" and tokens[at + 1].text == "of":
        return True
    if at >= 1 and tokens[at].text == "rather" and tokens[at + 1].text == "than":
        return True
    return word in ("disable", "disabling")


def _engine(tokens: list[Token], at: int, length: int, name: str, found: Names) -> int:
    found.engine = name
    found.engine_negated = _negated(tokens, at, at + length)
    for token in tokens[at : at + length]:
        token.role = ROLE
    return length


def _unknown(
    tokens: list[Token], at: int, words: tuple[str, ...], after_name: bool, vocabulary: Vocabulary, found: Names
) -> int:
    """Something like a name that no config has: "qwen2.5", "72b", "eagle3", "r1" behind a name."""
    text = tokens[at].text
    known = [w for w in words if w.isalpha() and len(w) > 2 and w in vocabulary.index.words]
    mixed = any(w[0].isdigit() for w in words) and any(c.isalpha() for c in text)
    if _SIZE.fullmatch(text) or (mixed and (known or after_name)):
        _add_unknown(tokens, found.hits[-1].start if after_name else at, at + 1, found)
    return 1


def _add_unknown(tokens: list[Token], start: int, end: int, found: Names) -> None:
    found.unknown.append((" ".join(t.raw for t in tokens[start:end]), start))
    for token in tokens[start:end]:
        token.role = ROLE


def _speculation(tokens: list[Token], found: Names, vocabulary: Vocabulary) -> None:
    """ "no speculative decoding", "with speculation", and "plain" where no config is called so."""
    for at, token in enumerate(tokens):
        if not _free(token):
            continue
        end = at + 1
        while end < len(tokens) and tokens[end].text in ("decoding", "decode", "sampling"):
            end += 1
        if token.text in _SPECULATION:
            if _negated(tokens, at, end):
                found.speculative = False
            elif (at and tokens[at - 1].text in ("with", "the", "use", "using", "enable", "and")) or end - at > 1:
                found.speculative = True
            else:
                continue
        elif (token.text in _PLAIN and not vocabulary.index.lookup((token.text,))) or token.text in (
            "non-speculative",
            "nonspeculative",
            "no-spec",
            "unspeculative",
        ):
            found.speculative = False
        else:
            continue
        for used in tokens[at:end]:
            used.role = ROLE


def _size(tokens: list[Token], found: Names) -> None:
    """ "the little qwen": a size word just before a name."""
    starts = {h.start for h in found.hits}
    for at, token in enumerate(tokens):
        if not token.role and token.text in _SMALL | _LARGE and (at + 1 in starts or _next_is_model(tokens, at)):
            found.size = "small" if token.text in _SMALL else "large"
            token.role = ROLE


def _next_is_model(tokens: list[Token], at: int) -> bool:
    return at + 1 < len(tokens) and tokens[at + 1].text in ("model", "one")
