"""Times gone by in words, as windows in somebody's time zone; and what a question about the past asks for."""

import re
from dataclasses import dataclass
from datetime import datetime, time, timedelta, tzinfo

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_MIDNIGHT = time()
#: parts of a day: first and last hour; a night goes on to the next morning
_PARTS = {"morning": (0, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 32)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """From `start` on, and before `end`. None: open."""

    start: datetime | None
    end: datetime | None

    def has(self, moment: datetime | None) -> bool:
        """Whether a moment lies within."""
        if moment is None:
            return False
        return (self.start is None or moment >= self.start) and (self.end is None or moment < self.end)


def window(words: str, now: datetime, zone: tzinfo) -> Window | None:
    """ "yesterday", "last night", "since monday", "last 3 days", "2 hours ago", "2026-11-30", "2026-11-30 14:00": the
    time they mean; None for anything else. `now` is aware."""
    text = " ".join(words.lower().split())
    local = now.astimezone(zone)
    if since := re.fullmatch(r"since (.+)", text):
        began = window(since[1], now, zone)
        return Window(start=began.start, end=None) if began is not None else None
    return _named(text, local) or _counted(text, local) or _dated(text, local)


def _named(text: str, now: datetime) -> Window | None:
    text = re.sub(r"^(?:on|the) ", "", text)
    today = _day(now, 0)
    if text in ("today", "yesterday"):
        return _days(now, 0 if text == "today" else -1, 1)
    if text in ("last night", "yesterday night", "yesterday evening"):
        # before dawn the night that is meant began yesterday evening as well
        return _part(now, -1, "night" if "night" in text else "evening")
    if text == "tonight":
        return _part(now, 0, "night")
    if match := re.fullmatch(r"this (morning|afternoon|evening)", text):
        return _part(now, 0, match[1])
    if match := re.fullmatch(r"(this|last) (week|weekend|month)", text):
        return _span(now, match[1], match[2])
    if match := re.fullmatch(rf"(last |this )?({'|'.join(_DAYS)})", text):
        back = (today.weekday() - _DAYS.index(match[2])) % 7
        return _days(now, -(back or (7 if match[1] == "last " else 0)), 1)
    return None


def _span(now: datetime, which: str, unit: str) -> Window:
    last = which == "last"
    monday = -now.weekday()
    if unit == "week":
        return _days(now, monday - (7 if last else 0), 7)
    if unit == "weekend":
        return _days(now, monday + 5 - (7 if last or now.weekday() < 5 else 0), 2)
    first = _day(now, 1 - now.day)
    if last:
        return Window(start=_day(now, -now.day).replace(day=1), end=first)
    return Window(start=first, end=None)


def _counted(text: str, now: datetime) -> Window | None:
    if text in ("last hour", "past hour", "the last hour", "the past hour"):
        return Window(start=now - timedelta(hours=1), end=None)
    match = re.fullmatch(r"(?:the )?(?:(last|past) )?(\d{1,4}) ?([a-z]+)( ago)?", text)
    if match is None or bool(match[1]) == bool(match[4]):
        return None
    unit = next((full for short, full in _UNITS.items() if match[3].startswith(short)), None)
    if unit is None:
        return None
    back = timedelta(**{unit: int(match[2])})
    if match[1]:
        return Window(start=now - back, end=None)
    if unit in ("days", "weeks"):
        return _days(now, -back.days, 1)
    # "2 hours ago" is no exact time
    around = timedelta(**{unit: 1}) / 2 if int(match[2]) > 1 else timedelta(**{unit: 1})
    return Window(start=now - back - around, end=now - back + around)


def _dated(text: str, now: datetime) -> Window | None:
    try:
        moment = datetime.fromisoformat(text.upper())
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=now.tzinfo)
    whole_day = re.fullmatch(r"\d{4}-?\d{2}-?\d{2}", text) is not None
    return Window(start=moment, end=moment + timedelta(days=1) if whole_day else None)


def _day(now: datetime, offset: int) -> datetime:
    """Midnight of a day; a day is not always 24 hours long."""
    return datetime.combine(now.date() + timedelta(days=offset), _MIDNIGHT, now.tzinfo)


def _days(now: datetime, first: int, count: int) -> Window:
    return Window(start=_day(now, first), end=_day(now, first + count))


def _part(now: datetime, offset: int, part: str) -> Window:
    begins, ends = _PARTS[part]
    day = _day(now, offset)
    return Window(start=_hour(day, begins), end=_hour(day, ends))


def _hour(day: datetime, hour: int) -> datetime:
    return datetime.combine(day.date() + timedelta(days=hour // 24), time(hour % 24), day.tzinfo)


#: what was done -> words that ask for it
_ACTIONS: dict[str, re.Pattern[str]] = {
    "fail": re.compile(
        r"\b(?:fail(?:s|ed|ures?|ing)?|crash(?:ed|es)?|died?|broke|oom(?:ed)?|(?:went|go) (?:wrong|down|away)|gone)\b"
    ),
    "restart": re.compile(r"\b(?:re(?:start|launch|load|boot)(?:ed|s)?|bounced|cycled)\b"),
    "stop": re.compile(
        r"\b(?:stop(?:ped|s)?|kill(?:ed|s)?|terminated|ended|unloaded|halted|(?:took|taken|brought|shut|tore) (?:\S+ )"
        r"{0,3}(?:down|off))\b"
    ),
    "change": re.compile(r"\bchanged\b"),
    "start": re.compile(
        r"\b(?:start(?:ed|s)?|launch(?:ed)?|ran|deployed|booted|loaded|brought (?:\S+ ){0,3}up|did (?:\S+ ){0,4}run"
        r"|was (?:\S+ ){0,4}run)\b"
    ),
}
#: what history can be narrowed to
ACTIONS = ("start", "stop", "restart", "change", "fail")


def asked_action(text: str) -> str | None:
    """What a question about the past is about: "start", "stop", "restart", "change" or "fail"; None: everything."""
    words = text.lower()
    return next((action for action, pattern in _ACTIONS.items() if pattern.search(words)), None)


def asks_who(text: str) -> bool:
    """Whether a person is asked for."""
    return re.search(r"\bwho(?:se|m)?\b", text.lower()) is not None
