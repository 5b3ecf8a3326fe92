"""A speed told beside a higher one from before: "we're at 40 tok/s, were around 70". Who says so wants to know why."""

import re

from bot.core.language.phrases import TOK_S

_SPEED = re.compile(rf"\b(\d{{1,5}}(?:\.\d+)?)\s*({TOK_S})?(?![\w.%-])")
_UNIT = re.compile(rf"\d\s*{TOK_S}\b")
#: each begins a part of the sentence that is about one time
_PARTS = re.compile(
    r"[,;:()]|\b(?=(?:but|while|instead|down|from|(?<!used )to|now|was|were|used|had|today|currently|vs|versus)\b)"
)
_BEFORE = re.compile(
    r"\b(?:was|were|had|used|before|did|earlier|previously|yesterday|usually|normally|instead|from|once|last|vs|versus)\b"
)
#: "slower than the 70 tok/s we had"
_SLOWER = re.compile(rf"\b(?:slower|less) than\b[^.!?]*\d\s*{TOK_S}\b")


def told(text: str) -> bool:
    """Whether the present speed is said to be lower than an earlier one; one of the two has its unit."""
    if not _UNIT.search(text):
        return False
    if _SLOWER.search(text):
        return True
    now: list[float] = []
    before: list[float] = []
    for part in _PARTS.split(text):
        speeds = [float(match[1]) for match in _SPEED.finditer(part)]
        (before if _BEFORE.search(part) else now).extend(speeds)
    return len(now) == 1 and len(before) == 1 and now[0] < before[0]
