"""References to earlier launches and times, in words."""

import re

from bot.core.domain.command import Reference
from bot.core.language.tokens import Token

TOK_S = r"(?:tok/s|toks/s|tok/sec|t/s|tps|tokens?/s(?:ec)?|tokens (?:per|a) sec(?:ond)?|tok per sec(?:ond)?|tok)"
_REFERENCES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "speed",
        re.compile(
            rf"(?:that |which |the one )?(?:(?:did|does|had|gave|gives|made|reached|got|gets|hit|hits|ran at"
            rf"|runs at|doing|at|with|around|about|was|is|has) )*(?:around |about "
            rf"|~ ?)?(?P<n>\d+(?:\.\d+)?) ?{TOK_S}\b"
        ),
    ),
    (
        "launch",
        re.compile(
            r"(?:launch|run|launch number|launch no|number|no|start) #?(?P<n>\d{1,6})(?! (?:gpus?|tokens|steps"
            r"|draft|clients|times|users))\b|#(?P<m>\d{1,6})\b"
        ),
    ),
    (
        "before_upgrade",
        re.compile(
            r"(?:what |the one |the config |that )?(?:we |i )?(?:had |ran |used )?before (?:the |we |our "
            r"|last |this )*(?:upgrade|update|upgraded|updated|upgrading|driver update|version bump"
            r"|new version)(?:d)?\b"
        ),
    ),
    (
        "fastest",
        re.compile(
            r"(?:the )?(?:fastest|quickest|fast|faster|quick|best performing)(?= (?:\S+ ){0,2}(?:one|config|setup"
            r"|version|variant|recipe|configuration)\b)|(?:the )?fastest\b"
        ),
    ),
    (
        "slowest",
        re.compile(
            r"(?:the )?(?:slowest|slow|slower)(?= (?:\S+ ){0,2}(?:one|config|setup|version|variant)\b)"
            r"|(?:the )?slowest\b"
        ),
    ),
    ("baseline", re.compile(r"(?:the )?(?:pinned|baseline)(?: (?:one|config|version|revision|setup))?\b")),
    (
        "previous",
        re.compile(
            r"(?:the )?(?:previous|prior|earlier|old) (?:one|config|version|revision|setup|settings"
            r"|configuration|launch|recipe|flags)\b|(?:roll(?:ed)? ?back|revert|go back)\b"
            r"|(?:the )?one before\b"
        ),
    ),
    (
        "yesterday",
        re.compile(
            r"(?:same |like |as |what |that |the one |the config |config |exactly )*(?:we |i )?(?:(?:had|ran"
            r"|used|did|from|as|like|running|of) )*(?:yesterday|last night)(?:s)?(?: config| setup| launch"
            r"| run)?\b"
        ),
    ),
    (
        "last",
        re.compile(
            r"(?:exactly |just )?(?:the )?(?:same|identical)(?: (?:config|setup|settings|way|flags|one|thing"
            r"|command|configuration|options|recipe|params|args))?(?: (?:as|like|that|we|it|with|what"
            r"|you))*(?: (?:we|i|it|you|they))?(?: (?:had|ran|used|was|did|deployed|started|running|always"
            r"|usually))*(?: (?:last time|before|previously|earlier|last week|the last time|last|usual|always"
            r"|time|now|it was|on monday|on friday|this morning|the other day))*\b"
            r"|(?:like|as) (?:last time|before|always|usual|it was|we had|previously|earlier|the last time"
            r"|it was before|last week)(?: before)?\b|(?:the )?last (?:one|config|good one|working one"
            r"|good config|known good|working config|setup|launch config|known good config)\b"
            r"|(?:that |which |the one |what )(?:we|i|you|he|she|they) (?:had|ran|used|have|deployed|started"
            r"|always|usually|last)(?: (?:deployed|running|used|run|started|use|up|before|last time|last week"
            r"|ran|had|here|earlier))*\b|(?:the )?usual (?:one|config|setup|way|settings)?|(?:that"
            r"|which) (?:worked|works|was working|was running|ran|did work)(?: (?:before|last time|fine"
            r"|last week|well|yesterday))*\b"
        ),
    ),
)
_TIMES = re.compile(
    r"\b(?:yesterday(?: (?:evening|night))?"
    r"|last (?:night|week|month|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    r"|weekend|hour|\d+ (?:days?|weeks?|hours?|minutes?|mins?|h|d))|today|this (?:week|weekend|morning"
    r"|afternoon|evening|month)|(?:since )?\d{4}-\d{2}-\d{2}"
    r"|(?:the )?(?:past|last) \d+ (?:days?|weeks?|hours?|minutes?|mins?)|since (?:monday|tuesday"
    r"|wednesday|thursday|friday|yesterday|last \w+|this \w+)|\d+ (?:days?|weeks?|hours?|minutes?) ago"
    r"|on (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)|tonight|earlier)\b"
)
_LATER = re.compile(
    r"\b(?:tomorrow|tonight|later(?: today| on)?|next (?:week|month|monday|tuesday|wednesday|thursday"
    r"|friday|saturday|sunday|year|sprint|time|weekend|morning)|(?:on|this|by|next) (?:monday|tuesday"
    r"|wednesday|thursday|friday|saturday|sunday|weekend|evening|afternoon)s?"
    r"|(?:in|after) (?:a|an|about|half|\d+|one|two|three|four|five|ten|fifteen|twenty|thirty|sixty"
    r"|couple|few|another|the next)(?: (?:a|an|few|couple|of|half|more|next))* ?(?:hours?|minutes?"
    r"|mins?|min|h|m|days?|weeks?|secs?|seconds?|bit|while|moment|hrs?)"
    r"|at (?:noon|midnight|lunch(?:time)?|night|the end of|eod|\d{1,2} ?(?:o'?clock|[ap]m)"
    r"|\d{1,2}:\d{2} ?(?:[ap]m)?|\d{1,2}[ap]m|\d{1,2}(?=$| (?:please|tomorrow|today|sharp|tonight|,"
    r"|and|for|utc|cet)))|after (?:lunch|work|hours|dinner|the \w+|standup|my \w+|our \w+|\w+ (?:is"
    r"|finishes|ends|has))"
    r"|before (?:lunch|the weekend|the demo|you leave|we leave|midnight|noon|\d\S*)|eod"
    r"|end of (?:the )?(?:day|week)|over the weekend|overnight|this evening|someday|some ?time|soonish"
    r"|eventually|whenever|around \d{1,2}(?::\d{2})?(?: ?[ap]m)?|by \d{1,2}(?::\d{2})?(?: ?[ap]m)?"
    r"|every (?:\w+ ){0,2}(?:night|day|morning|monday|tuesday|wednesday|thursday|friday|saturday"
    r"|sunday|hour|week|evening|hours|minutes|weekday))\b"
)
_NOT_LATER = re.compile(r"\b(?:next (?:one)|not later|no later|now|right now)\b")


_LIMIT = re.compile(
    r"\b(?:just |only )?for (?:about |around |the next |another |at most )?(?:\d+|an?|one|two|three|four|five|six|eight"
    r"|ten|twelve|thirty|half an|a few|a couple of|some|few)(?: more)? ?"
    r"(?:h|hrs?|hours?|m|mins?|minutes?|days?|weeks?|nights?)\b"
)


def limit(text: str) -> str | None:
    """How long something is to run, as said: "for 2 hours"; None when nothing is said."""
    match = _LIMIT.search(text)
    return match.group() if match else None


def later(text: str) -> str | None:
    """A time to come that the words name, or None."""
    match = _LATER.search(text)
    return match.group() if match and not _NOT_LATER.fullmatch(match.group()) else None


def when(text: str) -> str | None:
    """A time gone by that the words name, in lower case as typed ("yesterday", "last night", "2 hours ago"), or None.
    `Command.when`; history and logs filter by it."""
    match = _TIMES.search(text)
    return match.group() if match else None


def reference(tokens: list[Token]) -> Reference | None:
    """The first reference to an earlier launch; its tokens get the role "reference"."""
    free = list(tokens)
    text, places = _joined(free)
    for kind, pattern in _REFERENCES:
        for match in pattern.finditer(text):
            if not match.group().strip():
                continue
            used = [
                t for t, (start, end) in zip(free, places, strict=True) if start < match.end() and end > match.start()
            ]
            if any(t.role or (t.kind == "mark" and t.text != "=") for t in used if t.kind != "mark") or not used:
                continue
            value = match.groupdict().get("n") or match.groupdict().get("m")
            for token in used:
                token.role = "reference"
            return Reference(kind=kind, value=float(value) if value else None, words=" ".join(t.raw for t in used))
    return None


def _joined(tokens: list[Token]) -> tuple[str, list[tuple[int, int]]]:
    text, places = "", []
    for token in tokens:
        word = token.text if not token.role else "\x00" * len(token.text)
        places.append((len(text), len(text) + len(word)))
        text += word + " "
    return text.rstrip(" "), places


def launches(text: str) -> tuple[int, ...]:
    """Launch numbers: "#12", "launch 12"."""
    return tuple(
        int(m.group(1)) for m in re.finditer(r"(?:launch(?:es)?|run|number|and|vs|with|to)? ?#(\d{1,6})\b", text)
    ) or tuple(int(m.group(1)) for m in re.finditer(r"\blaunch(?: number| no)? (\d{1,6})\b", text))
