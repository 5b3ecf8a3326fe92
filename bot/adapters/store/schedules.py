"""Scheduled reports, health samples, and posted messages."""

from datetime import datetime
from typing import Any

from sqlalchemy import select

from bot.adapters.store.database import Database
from bot.adapters.store.tables import HealthSampleRow, PostRow, ScheduleRow
from bot.core.domain.message import Posted
from bot.core.domain.operation import Schedule


class SqlSchedules:
    """ScheduleRepository on SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, schedule: Schedule) -> None:
        """Add or replace."""
        with self._database.transaction() as session:
            session.merge(
                ScheduleRow(
                    id=schedule.id,
                    channel=schedule.channel,
                    host=schedule.host,
                    cron=schedule.cron,
                    every_s=schedule.every_s,
                    time_zone=schedule.time_zone,
                    created_by=schedule.created_by,
                    created_at=schedule.created_at,
                )
            )

    def remove(self, schedule: str) -> bool:
        """False when it was not there."""
        with self._database.transaction() as session:
            row = session.get(ScheduleRow, schedule)
            if row is None:
                return False
            session.delete(row)
            return True

    def all(self) -> tuple[Schedule, ...]:
        """Oldest first."""
        with self._database.transaction() as session:
            rows = session.scalars(select(ScheduleRow).order_by(ScheduleRow.created_at)).all()
            return tuple(
                Schedule(
                    id=row.id,
                    channel=row.channel,
                    host=row.host,
                    cron=row.cron,
                    every_s=row.every_s,
                    time_zone=row.time_zone,
                    created_by=row.created_by,
                    created_at=row.created_at,
                )
                for row in rows
            )


class SqlHealthSamples:
    """What reports found, host by host."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, host: str, at: datetime, content: dict[str, Any]) -> None:
        """Append a sample."""
        with self._database.transaction() as session:
            session.add(HealthSampleRow(host=host, at=at, content=content))

    def last(self, host: str) -> tuple[datetime, dict[str, Any]] | None:
        """The newest sample of a host."""
        with self._database.transaction() as session:
            row = session.scalars(
                select(HealthSampleRow).where(HealthSampleRow.host == host).order_by(HealthSampleRow.id.desc()).limit(1)
            ).first()
            return (row.at, dict(row.content)) if row else None


class SqlPosts:
    """Which message was posted for which key."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, key: str) -> Posted | None:
        """The message of a key."""
        with self._database.transaction() as session:
            row = session.get(PostRow, key)
            return Posted(channel=row.channel, ts=row.ts, thread_ts=row.thread_ts) if row else None

    def put(self, key: str, posted: Posted) -> None:
        """Remember it."""
        with self._database.transaction() as session:
            session.merge(PostRow(key=key, channel=posted.channel, ts=posted.ts, thread_ts=posted.thread_ts))
