"""Typing errors. Letters are corrected, digits never: another number is another name."""

import re

from rapidfuzz.distance import OSA

from bot.core.catalog.atoms import atoms
from bot.core.language import lexicon as lex
from bot.core.language.speech import ACTION_VERBS, ALL_VERBS
from bot.core.language.tokens import Token
from bot.core.language.vocabulary import Vocabulary

#: corrections tried per message
_MOST = 12
_LETTERS = re.compile(r"[a-z]{3,}")


def correct(tokens: list[Token], vocabulary: Vocabulary) -> None:
    """Correct unknown words in place; `fixed` says how."""
    tried = 0
    for token in tokens:
        if tried >= _MOST:
            return
        if token.kind != "word" or "/" in token.text or token.text.startswith("#"):
            continue
        if token.text.isalpha():
            if len(token.text) < 3 or token.text in vocabulary.known or not token.text.isascii():
                continue
            tried += 1
            if found := vocabulary.spelling.nearest(token.text):
                token.text, token.fixed = found
        elif any(c.isalpha() for c in token.text) and "'" not in token.text:
            tried += _compound(token, vocabulary)


def _compound(token: Token, vocabulary: Vocabulary) -> int:
    """Correct the words inside "gtp-oss-120b"."""
    tried = 0
    for piece in _LETTERS.findall(token.text):
        if piece in vocabulary.known or piece in vocabulary.index.words:
            continue
        tried += 1
        found = vocabulary.spelling.nearest(piece)
        if found and (found[0] in vocabulary.index.words or found[0] in vocabulary.hosts.by_word):
            token.text = token.text.replace(piece, found[0], 1)
            token.fixed = found[1]
    return tried


def correct_verbs(tokens: list[Token], vocabulary: Vocabulary) -> None:
    """An ordinary word in the place of the verb, one letter off a verb and right before a known name: "star glm".

    A verb that stops something is only guessed ("other"), so that it is asked about."""
    at = 0
    while at < len(tokens) and (tokens[at].text in lex.OPENERS or tokens[at].kind == "mark"):
        at += 1
    if at + 1 >= len(tokens) or tokens[at].kind != "word" or tokens[at].span is not None:
        return
    token, following = tokens[at], tokens[at + 1].text
    if token.text in ALL_VERBS or token.text in lex.FILLERS or len(token.text) < 3 or not token.text.isalpha():
        return
    if (
        not vocabulary.index.lookup(atoms(following))
        or following in lex.FILLERS
        or vocabulary.index.lookup((token.text,))
    ):
        return
    near = [v for v in ACTION_VERBS if abs(len(v) - len(token.text)) <= 1 and OSA.distance(token.text, v) == 1]
    if near:
        best = min(near, key=lambda v: (v not in ("start", "stop", "restart", "launch"), v))
        token.text, token.fixed = best, "other" if best in lex.STOP_VERBS or len(best) == len(token.text) else "swap"
