"""Launches, their milestones, logs, facts and measurements."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from bot.adapters.store.database import Database
from bot.adapters.store.tables import LaunchRow, MeasurementRow, MilestoneRow
from bot.core.domain.catalog import LaunchRecord
from bot.core.domain.launch import LaunchState, Milestone, Phase
from bot.core.domain.measurement import Measurement
from bot.core.domain.message import Conversation
from bot.core.domain.operation import Actor
from bot.core.domain.plan import Plan
from bot.core.domain.records import from_json, to_json
from bot.errors import BadInputError

#: states in which a server may be on the host
ALIVE = (LaunchState.STARTING, LaunchState.READY, LaunchState.STOPPING)
#: a log longer than this keeps its head and tail; the full text is on the host
LOG_LIMIT_CHARACTERS = 4_000_000


class SqlLaunches:
    """LaunchRepository on SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(
        self,
        *,
        operation: str,
        plan: Plan,
        unit: str,
        conversation: Conversation | None,
        actor: Actor,
        note: str,
        at: datetime,
    ) -> LaunchRecord:
        """Create the launch of an operation once."""
        with self._database.transaction() as session:
            row = session.get(LaunchRow, operation)
            if row is None:
                row = LaunchRow(
                    id=operation,
                    number=(session.scalar(select(func.max(LaunchRow.number))) or 0) + 1,
                    config=plan.config,
                    revision=plan.revision,
                    host=plan.host,
                    state=LaunchState.STARTING.value,
                    unit=unit,
                    plan=to_json(plan),
                    channel=conversation.channel if conversation else None,
                    thread_ts=conversation.thread_ts if conversation else None,
                    requested_by=actor.id,
                    note=note,
                    started_at=at,
                    facts={},
                    detail="",
                )
                session.add(row)
                session.flush()
            return record(row)

    def set_state(
        self, launch: str, state: LaunchState, *, at: datetime, detail: str = "", by: str | None = None
    ) -> None:
        """Move a launch on. Ready and end times are set once."""
        with self._database.transaction() as session:
            row = _row(session, launch)
            row.state = state.value
            row.detail = detail or row.detail
            if state is LaunchState.READY:
                row.ready_at = row.ready_at or at
            elif state not in ALIVE:
                row.ended_at = row.ended_at or at
                row.ended_by = row.ended_by or by

    def add_milestone(self, launch: str, milestone: Milestone) -> None:
        """Store a milestone; the same phase and text again is not stored twice."""
        with self._database.transaction() as session:
            there = session.scalar(
                select(MilestoneRow.id).where(
                    MilestoneRow.launch == launch,
                    MilestoneRow.phase == milestone.phase.value,
                    MilestoneRow.draft == milestone.draft,
                    MilestoneRow.text == milestone.text,
                )
            )
            if there is None:
                session.add(
                    MilestoneRow(
                        launch=launch,
                        phase=milestone.phase.value,
                        text=milestone.text,
                        fraction=milestone.fraction,
                        draft=milestone.draft,
                        reached_at=milestone.reached_at,
                    )
                )

    def milestones(self, launch: str) -> tuple[Milestone, ...]:
        """In the order they were reached."""
        with self._database.transaction() as session:
            rows = session.scalars(
                select(MilestoneRow).where(MilestoneRow.launch == launch).order_by(MilestoneRow.id)
            ).all()
            return tuple(
                Milestone(
                    phase=Phase(row.phase),
                    text=row.text,
                    fraction=row.fraction,
                    draft=row.draft,
                    reached_at=row.reached_at,
                )
                for row in rows
            )

    def save_log(self, launch: str, text: str) -> None:
        """Keep the log of a launch; of an over-long one the head and the tail."""
        if len(text) > LOG_LIMIT_CHARACTERS:
            half = LOG_LIMIT_CHARACTERS // 2
            text = f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"
        with self._database.transaction() as session:
            # PostgreSQL takes no NUL in text
            _row(session, launch).log = text.replace("\x00", "\ufffd")

    def log(self, launch: str) -> str | None:
        """The saved log."""
        with self._database.transaction() as session:
            return _row(session, launch).log

    def set_facts(self, launch: str, facts: Mapping[str, str]) -> None:
        """Add facts (engine_version, driver, model_hash …) to those that are there."""
        with self._database.transaction() as session:
            row = _row(session, launch)
            row.facts = {**row.facts, **facts}

    def facts(self, launch: str) -> Mapping[str, str]:
        """Facts of a launch."""
        with self._database.transaction() as session:
            return dict(_row(session, launch).facts)

    def add_measurement(self, launch: str, measurement: Measurement) -> None:
        """Store a measurement."""
        with self._database.transaction() as session:
            session.add(
                MeasurementRow(
                    launch=launch,
                    measured_at=measurement.measured_at,
                    content=to_json(measurement),
                    baseline=False,
                )
            )

    def measurements(self, launch: str) -> tuple[Measurement, ...]:
        """Oldest first."""
        with self._database.transaction() as session:
            rows = session.scalars(
                select(MeasurementRow).where(MeasurementRow.launch == launch).order_by(MeasurementRow.id)
            ).all()
            return tuple(from_json(Measurement, row.content) for row in rows)

    def pin_baseline(self, launch: str) -> None:
        """The last measurement of this launch is the baseline of its config on its host from now on."""
        with self._database.transaction() as session:
            row = _row(session, launch)
            same = select(LaunchRow.id).where(LaunchRow.config == row.config, LaunchRow.host == row.host)
            measurements = session.scalars(
                select(MeasurementRow).where(MeasurementRow.launch.in_(same)).order_by(MeasurementRow.id)
            ).all()
            mine = [m for m in measurements if m.launch == launch]
            if not mine:
                raise BadInputError("this launch has no measurement yet", remedy="say `bench` in its thread first")
            for measurement in measurements:
                measurement.baseline = measurement is mine[-1]

    def baseline(self, config: str, host: str) -> tuple[str, Measurement] | None:
        """The pinned baseline: launch id and measurement."""
        with self._database.transaction() as session:
            row = session.scalars(
                select(MeasurementRow)
                .join(LaunchRow, LaunchRow.id == MeasurementRow.launch)
                .where(LaunchRow.config == config, LaunchRow.host == host, MeasurementRow.baseline.is_(True))
            ).first()
            return (row.launch, from_json(Measurement, row.content)) if row else None

    def get(self, launch: str) -> LaunchRecord | None:
        """One launch by id."""
        with self._database.transaction() as session:
            row = session.get(LaunchRow, launch)
            return record(row, speeds(session, [launch]).get(launch)) if row else None

    def unit(self, launch: str) -> str:
        """Unit name of a launch."""
        with self._database.transaction() as session:
            return _row(session, launch).unit

    def conversation(self, launch: str) -> Conversation | None:
        """Where the launch was asked for."""
        with self._database.transaction() as session:
            row = _row(session, launch)
            return Conversation(channel=row.channel, thread_ts=row.thread_ts) if row.channel else None

    def plan(self, launch: str) -> Plan | None:
        """The plan that was carried out."""
        with self._database.transaction() as session:
            row = session.get(LaunchRow, launch)
            return from_json(Plan, row.plan) if row else None

    def running(self, host: str | None = None) -> tuple[LaunchRecord, ...]:
        """Launches that should be on a host now, oldest first."""
        query = select(LaunchRow).where(LaunchRow.state.in_([s.value for s in ALIVE]))
        if host is not None:
            query = query.where(LaunchRow.host == host)
        with self._database.transaction() as session:
            rows = session.scalars(query.order_by(LaunchRow.number)).all()
            measured = speeds(session, [row.id for row in rows])
            return tuple(record(row, measured.get(row.id)) for row in rows)

    def recent(
        self, *, config: str | None = None, host: str | None = None, limit: int = 20
    ) -> tuple[LaunchRecord, ...]:
        """Newest first."""
        query = select(LaunchRow)
        if config is not None:
            query = query.where(LaunchRow.config == config)
        if host is not None:
            query = query.where(LaunchRow.host == host)
        with self._database.transaction() as session:
            rows = session.scalars(query.order_by(LaunchRow.number.desc()).limit(limit)).all()
            measured = speeds(session, [row.id for row in rows])
            return tuple(record(row, measured.get(row.id)) for row in rows)

    def in_thread(self, conversation: Conversation) -> LaunchRecord | None:
        """The newest launch of a thread."""
        with self._database.transaction() as session:
            row = session.scalars(
                select(LaunchRow)
                .where(LaunchRow.channel == conversation.channel, LaunchRow.thread_ts == conversation.thread_ts)
                .order_by(LaunchRow.number.desc())
                .limit(1)
            ).first()
            return record(row, speeds(session, [row.id]).get(row.id)) if row else None


def _row(session: Session, launch: str) -> LaunchRow:
    row = session.get(LaunchRow, launch)
    if row is None:
        raise BadInputError(f"there is no launch {launch}", remedy="see `history`")
    return row


def speeds(session: Session, launches: list[str] | None = None) -> dict[str, Measurement]:
    """Newest measurement of each launch."""
    query = select(MeasurementRow).order_by(MeasurementRow.id)
    if launches is not None:
        query = query.where(MeasurementRow.launch.in_(launches))
    return {row.launch: from_json(Measurement, row.content) for row in session.scalars(query)}


def record(row: LaunchRow, measurement: Measurement | None = None) -> LaunchRecord:
    """The launch as history shows it."""
    level = measurement.level(1) if measurement else None
    return LaunchRecord(
        id=row.id,
        number=row.number,
        config=row.config or "",
        revision=row.revision or "",
        host=row.host,
        state=row.state,
        started_at=row.started_at,
        ended_at=row.ended_at,
        ready_after_s=(row.ready_at - row.started_at).total_seconds() if row.ready_at else None,
        engine_version=row.facts.get("engine_version"),
        decode_tok_s=level.decode_tok_s if level else None,
        accept_length=measurement.accept_length if measurement else None,
        requested_by=row.requested_by,
        note=row.note,
        detail=row.detail,
    )
