"""Starts that wait until their GPUs are free."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError

from bot.adapters.store.database import Database
from bot.adapters.store.tables import WaitRow
from bot.core.domain.message import Conversation
from bot.core.domain.operation import Actor
from bot.core.domain.records import from_json, to_json
from bot.core.domain.waiting import Wait, WaitState
from bot.errors import RefusedError

_SAME = (
    "id", "host", "config", "revision", "text", "note", "moved_by", "created_at", "expires_at", "next_look_at",
    "looked_at", "free_looks", "busy_looks", "away",
)  # fmt: skip


class SqlWaits:
    """WaitRepository on SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, wait: Wait) -> Wait:
        """Keep a wait; the one that is there when this launch waits already, or when it has this id."""
        there = self.get(wait.id)
        if there is not None:
            return there
        try:
            with self._database.transaction() as session:
                session.add(_row(wait))
        except IntegrityError:
            with self._database.transaction() as session:
                query = select(WaitRow).where((WaitRow.open_key == _key(wait)) | (WaitRow.id == wait.id))
                row = session.scalars(query).first()
                if row is None:
                    raise RefusedError("another wait for this launch ended just now", remedy="ask again") from None
                return _wait(row)
        return wait

    def get(self, wait: str) -> Wait | None:
        """One wait, whatever became of it."""
        with self._database.transaction() as session:
            row = session.get(WaitRow, wait)
            return _wait(row) if row else None

    def waiting(self, host: str | None = None) -> tuple[Wait, ...]:
        """All that wait, oldest first."""
        query = select(WaitRow).where(WaitRow.state == WaitState.WAITING.value).order_by(WaitRow.created_at)
        if host is not None:
            query = query.where(WaitRow.host == host)
        with self._database.transaction() as session:
            return tuple(_wait(row) for row in session.scalars(query))

    def due(self, at: datetime) -> tuple[Wait, ...]:
        """Those to be looked at, or over, by now."""
        query = select(WaitRow).where(
            WaitRow.state == WaitState.WAITING.value, (WaitRow.next_look_at <= at) | (WaitRow.expires_at <= at)
        )
        with self._database.transaction() as session:
            return tuple(_wait(row) for row in session.scalars(query))

    def postpone(self, wait: str, *, seen: datetime, until: datetime) -> bool:
        """Move the next look, if it is still at `seen`: one of several processes does."""
        with self._database.transaction() as session:
            done = session.execute(
                update(WaitRow).where(WaitRow.id == wait, WaitRow.next_look_at == seen).values(next_look_at=until)
            )
            return bool(done.rowcount)  # type: ignore[attr-defined]  # CursorResult, typed as Result

    def looked(
        self,
        wait: str,
        *,
        at: datetime,
        free_looks: int,
        busy_looks: int,
        holders: Sequence[str],
        away: str,
        next_look_at: datetime,
    ) -> None:
        """Keep what one look found."""
        with self._database.transaction() as session:
            row = session.get(WaitRow, wait)
            if row is not None:
                row.looked_at, row.free_looks, row.busy_looks = at, free_looks, busy_looks
                row.holders, row.away, row.next_look_at = list(holders), away, next_look_at

    def move(self, wait: str, state: WaitState, *, by: str) -> bool:
        """End the waiting by one conditional update, or take it up again. True for whoever did it, every time."""
        target = WaitState.PLANNED if state is WaitState.WAITING else WaitState.WAITING
        with self._database.transaction() as session:
            row = session.get(WaitRow, wait)
            if row is None:
                return False
            key = _key(_wait(row)) if state is WaitState.WAITING else None
            if key is not None and session.scalars(select(WaitRow.id).where(WaitRow.open_key == key)).first():
                return False
            changes = {"state": state.value, "moved_by": by, "open_key": key}
            done = session.execute(
                update(WaitRow).where(WaitRow.id == wait, WaitRow.state == target.value).values(**changes)
            )
            session.refresh(row)
            return bool(done.rowcount) or (row.state == state.value and row.moved_by == by)  # type: ignore[attr-defined]  # CursorResult, typed as Result

    def in_thread(self, conversation: Conversation) -> tuple[Wait, ...]:
        """All that wait in a thread, newest first."""
        query = (
            select(WaitRow)
            .where(
                WaitRow.channel == conversation.channel,
                WaitRow.thread_ts == conversation.thread_ts,
                WaitRow.state == WaitState.WAITING.value,
            )
            .order_by(WaitRow.created_at.desc())
        )
        with self._database.transaction() as session:
            return tuple(_wait(row) for row in session.scalars(query))


def _key(wait: Wait) -> str:
    return f"{wait.host}|{wait.revision}"[:255]


def _row(wait: Wait) -> WaitRow:
    return WaitRow(
        **{name: getattr(wait, name) for name in _SAME},
        open_key=_key(wait),
        actor=to_json(wait.actor),
        channel=wait.conversation.channel,
        thread_ts=wait.conversation.thread_ts,
        shown=list(wait.shown),
        holders=list(wait.holders),
        state=wait.state.value,
    )


def _wait(row: WaitRow) -> Wait:
    return Wait(
        **{name: getattr(row, name) for name in _SAME},
        actor=from_json(Actor, row.actor),
        conversation=Conversation(channel=row.channel, thread_ts=row.thread_ts),
        shown=tuple(row.shown),
        holders=tuple(row.holders),
        state=WaitState(row.state),
    )
