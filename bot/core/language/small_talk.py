"""Greetings and thanks: they ask for nothing, and want a short answer."""

import re
from enum import StrEnum


class SmallTalk(StrEnum):
    """What was said."""

    HELLO = "hello"
    THANKS = "thanks"


_TO_WHOM = r"(?:\s+(?:there|all|everyone|relaunch|bot|you|so much|very much|a lot|again|team|a million))*"
_HELLO = re.compile(
    rf"(?:hi+|hello|hey+|hiya|yo|good (?:morning|evening|afternoon|day)|morning|greetings|howdy){_TO_WHOM}",
    re.IGNORECASE,
)
_THANKS = re.compile(
    rf"(?:(?:many |ok(?:ay)? |great |perfect |cool |nice |super )*(?:thanks|thank you|thx|ty|cheers|much appreciated)"
    rf"{_TO_WHOM}|(?:great|good|nice) (?:job|work)|well done|perfect|great|awesome|cool|nice)",
    re.IGNORECASE,
)
_AROUND = re.compile(r"^[\W_]+|[\W_]+$")


def small_talk(text: str) -> SmallTalk | None:
    """The greeting or thanks that a sentence consists of; None where it says anything else."""
    words = " ".join(re.sub(r"[,.!:]+", " ", _AROUND.sub("", text)).split())
    if _HELLO.fullmatch(words):
        return SmallTalk.HELLO
    return SmallTalk.THANKS if _THANKS.fullmatch(words) else None
