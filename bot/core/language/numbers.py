"""Numbers as people type them."""

import re

from bot.core.language.lexicon import NUMBER_WORDS

_NUMBER = re.compile(r"(\d+(?:[.,]\d+)?)(k|m|ki|%)?(?:i?b|tok|tokens|ctx)?")
_GROUPED = re.compile(r"\d{1,3}(?:[,_]\d{3})+")


def number(text: str) -> float | None:
    """ "3", "0.85", "three", "65,536", "64k" (x 1024), "1m" (x 1024 x 1024), "90%" (0.9); None for no number."""
    if text in NUMBER_WORDS:
        return float(NUMBER_WORDS[text])
    if _GROUPED.fullmatch(text):
        return float(text.replace(",", "").replace("_", ""))
    if text.startswith("."):
        text = "0" + text
    match = _NUMBER.fullmatch(text)
    if not match:
        return None
    value, unit = float(match.group(1).replace(",", ".")), match.group(2)
    factor = {"k": 1024.0, "ki": 1024.0, "m": 1024.0 * 1024, "%": 0.01}.get(unit or "", 1.0)
    return round(value * factor, 6)


def whole(text: str) -> int | None:
    """A whole number, or None."""
    value = number(text)
    return int(value) if value is not None and value.is_integer() and not text.endswith("%") else None


def is_k(text: str) -> bool:
    """ "64k": a number of tokens by its unit."""
    return bool(re.fullmatch(r"\d+(?:\.\d+)?k", text))
