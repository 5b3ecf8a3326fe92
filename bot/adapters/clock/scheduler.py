"""Fires triggers. The work is a durable run whose id carries the fire time, so that replicas never do it twice."""

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import structlog
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

from bot.core.domain.operation import Schedule
from bot.errors import RelaunchError

_log = structlog.get_logger()
_SYNC_S = 3


class ReportScheduler:
    """Keeps APScheduler's jobs equal to the stored schedules.

    `fire(schedule, slot)` is called at each time; `slot` names the fire time the same way in every replica.
    `tick()` is called every few seconds besides: sweeping, expiring; `tidy()` every hour."""

    def __init__(
        self,
        schedules: Callable[[], tuple[Schedule, ...]],
        fire: Callable[[Schedule, str], None],
        tick: Callable[[], None],
        tidy: Callable[[], None],
    ) -> None:
        self._schedules = schedules
        self._fire = fire
        self._tick = tick
        self._tidy = tidy
        self._scheduler = BackgroundScheduler(
            timezone=UTC, job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": 300}
        )
        self._known: dict[str, Schedule] = {}

    def start(self) -> None:
        """Start, and follow the stored schedules from now on."""
        self._scheduler.add_job(self._sync, IntervalTrigger(seconds=_SYNC_S), next_run_time=datetime.now(UTC))
        self._scheduler.add_job(self._tidy, IntervalTrigger(hours=1, jitter=600))
        self._scheduler.start()

    def stop(self) -> None:
        """Stop firing."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)

    def _sync(self) -> None:
        try:
            wanted = {schedule.id: schedule for schedule in self._schedules()}
            self._tick()
        except RelaunchError as error:
            _log.warning("schedules not read", error=error.message)
            return
        for gone in self._known.keys() - wanted.keys():
            self._scheduler.remove_job(gone)
        for key, schedule in wanted.items():
            if self._known.get(key) != schedule:
                self._scheduler.add_job(self._run, trigger(schedule), args=[schedule], id=key, replace_existing=True)
        self._known = wanted

    def _run(self, schedule: Schedule) -> None:
        try:
            self._fire(schedule, slot(schedule, datetime.now(UTC)))
        except RelaunchError as error:
            _log.warning("schedule not fired", schedule=schedule.id, error=error.message)


def trigger(schedule: Schedule) -> CronTrigger | IntervalTrigger:
    """APScheduler's trigger. In `cron`, 0 and 7 are Sunday, as in crontab; APScheduler counts from Monday."""
    if schedule.every_s is not None:
        return IntervalTrigger(
            seconds=schedule.every_s, start_date=schedule.created_at + timedelta(seconds=schedule.every_s)
        )
    minute, hour, day, month, weekday = (schedule.cron or "").split()
    return CronTrigger(
        minute=minute,
        hour=hour,
        day=day,
        month=month,
        day_of_week=_weekdays(weekday),
        timezone=schedule.time_zone,
    )


def slot(schedule: Schedule, now: datetime) -> str:
    """Name of the fire time that `now` belongs to."""
    if schedule.every_s is not None:
        return str(math.floor((now - schedule.created_at).total_seconds() / schedule.every_s + 0.5))
    return now.strftime("%Y%m%dT%H%M")


def _weekdays(field: str) -> str:
    names = ("sun", "mon", "tue", "wed", "thu", "fri", "sat", "sun")
    if field == "*":
        return field
    parts = []
    for part in field.lower().split(","):
        ends = [names[int(end)] if end.isdigit() else end for end in part.split("-")]
        parts.append("-".join(ends) if ends[0] != "sun" or len(ends) == 1 else f"sun,mon-{ends[1]}")
    return ",".join(parts)
