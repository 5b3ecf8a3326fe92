"""Typing errors. Letters are corrected, digits never: another number is another name."""

import re

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
