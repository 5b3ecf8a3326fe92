"""What of a running server is asked about: "cuda graphs", "nccl", "attention backend"."""

import re

from bot.core.language.lexicon import TOPICS, WEAK_TOPICS

_PHRASES = sorted(((p, topic) for topic, phrases in TOPICS.items() for p in phrases), key=lambda x: -len(x[0]))
_ANY = re.compile(r"(?<![\w.-])(" + "|".join(re.escape(p) for p, _ in _PHRASES) + r")(?![\w-])")
_OF: dict[str, tuple[str, ...]] = {}
for _phrase, _topic in _PHRASES:
    _OF[_phrase] = (*_OF.get(_phrase, ()), _topic)


def topics(text: str) -> tuple[str, ...]:
    """Topics in the order they are named; a phrase may stand for two."""
    found = (topic for match in _ANY.finditer(text) for topic in _OF[match.group(1)])
    return tuple(dict.fromkeys(found))


def strong(found: tuple[str, ...]) -> bool:
    """Whether a topic is named that other requests do not name by the way."""
    return any(topic not in WEAK_TOPICS for topic in found)
