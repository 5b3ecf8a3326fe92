"""Times gone by, and what is asked about them."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from bot.core.catalog.past import Window, asked_action, asks_who, window

BERLIN = ZoneInfo("Europe/Berlin")
#: a Wednesday
NOW = datetime(2026, 12, 2, 9, 30, tzinfo=BERLIN)


def _at(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN) if text else None


@pytest.mark.parametrize(
    ("words", "start", "end"),
    [
        ("yesterday", "2026-12-01", "2026-12-02"),
        ("today", "2026-12-02", "2026-12-03"),
        ("last night", "2026-12-01T18:00", "2026-12-02T08:00"),
        ("this morning", "2026-12-02", "2026-12-02T12:00"),
        ("this week", "2026-11-30", "2026-12-07"),
        ("last week", "2026-11-23", "2026-11-30"),
        ("last weekend", "2026-11-28", "2026-11-30"),
        ("this month", "2026-12-01", None),
        ("last month", "2026-11-01", "2026-12-01"),
        ("on monday", "2026-11-30", "2026-12-01"),
        ("last wednesday", "2026-11-25", "2026-11-26"),
        ("on wednesday", "2026-12-02", "2026-12-03"),
        ("since monday", "2026-11-30", None),
        ("since yesterday", "2026-12-01", None),
        ("last hour", "2026-12-02T08:30", None),
        ("last 3 days", "2026-11-29T09:30", None),
        ("the past 2 weeks", "2026-11-18T09:30", None),
        ("last 90 mins", "2026-12-02T08:00", None),
        ("3 days ago", "2026-11-29", "2026-11-30"),
        ("4 hours ago", "2026-12-02T05:00", "2026-12-02T06:00"),
        ("2026-11-30", "2026-11-30", "2026-12-01"),
        ("2026-11-30 14:00", "2026-11-30T14:00", None),
    ],
)
def test_window_in_the_zone_of_who_asks(words: str, start: str, end: str | None) -> None:
    assert window(words, NOW, BERLIN) == Window(start=_at(start), end=_at(end))


def test_the_same_words_are_another_time_elsewhere() -> None:
    there = window("yesterday", NOW, ZoneInfo("America/Los_Angeles"))
    assert there is not None
    assert there.start == datetime(2026, 12, 1, tzinfo=ZoneInfo("America/Los_Angeles"))


def test_a_day_of_25_hours_is_one_day() -> None:
    found = window("yesterday", datetime(2026, 10, 26, 9, tzinfo=BERLIN), BERLIN)
    assert found is not None
    assert found.has(datetime(2026, 10, 25, 23, 59, tzinfo=BERLIN))
    assert not found.has(datetime(2026, 10, 26, tzinfo=BERLIN))


@pytest.mark.parametrize("words", ["earlier", "", "soon", "3 apples ago", "99", "since whenever"])
def test_what_is_no_time_is_none(words: str) -> None:
    assert window(words, NOW, BERLIN) is None


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("who stopped gpt-oss last night?", "stop"),
        ("who took it down", "stop"),
        ("what failed on lab7 yesterday?", "fail"),
        ("which launches crashed", "fail"),
        ("who restarted lab7", "restart"),
        ("when did we last run deepseek?", "start"),
        ("who brought gemma up", "start"),
        ("history lab7", None),
        ("which server went down last night", "fail"),
        ("did gemma go away", "fail"),
    ],
)
def test_what_is_asked_about(text: str, action: str | None) -> None:
    assert asked_action(text) == action


def test_a_person_is_asked_for() -> None:
    assert asks_who("Who stopped it?")
    assert not asks_who("what stopped it")
