"""Hosts in a sentence. Another number is another host: digits are never corrected."""

from dataclasses import dataclass, field

from bot.core.catalog.atoms import atoms, compact
from bot.core.language import lexicon as lex
from bot.core.language.tokens import Token
from bot.core.language.vocabulary import KNOWN_WORDS, HostIndex, Vocabulary, shape, squeezed

ROLE = "host"
_PLACES = lex.words("on at from of in off onto to over for host machine box node via @")
_STRONG_PLACES = lex.words("on from onto host machine box node @")
#: words after "on" that are no host
_NOT_HOSTS = lex.words(
    "port gpu gpus top purpose fire it that this them there call monday tuesday wednesday thursday friday my"
)
_UNITS = lex.words(
    "gpu gpus tokens steps step requests clients users minutes hours min h k am pm percent % lines cards streams"
)


@dataclass(slots=True)
class Hosts:
    """What was found, in order. `several`: one word that fits several hosts."""

    named: list[str] = field(default_factory=list)
    several: list[frozenset[str]] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)
    #: host -> how it was found
    how: dict[str, str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)


def read(tokens: list[Token], vocabulary: Vocabulary, found: Hosts) -> None:
    """Find hosts among the tokens that have no role yet."""
    at = 0
    while at < len(tokens):
        at += _one(tokens, at, vocabulary, found)


def _one(tokens: list[Token], at: int, vocabulary: Vocabulary, found: Hosts) -> int:
    token = tokens[at]
    if token.role or token.kind not in ("word", "literal"):
        return 1
    index = vocabulary.hosts
    for length in (4, 3, 2, 1):
        piece = tokens[at : at + length]
        if len(piece) == length and all(not t.role and t.kind == "word" for t in piece):
            name = index.by_compact.get(compact("".join(t.text for t in piece)))
            if name and not (length > 1 and all(t.text in lex.FILLERS for t in piece)):
                return _found(tokens, at, length, frozenset({name}), "named", found)
    before = tokens[at - 1].text if at else ""
    if before in ("the", "a", "our", "my", "that", "this"):
        before = tokens[at - 2].text if at > 1 else before
    following = tokens[at + 1].text if at + 1 < len(tokens) else ""
    is_box = following in lex.BOX_NOUNS and not (tokens[at + 1].role if at + 1 < len(tokens) else "")
    described = _described(token, before, is_box, vocabulary)
    if described:
        used = 2 if is_box else 1
        return _found(tokens, at, used, described[0], described[1], found)
    if fixed := _typo(token, index):
        return _found(tokens, at, 1, frozenset({fixed}), "typo", found)
    return _unknown(tokens, at, before, following, vocabulary, found)


def _found(tokens: list[Token], at: int, length: int, names: frozenset[str], how: str, found: Hosts) -> int:
    words = " ".join(t.raw for t in tokens[at : at + length])
    for token in tokens[at : at + length]:
        token.role = ROLE
    before = [t.text for t in tokens[max(0, at - 3) : at]]
    if "not" in before[-2:] or before[-2:] in (["instead", "of"], ["rather", "than"]) or "except" in before:
        found.excluded += sorted(names)
    elif len(names) > 1:
        if not (set(found.named) & names):
            found.several.append(names)
    else:
        name = min(names)
        if name not in found.named:
            found.named.append(name)
        found.how.setdefault(name, how)
        found.words.setdefault(name, words)
    return length


def _described(token: Token, before: str, is_box: bool, vocabulary: Vocabulary) -> tuple[frozenset[str], str] | None:
    """ "the 4090 box", "training box", "h200", "on blackwell"."""
    index, text = vocabulary.hosts, token.text
    placed = before in _PLACES
    parts = atoms(text)
    in_catalog = bool(vocabulary.index.lookup(parts)) if parts else False
    begins_one = parts in index.by_prefix and text not in lex.FILLERS and len(compact(text)) >= 3
    if begins_one and (is_box or placed or (not in_catalog and any(c.isdigit() for c in text))):
        return index.by_prefix[parts], "part of its name"
    own_word = text.isalpha() and text not in KNOWN_WORDS and not in_catalog
    if text in index.by_word and (is_box or (placed and not in_catalog) or own_word):
        return index.by_word[text], "part of its name"
    if is_box and text in index.by_tag:
        return index.by_tag[text], "tag"
    plain = compact(text)
    if plain in index.by_gpu and (is_box or placed) and not (in_catalog and not is_box):
        return index.by_gpu[plain], "its GPUs"
    if is_box and (near := _tag_like(text, index)):
        return index.by_tag[near], "tag"
    number = text.lstrip("0")
    if text.isdigit() and before in _STRONG_PLACES and len(text) >= 2 and not is_box and number in index.by_number:
        return index.by_number[number], "its number"
    return None


def _tag_like(text: str, index: HostIndex) -> str | None:
    """ "train box" for the tag "training", "production" for "prod"."""
    fits = [t for t in index.by_tag if len(text) >= 4 and len(t) >= 4 and (t.startswith(text) or text.startswith(t))]
    return fits[0] if len(fits) == 1 else None


def _typo(token: Token, index: HostIndex) -> str | None:
    """Letters swapped, doubled or left out, digits equal: "tc129", "ctt129"."""
    parts = atoms(token.text)
    digits = [p for p in parts if p[0].isdigit()]
    letters = "".join(p for p in parts if p.isalpha())
    if not digits or len(letters) < 2 or not index.by_number.get(digits[-1].lstrip("0") or "0"):
        return None
    fits = []
    for name in index.by_number[digits[-1].lstrip("0") or "0"]:
        own = atoms(name)
        own_letters = "".join(p for p in own if p.isalpha())
        same_digits = [p for p in own if p[0].isdigit()] == digits
        if same_digits and (sorted(letters) == sorted(own_letters) or squeezed(letters) == squeezed(own_letters)):
            fits.append(name)
    return fits[0] if len(fits) == 1 else None


def _unknown(tokens: list[Token], at: int, before: str, following: str, vocabulary: Vocabulary, found: Hosts) -> int:
    """A word that stands where a host stands, or has a known host's shape, and is none."""
    token = tokens[at]
    text = token.text
    parts = atoms(text)
    if (
        not parts
        or text in lex.FILLERS
        or text in _NOT_HOSTS
        or (text in lex.COMMON and following not in lex.BOX_NOUNS)
    ):
        return 1
    digits = any(c.isdigit() for c in text)
    known = bool(vocabulary.index.lookup(parts))
    same_shape = digits and shape(text) in vocabulary.hosts.shapes and not known and any(c.isalpha() for c in text)
    number = text.isdigit() and before in ("on", "from") and len(text) >= 3 and following not in _UNITS
    named_like_one = (
        before in ("on", "from", "onto")
        and any(c.isalpha() for c in text)
        and not known
        and text not in lex.DAYS
        and not any(c in text for c in "/:%=")
        and text not in lex.PAST_FORMS | lex.GERUNDS
        and (digits or "-" in text or text not in vocabulary.known)
        and following not in ("backend", "attention", "mode", "context", "ctx", "steps")
    )
    if same_shape or number or named_like_one:
        token.role = ROLE
        found.unknown.append(token.raw)
    return 1
