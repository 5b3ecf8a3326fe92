"""When a report is to be posted: a rhythm or a clock time, from words."""

import re
from dataclasses import dataclass

from bot.core.language import lexicon as lex
from bot.core.language.numbers import number
from bot.core.language.tokens import Token

ROLE = "time"
_UNITS = {
    "s": "S", "sec": "S", "secs": "S", "second": "S", "seconds": "S",
    "m": "M", "min": "M", "mins": "M", "minute": "M", "minutes": "M",
    "h": "H", "hr": "H", "hrs": "H", "hour": "H", "hours": "H",
}  # fmt: skip
_GLUED = re.compile(r"(\d+(?:\.\d+)?)(s|sec|secs|m|min|mins|h|hr|hrs)")
_CLOCK = re.compile(r"(\d{1,2})(?:[:h](\d{2}))?\s?(?:([ap])\.?m\.?)?")
_DAY = "|".join(sorted((d for d in lex.DAYS if len(d) > 2), key=len, reverse=True))
_DAY_RANGE = re.compile(rf"\b({_DAY})(?:-| to | through | till | until )({_DAY})\b")
_NAMED_TIMES = {"noon": (12, 0), "midday": (12, 0), "midnight": (0, 0)}
_PARTS = {"morning": 8, "mornings": 8, "evening": 18, "evenings": 18, "night": 22, "afternoon": 14}
_PER = {
    "day": "*",
    "days": "*",
    "weekday": "1-5",
    "weekdays": "1-5",
    "workday": "1-5",
    "workdays": "1-5",
    "weekend": "0,6",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """ISO 8601 duration or five cron fields."""

    every: str | None = None
    cron: str | None = None


def read(tokens: list[Token]) -> Rhythm | None:
    """The rhythm that the words say; their tokens get the role "time"."""
    clock = _clock(tokens)
    every = _every(tokens)
    days = _days(tokens)
    if every is not None and clock is None:
        return Rhythm(every=every)
    if days is None and clock is None:
        return None
    if days is None and not any(t.text in ("daily", "every", "each", "nightly") for t in tokens):
        return None
    hour, minute = clock if clock else (_part(tokens) or 9, 0)
    return Rhythm(cron=f"{minute} {hour} * * {days or '*'}")


def _every(tokens: list[Token]) -> str | None:
    for at, token in enumerate(tokens):
        if token.text == "hourly":
            token.role = ROLE
            return "PT1H"
        if token.text not in ("every", "each", "per"):
            continue
        rest = list(tokens[at + 1 : at + 5])
        value, used = 1.0, 0
        if rest and rest[0].text == "other":
            value, used = 2.0, 1
        elif (len(rest) > 1 and rest[0].text == "half") or (
            len(rest) > 2 and [r.text for r in rest[:2]] == ["a", "half"]
        ):
            used = 1
            place = next((i for i, r in enumerate(rest) if r.text in _UNITS), None)
            if place is not None and _UNITS[rest[place].text] == "H":
                _take(tokens[at : at + place + 2])
                return "PT30M"
        elif rest and (match := _GLUED.fullmatch(rest[0].text)):
            _take(tokens[at : at + 2])
            return f"PT{match.group(1)}{_UNITS[match.group(2)]}"
        elif rest and (said := number(rest[0].text)) is not None:
            value, used = said, 1
        if used < len(rest) and rest[used].text == "quarter":
            _take(tokens[at : at + used + 3])
            return "PT15M"
        if used < len(rest) and rest[used].text in _UNITS:
            unit = _UNITS[rest[used].text]
            _take(tokens[at : at + used + 2])
            if not value.is_integer() and unit == "H":
                return f"PT{int(value * 60)}M"
            return f"PT{value:g}{unit}"
    return None


def _clock(tokens: list[Token]) -> tuple[int, int] | None:
    for at, token in enumerate(tokens):
        before = tokens[at - 1].text if at else ""
        if token.text in _NAMED_TIMES:
            token.role = ROLE
            return _NAMED_TIMES[token.text]
        likely = token.kind == "clock" or before in ("at", "@", "around", "by")
        match = _CLOCK.fullmatch(token.text) if likely and not token.role else None
        if not match:
            continue
        hour, minute = int(match.group(1)), int(match.group(2) or 0)
        half = match.group(3) or ({"am": "a", "pm": "p"}.get(tokens[at + 1].text) if at + 1 < len(tokens) else None)
        if half == "p" and hour < 12:
            hour += 12
        elif half == "a" and hour == 12:
            hour = 0
        elif (
            half is None
            and hour < 12
            and token.kind != "clock"
            and {"evening", "night", "afternoon"} & {t.text for t in tokens}
        ):
            hour += 12
        if hour < 24 and minute < 60:
            token.role = ROLE
            return hour, minute
    return None


def _days(tokens: list[Token]) -> str | None:
    words = [t.text for t in tokens]
    if (between := days_of_range(words)) is not None:
        _take([t for t in tokens if t.text in lex.DAYS or _DAY_RANGE.fullmatch(t.text)])
        return between
    recurring = bool({"every", "each", "daily", "nightly", "weekly", "on"} & set(words))
    named = [lex.DAYS[w] for w in words if w in lex.DAYS and len(w) > 2]
    plural = any(w in lex.DAYS and w.endswith("days") for w in words)
    if named and (recurring or plural):
        _take([t for t in tokens if t.text in lex.DAYS])
        return ",".join(str(d) for d in sorted(set(named)))
    for token in tokens:
        if (
            token.text in ("weekdays", "workdays")
            or (token.text in _PER and "every" in words)
            or (token.text in _PER and "each" in words)
        ):
            token.role = ROLE
            return _PER[token.text]
        if token.text in ("daily", "nightly"):
            token.role = ROLE
            return "*"
        if token.text == "weekly":
            token.role = ROLE
            return "1"
    if recurring and any(w in _PARTS for w in words):
        return "*"
    return None


def days_of_range(words: list[str]) -> str | None:
    """The cron days of "monday to friday", "mon-fri"; None where two days stand otherwise."""
    found = _DAY_RANGE.search(" ".join(words))
    if found is None:
        return None
    first, last = lex.DAYS[found.group(1)], lex.DAYS[found.group(2)]
    return f"{first}-{last}" if first <= last else ",".join(str(d) for d in range(7) if d >= first or d <= last)


def _part(tokens: list[Token]) -> int | None:
    return next(
        (_PARTS[t.text] for t in tokens if t.text in _PARTS), 22 if any(t.text == "nightly" for t in tokens) else None
    )


def _take(tokens: list[Token]) -> None:
    for token in tokens:
        token.role = ROLE
