"""Triggers fire when people mean."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.adapters.clock.scheduler import slot, trigger
from bot.core.domain.operation import Schedule

_MADE = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)


def _schedule(cron: str | None = None, every_s: int | None = None, zone: str = "UTC") -> Schedule:
    return Schedule(
        id="s",
        channel="C",
        host=None,
        cron=cron,
        every_s=every_s,
        time_zone=zone,
        created_by="U",
        created_at=_MADE,
    )


@pytest.mark.parametrize(
    ("cron", "zone", "after", "expected"),
    [
        ("30 8 * * *", "UTC", "2026-12-01T12:00", "2026-12-02T08:30"),
        ("30 8 * * *", "Europe/Berlin", "2026-12-01T12:00", "2026-12-02T07:30"),
        # 2026-12-06 is a Sunday, 2026-12-07 a Monday
        ("0 9 * * 0", "UTC", "2026-12-01T12:00", "2026-12-06T09:00"),
        ("0 9 * * 7", "UTC", "2026-12-01T12:00", "2026-12-06T09:00"),
        ("0 9 * * 1", "UTC", "2026-12-01T12:00", "2026-12-07T09:00"),
        ("0 9 * * 1-5", "UTC", "2026-12-05T12:00", "2026-12-07T09:00"),
        ("0 9 * * 0-1", "UTC", "2026-12-05T12:00", "2026-12-06T09:00"),
        ("0 9 * * mon,sun", "UTC", "2026-12-05T12:00", "2026-12-06T09:00"),
        ("*/15 * * * *", "UTC", "2026-12-01T12:01", "2026-12-01T12:15"),
    ],
)
def test_cron_means_what_crontab_means(cron: str, zone: str, after: str, expected: str) -> None:
    start = datetime.fromisoformat(after).replace(tzinfo=UTC)
    fires = trigger(_schedule(cron=cron, zone=zone)).get_next_fire_time(None, start)
    assert fires.astimezone(UTC) == datetime.fromisoformat(expected).replace(tzinfo=UTC)


def test_interval_counts_from_its_making_and_names_its_slots() -> None:
    schedule = _schedule(every_s=1800)
    fires = trigger(schedule).get_next_fire_time(None, _MADE)
    assert fires == _MADE + timedelta(seconds=1800)
    assert (
        slot(schedule, fires + timedelta(milliseconds=40)) == slot(schedule, fires - timedelta(milliseconds=40)) == "1"
    )
