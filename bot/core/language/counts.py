"""Numbers of log and load requests: lines, clients, tokens."""

import re
from dataclasses import dataclass, field

from bot.core.language import lexicon as lex
from bot.core.language.numbers import whole
from bot.core.language.tokens import Token


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
        ) or token.text in ("single-stream", "single-user", "sequential", "sequentially"):
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
    if (
        (after[:1] and after[0] in ("k", "prompt", "input"))
        or (after[:1] and after[0] == "token" and "prompts" in after)
        or (
            after[:2]
            and after[0] in ("tokens", "token", "tok")
            and set(after[1:]) & {"prompt", "prompts", "input", "in"}
        )
    ):
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
