"""Tables. Alembic's migrations give exactly this schema; a test compares the two on SQLite and PostgreSQL."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, CheckConstraint, DateTime, Dialect, ForeignKey, Index, MetaData, String, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator


class UtcDateTime(TypeDecorator[datetime]):
    """Aware UTC on both sides; SQLite keeps no zone of its own."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Refuse naive times: they would be taken for UTC silently."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"naive datetime {value!r}")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give UTC back."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Base(DeclarativeBase):
    """Declares naming of constraints, so that migrations can name them on both databases."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads a plain dict here
        datetime: UtcDateTime(),
        dict[str, Any]: JSON(),
        list[str]: JSON(),
        str: String(255),
    }


class HostRow(Base):
    """One host of the inventory."""

    __tablename__ = "hosts"
    name: Mapped[str] = mapped_column(primary_key=True)
    address: Mapped[str]
    port: Mapped[int | None]
    user: Mapped[str | None]
    gpus: Mapped[str]
    tags: Mapped[list[str]]
    protected: Mapped[bool]
    via: Mapped[str | None]
    identity_file: Mapped[str | None] = mapped_column(Text)


class ConfigRow(Base):
    """One launch config."""

    __tablename__ = "configs"
    name: Mapped[str] = mapped_column(primary_key=True)
    host: Mapped[str | None]
    aliases: Mapped[list[str]]
    tags: Mapped[list[str]]
    pinned: Mapped[str | None] = mapped_column(String(12))
    archived: Mapped[bool]
    measured: Mapped[dict[str, Any] | None]


class RevisionRow(Base):
    """One immutable revision of a config; `content` is the Revision record."""

    __tablename__ = "revisions"
    config: Mapped[str] = mapped_column(
        ForeignKey("configs.name", onupdate="CASCADE", ondelete="CASCADE"), primary_key=True
    )
    id: Mapped[str] = mapped_column(String(12), primary_key=True)
    position: Mapped[int]
    content: Mapped[dict[str, Any]]
    created_at: Mapped[datetime | None]


class LaunchRow(Base):
    """One launch. Its id is the operation's."""

    __tablename__ = "launches"
    __table_args__ = (
        Index("ix_launches_host_state", "host", "state"),
        Index("ix_launches_thread", "channel", "thread_ts"),
    )
    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    number: Mapped[int] = mapped_column(unique=True)
    config: Mapped[str | None] = mapped_column(index=True)
    revision: Mapped[str | None] = mapped_column(String(12))
    host: Mapped[str]
    state: Mapped[str] = mapped_column(String(16))
    unit: Mapped[str]
    plan: Mapped[dict[str, Any]]
    channel: Mapped[str | None]
    thread_ts: Mapped[str | None]
    requested_by: Mapped[str]
    note: Mapped[str] = mapped_column(Text)
    started_at: Mapped[datetime]
    ready_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    ended_by: Mapped[str | None]
    facts: Mapped[dict[str, Any]]
    detail: Mapped[str] = mapped_column(Text)
    log: Mapped[str | None] = mapped_column(Text)


class MilestoneRow(Base):
    """One milestone of a launch."""

    __tablename__ = "milestones"
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    launch: Mapped[str] = mapped_column(ForeignKey("launches.id", ondelete="CASCADE"), index=True)
    phase: Mapped[str] = mapped_column(String(32))
    text: Mapped[str] = mapped_column(Text)
    fraction: Mapped[float | None]
    draft: Mapped[bool]
    reached_at: Mapped[datetime | None]


class MeasurementRow(Base):
    """One measurement of a launch; `content` is the Measurement record."""

    __tablename__ = "measurements"
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    launch: Mapped[str] = mapped_column(ForeignKey("launches.id", ondelete="CASCADE"), index=True)
    measured_at: Mapped[datetime]
    content: Mapped[dict[str, Any]]
    baseline: Mapped[bool]


class OperationRow(Base):
    """One operation: a plan and its life."""

    __tablename__ = "operations"
    __table_args__ = (Index("ix_operations_thread", "channel", "thread_ts"),)
    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    host: Mapped[str]
    plan: Mapped[dict[str, Any]]
    fingerprint: Mapped[str] = mapped_column(String(64))
    state: Mapped[str] = mapped_column(String(16), index=True)
    channel: Mapped[str]
    thread_ts: Mapped[str | None]
    actor: Mapped[dict[str, Any]]
    text: Mapped[str] = mapped_column(Text)
    note: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    detail: Mapped[str] = mapped_column(Text)


class ApprovalRow(Base):
    """The one approval of an operation."""

    __tablename__ = "approvals"
    __table_args__ = (CheckConstraint("(decided_at IS NULL) = (approved IS NULL)", name="decided_once"),)
    operation: Mapped[str] = mapped_column(ForeignKey("operations.id", ondelete="CASCADE"), primary_key=True)
    fingerprint: Mapped[str] = mapped_column(String(64))
    expires_at: Mapped[datetime]
    decided_by: Mapped[str | None]
    decided_at: Mapped[datetime | None]
    approved: Mapped[bool | None]


class ScheduleRow(Base):
    """One scheduled report."""

    __tablename__ = "schedules"
    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    channel: Mapped[str]
    host: Mapped[str | None]
    cron: Mapped[str | None]
    every_s: Mapped[int | None]
    time_zone: Mapped[str]
    created_by: Mapped[str]
    created_at: Mapped[datetime]


class HealthSampleRow(Base):
    """What a health report found for one host."""

    __tablename__ = "health_samples"
    __table_args__ = (Index("ix_health_samples_host_at", "host", "at"),)
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    host: Mapped[str]
    at: Mapped[datetime]
    content: Mapped[dict[str, Any]]


class AuditRow(Base):
    """Who did what."""

    __tablename__ = "audit_events"
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    at: Mapped[datetime] = mapped_column(index=True)
    actor: Mapped[str]
    action: Mapped[str] = mapped_column(String(32))
    host: Mapped[str | None]
    config: Mapped[str | None]
    operation: Mapped[str | None] = mapped_column(String(64))
    outcome: Mapped[str] = mapped_column(Text)
    detail: Mapped[str] = mapped_column(Text)


class PostRow(Base):
    """A message that was posted once for its key."""

    __tablename__ = "posts"
    key: Mapped[str] = mapped_column(primary_key=True)
    channel: Mapped[str]
    ts: Mapped[str] = mapped_column(String(64))
    thread_ts: Mapped[str | None] = mapped_column(String(64))


class TerminalRow(Base):
    """Something shown in a terminal conversation (`relaunch say`), in order; the bot may run in another process."""

    __tablename__ = "terminal_messages"
    __table_args__ = (Index("ix_terminal_messages_channel", "channel", "id"),)
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    channel: Mapped[str]
    kind: Mapped[str] = mapped_column(String(16))
    ts: Mapped[str] = mapped_column(String(64))
    payload: Mapped[dict[str, Any]]


class WaitRow(Base):
    """One start that waits for its GPUs. `open_key` names host and launch while it waits, so that there is one only."""

    __tablename__ = "waits"
    __table_args__ = (
        Index("ix_waits_state_next_look_at", "state", "next_look_at"),
        Index("ix_waits_thread", "channel", "thread_ts"),
    )
    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    open_key: Mapped[str | None] = mapped_column(unique=True)
    host: Mapped[str]
    config: Mapped[str]
    revision: Mapped[str] = mapped_column(String(12))
    actor: Mapped[dict[str, Any]]
    channel: Mapped[str]
    thread_ts: Mapped[str | None]
    text: Mapped[str] = mapped_column(Text)
    note: Mapped[str] = mapped_column(Text)
    shown: Mapped[list[str]]
    holders: Mapped[list[str]]
    state: Mapped[str] = mapped_column(String(16))
    moved_by: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    next_look_at: Mapped[datetime]
    looked_at: Mapped[datetime | None]
    free_looks: Mapped[int]
    busy_looks: Mapped[int]
    away: Mapped[str] = mapped_column(Text)


class EngineHelpRow(Base):
    """What one program on one host last printed as its flags; `content` is the EngineHelp record, null: `reason`."""

    __tablename__ = "engine_helps"
    host: Mapped[str] = mapped_column(primary_key=True)
    #: digest of the words, folder and PATH that choose the interpreter
    program: Mapped[str] = mapped_column(String(64), primary_key=True)
    version: Mapped[str]
    content: Mapped[dict[str, Any] | None]
    reason: Mapped[str] = mapped_column(Text)
    read_at: Mapped[datetime]
