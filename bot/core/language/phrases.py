"""Smaller things said in words: references to earlier launches, counts, times, channels, names to save under."""

import re
from dataclasses import dataclass, field

from bot.core.domain.command import Reference
from bot.core.language import lexicon as lex
from bot.core.language.numbers import number, whole
from bot.core.language.tokens import Token

_TOK_S = r"(?:tok/s|toks/s|tok/sec|t/s|tps|tokens?/s(?:ec)?|tokens (?:per|a) sec(?:ond)?|tok per sec(?:ond)?|tok)"
_REFERENCES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("speed", re.compile(rf"(?:that |which |the one )?(?:(?:did|does|had|gave|gives|made|reached|got|gets|hit|hits|ran at"
        rf"|runs at|doing|at|with|around|about|was|is|has) )*(?:around |about "
        rf"|~ ?)?(?P<n>\d+(?:\.\d+)?) ?{_TOK_S}\b")),
    ("launch", re.compile(r"(?:launch|run|launch number|launch no|number|no|start) #?(?P<n>\d{1,6})(?! (?:gpus?|tokens|steps"
        r"|draft|clients|times|users))\b|#(?P<m>\d{1,6})\b")),
    ("before_upgrade", re.compile(r"(?:what |the one |the config |that )?(?:we |i )?(?:had |ran |used )?before (?:the |we |our "
        r"|last |this )*(?:upgrade|update|upgraded|updated|upgrading|driver update|version bump"
        r"|new version)(?:d)?\b")),
    ("fastest", re.compile(r"(?:the )?(?:fastest|quickest|fast|faster|quick|best performing)(?= (?:one|config|setup|version"
        r"|variant|recipe|configuration)\b| qwen\b|$)|(?:the )?fastest\b")),
    ("slowest", re.compile(r"(?:the )?(?:slowest|slow|slower)(?= (?:one|config|setup|version|variant)\b)|(?:the )?slowest\b")),
    ("baseline", re.compile(r"(?:the )?(?:pinned|baseline)(?: (?:one|config|version|revision|setup))?\b")),
    ("previous", re.compile(r"(?:the )?(?:previous|prior|earlier|old) (?:one|config|version|revision|setup|settings"
        r"|configuration|launch|recipe|flags)\b|(?:roll(?:ed)? ?back|revert|go back)\b"
        r"|(?:the )?one before\b")),
    ("yesterday", re.compile(r"(?:same |like |as |what |that |the one |the config |config |exactly )*(?:we |i )?(?:(?:had|ran"
        r"|used|did|from|as|like|running|of) )*(?:yesterday|last night)(?:s)?(?: config| setup| launch"
        r"| run)?\b")),
    ("last", re.compile(
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
    )),
)  # fmt: skip
_TIMES = re.compile(
    r"\b(?:yesterday|last (?:night|week|month|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    r"|weekend|hour|\d+ (?:days?|weeks?|hours?|minutes?|mins?|h|d))|today|this (?:week|morning"
    r"|afternoon|month)"
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


def later(text: str) -> str | None:
    """A time to come that the words name, or None."""
    match = _LATER.search(text)
    return match.group() if match and not _NOT_LATER.fullmatch(match.group()) else None


def when(text: str) -> str | None:
    """A time gone by that the words name, or None."""
    match = _TIMES.search(text)
    return match.group() if match else None


def reference(tokens: list[Token]) -> Reference | None:
    """The first reference to an earlier launch; its tokens get the role "reference"."""
    free = [t for t in tokens]
    text, places = _joined(free)
    for kind, pattern in _REFERENCES:
        for match in pattern.finditer(text):
            if not match.group().strip():
                continue
            used = [
                t for t, (start, end) in zip(free, places, strict=True) if start < match.end() and end > match.start()
            ]
            if any(t.role or t.kind == "mark" and t.text != "=" for t in used if t.kind != "mark") or not used:
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


@dataclass(slots=True)
class Counts:
    """Numbers of a log or load request."""

    lines: int | None = None
    concurrency: list[int] = field(default_factory=list)
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    launches: int | None = None


_TIME_UNITS = frozenset(
    [
        "minutes",
        "minute",
        "mins",
        "min",
        "hours",
        "hour",
        "h",
        "m",
        "days",
        "day",
        "weeks",
        "week",
        "seconds",
        "sec",
        "secs",
        "gpus",
        "months",
    ]
)
_STREAMS = frozenset(
    [
        "clients",
        "client",
        "streams",
        "stream",
        "users",
        "user",
        "concurrent",
        "concurrency",
        "parallel",
        "connections",
        "threads",
        "sessions",
        "requests",
        "workers",
        "simultaneous",
        "callers",
    ]
)


def lines(tokens: list[Token], counts: Counts, *, logs: bool) -> None:
    """ "last 50 lines", "tail -n 20", "tail -50", "100 lines". `logs`: a lone number at the end counts lines, too."""
    for at, token in enumerate(tokens):
        if token.kind == "flag" and re.fullmatch(r"-(?:n|f)|--(?:tail|lines|follow)(?:=\d+)?|-n?\d+", token.text):
            _line_flag(tokens, at, counts)
        elif not token.role and (value := whole(token.text)) and value > 1 and _counts_lines(tokens, at, logs):
            counts.lines = value
            token.role = "count"


def _line_flag(tokens: list[Token], at: int, counts: Counts) -> None:
    tokens[at].role = "count"
    if inline := re.search(r"\d+", tokens[at].text):
        counts.lines = int(inline.group())
    elif at + 1 < len(tokens) and (value := whole(tokens[at + 1].text)):
        counts.lines = value
        tokens[at + 1].role = "count"


def _counts_lines(tokens: list[Token], at: int, logs: bool) -> bool:
    near = {t.text for t in tokens[at + 1 : at + 4]}
    before = {t.text for t in tokens[max(0, at - 2) : at]}
    unit = tokens[at + 1].text if at + 1 < len(tokens) else ""
    if near & {"lines", "line", "rows", "entries"}:
        return True
    if before & {"last", "tail", "final"}:
        return unit not in _TIME_UNITS and not near & {"launches", "runs", "tok/s"}
    return (
        logs
        and bool(at)
        and unit in ("", "please", "thanks")
        and tokens[at].text.isdigit()
        and tokens[at - 1].text not in ("on", "port")
    )


def load(tokens: list[Token], counts: Counts) -> None:
    """ "with 4 clients", "concurrency 1, 4 and 16", "single stream", "2k prompts"."""
    at = 0
    while at < len(tokens):
        token = tokens[at]
        following = [t.text for t in tokens[at + 1 : at + 4]]
        if (
            token.text in ("single", "one")
            and following[:1]
            and following[0].rstrip("s") in ("stream", "client", "user", "request", "session")
        ):
            counts.concurrency.append(1)
        elif token.text in ("single-stream", "single-user", "sequential", "sequentially"):
            counts.concurrency.append(1)
        elif re.fullmatch(r"c=?\d+", token.text):
            counts.concurrency.append(int(token.text.lstrip("c=")))
        elif token.text in ("concurrency", "concurrent", "parallelism", "conc", "c", "bs", "batch"):
            at = _numbers_after(tokens, at, counts.concurrency)
            continue
        elif (
            (value := whole(token.text))
            and not token.role
            and (token.text[0].isdigit() or token.text in lex.NUMBER_WORDS)
        ):
            _counted(tokens, at, value, following, counts)
        at += 1


def _counted(tokens: list[Token], at: int, value: int, following: list[str], counts: Counts) -> None:
    group = [value]
    place = at + 1
    while place < len(tokens) and (tokens[place].text in (",", "and", "or", "/", "&") or whole(tokens[place].text)):
        if (more := whole(tokens[place].text)) and tokens[place].text != "one":
            group.append(more)
        place += 1
    after = [t.text for t in tokens[place : place + 3]]
    if after[:1] and after[0] in ("k", "prompt", "input") or (after[:1] and after[0] == "token" and "prompts" in after):
        counts.prompt_tokens = value
    elif after[:2] and after[0] in ("tokens", "token", "tok") and set(after[1:]) & {"prompt", "prompts", "input", "in"}:
        counts.prompt_tokens = value
    elif after[:1] and after[0] in ("tokens", "output") and set(after) & {"output", "out", "generation"}:
        counts.output_tokens = value
    elif set(after[:2]) & _STREAMS and not any(t.role for t in tokens[at:place]):
        counts.concurrency += group
        for token in tokens[at:place]:
            token.role = "count"
    elif after[:1] and after[0] in ("prompts", "prompt", "inputs"):
        counts.prompt_tokens = value
    del following


def _numbers_after(tokens: list[Token], at: int, into: list[int]) -> int:
    place = at + 1
    while place < len(tokens) and tokens[place].text in (
        "=",
        "of",
        "level",
        "levels",
        "at",
        "to",
        ":",
        "is",
        "clients",
        "requests",
        "size",
        "load",
    ):
        place += 1
    found = False
    while place < len(tokens):
        value = whole(tokens[place].text)
        if value and tokens[place].text[0].isdigit() and not tokens[place].role:
            into.append(value)
            tokens[place].role = "count"
            found = True
        elif not (tokens[place].text in (",", "and", "/", "&", "then", "or") and found):
            break
        place += 1
    return max(place, at + 1)


def launches(text: str) -> tuple[int, ...]:
    """Launch numbers: "#12", "launch 12"."""
    return tuple(
        int(m.group(1)) for m in re.finditer(r"(?:launch(?:es)?|run|number|and|vs|with|to)? ?#(\d{1,6})\b", text)
    ) or tuple(int(m.group(1)) for m in re.finditer(r"\blaunch(?: number| no)? (\d{1,6})\b", text))


_SAVE = re.compile(
    r"\b(?:(?P<kind>tag|alias|nickname|label|pin|bookmark|mark)|save|call|name|remember|store|keep"
    r"|rename|record|note)\b(?P<middle>(?: (?!as\b|to\b)\S+){0,6}?)"
    r"(?: (?:as|to|under|with|=|is)(?: (?:the )?(?:name|tag|alias|label|called|named))?)? (?P<name>.+)$"
)
_OBJECT = frozenset(
    [
        "this",
        "that",
        "it",
        "one",
        "config",
        "setup",
        "launch",
        "run",
        "the",
        "current",
        "these",
        "settings",
        "configuration",
        "here",
        "now",
        "version",
        "revision",
        "thing",
        "them",
        "please,",
        "server",
        "combo",
        "combination",
        "recipe",
        "command",
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Save:
    """A name to save under. `how`: "name", "tag", "alias" or "baseline"."""

    name: str | None
    how: str


def save(words: list[str], raw: list[str]) -> Save | None:
    """ "save this as X", "call it X", "tag this X", "pin this as baseline"; None when it asks for nothing of the kind."""
    verb = next((i for i, w in enumerate(words) if w in lex.SAVE_VERBS or w in ("make", "set")), None)
    if verb is None:
        return None
    rest = words[verb + 1 :]
    baseline = bool({"baseline", "default", "reference"} & set(rest))
    if words[verb] in ("make", "set") and not (baseline and rest and rest[0] in ("this", "that", "it", "the")):
        return None
    how = {"tag": "tag", "label": "tag", "alias": "alias", "nickname": "alias"}.get(words[verb], "name")
    if baseline and (words[verb] in ("pin", "mark", "make", "set", "keep", "use", "save", "tag")):
        return Save(name=next(w for w in rest if w in ("baseline", "default", "reference")), how="baseline")
    if words[verb] == "pin" and set(rest) <= _OBJECT | lex.POLITE:
        return Save(name="baseline", how="baseline")
    place = verb + 1
    while place < len(words) and words[place] in _OBJECT:
        place += 1
    object_said = place > verb + 1
    marker = next((i for i in range(verb + 1, len(words)) if words[i] in ("as", "under", "to", "=")), None)
    if marker is not None and marker >= place - 1:
        start = marker + 1
    elif object_said and words[verb] in ("call", "name", "tag", "label", "alias", "nickname", "rename", "mark"):
        start = place if words[place - 1 : place] != ["the"] else place - 1
    elif (
        object_said and words[verb] in ("save", "store", "remember", "bookmark", "keep", "pin") and place >= len(words)
    ):
        return Save(name=None, how=how) if words[verb] in ("save", "store", "bookmark", "pin") else None
    else:
        return None
    if words[start : start + 2] in (["the", "name"], ["the", "tag"], ["the", "alias"]):
        start += 2
    elif words[start : start + 1] in (["tag"], ["alias"], ["name"], ["called"], ["named"]) and len(words) > start + 1:
        how = words[start] if words[start] in ("tag", "alias") else how
        start += 1
    name = " ".join(raw[start:]).strip()
    name = re.sub(
        r"(?:\s+(?:please|pls|plz|thanks|thx|ok|for (?:me|us|later)|from now on|now))+$", "", name, flags=re.IGNORECASE
    )
    return Save(name=name or None, how=how)


def fraction(text: str) -> float | None:
    """A number of any form."""
    return number(text)
