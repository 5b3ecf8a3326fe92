"""Operations, approvals and the audit trail."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from bot.adapters.store.database import Database
from bot.adapters.store.tables import ApprovalRow, AuditRow, OperationRow
from bot.core.domain.message import Conversation
from bot.core.domain.operation import Actor, Approval, AuditEvent, OperationState
from bot.core.domain.plan import Plan
from bot.core.domain.records import from_json, to_json
from bot.errors import RefusedError


class SqlOperations:
    """OperationRepository on SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def propose(
        self,
        *,
        operation: str,
        plan: Plan,
        conversation: Conversation,
        actor: Actor,
        text: str,
        note: str,
        at: datetime,
    ) -> None:
        """Store a plan, once per operation id: a second call changes nothing."""
        with self._database.transaction() as session:
            if session.get(OperationRow, operation) is not None:
                return
            session.add(
                OperationRow(
                    id=operation,
                    kind=plan.operation,
                    host=plan.host,
                    plan=to_json(plan),
                    fingerprint=plan.fingerprint,
                    state=OperationState.PROPOSED.value,
                    channel=conversation.channel,
                    thread_ts=conversation.thread_ts,
                    actor=to_json(actor),
                    text=text,
                    note=note,
                    created_at=at,
                    updated_at=at,
                    detail="",
                )
            )

    def plan(self, operation: str) -> Plan:
        """The stored plan."""
        with self._database.transaction() as session:
            return from_json(Plan, _row(session, operation).plan)

    def details(self, operation: str) -> Mapping[str, Any]:
        """kind, host, state, conversation, actor, text, note, detail, created_at of an operation."""
        with self._database.transaction() as session:
            row = _row(session, operation)
            return {
                "kind": row.kind,
                "host": row.host,
                "state": row.state,
                "conversation": Conversation(channel=row.channel, thread_ts=row.thread_ts),
                "actor": from_json(Actor, row.actor),
                "text": row.text,
                "note": row.note,
                "detail": row.detail,
                "created_at": row.created_at,
            }

    def state(self, operation: str) -> OperationState:
        """Where it stands."""
        with self._database.transaction() as session:
            return OperationState(_row(session, operation).state)

    def set_state(self, operation: str, state: OperationState, *, at: datetime, detail: str = "") -> None:
        """Move it on."""
        with self._database.transaction() as session:
            row = _row(session, operation)
            row.state, row.updated_at, row.detail = state.value, at, detail or row.detail

    def in_state(self, state: OperationState) -> tuple[tuple[str, str, str], ...]:
        """(id, kind, host) of all operations in a state."""
        with self._database.transaction() as session:
            rows = session.execute(
                select(OperationRow.id, OperationRow.kind, OperationRow.host).where(OperationRow.state == state.value)
            )
            return tuple((r.id, r.kind, r.host) for r in rows)

    def ask(self, approval: Approval) -> None:
        """Open an approval, once per operation."""
        with self._database.transaction() as session:
            if session.get(ApprovalRow, approval.operation) is None:
                session.add(
                    ApprovalRow(
                        operation=approval.operation,
                        fingerprint=approval.fingerprint,
                        expires_at=approval.expires_at,
                    )
                )

    def approval(self, operation: str) -> Approval | None:
        """The approval of an operation, if it needed one."""
        with self._database.transaction() as session:
            row = session.get(ApprovalRow, operation)
            return _approval(row) if row else None

    def decide(self, operation: str, *, fingerprint: str, approved: bool, actor: Actor, at: datetime) -> Approval:
        """Decide once, by one conditional update; an approval also sets the operation running in the same transaction.

        The durable run is submitted after this commits; an operation that is running without a run is submitted by
        the sweep at start and every few seconds, so a crash in between loses nothing."""
        with self._database.transaction() as session:
            done = session.execute(
                update(ApprovalRow)
                .where(
                    ApprovalRow.operation == operation,
                    ApprovalRow.fingerprint == fingerprint,
                    ApprovalRow.decided_at.is_(None),
                    ApprovalRow.expires_at > at,
                )
                .values(decided_by=actor.id, decided_at=at, approved=approved)
            )
            row = session.get(ApprovalRow, operation, populate_existing=True)
            if done.rowcount != 1:  # type: ignore[attr-defined]  # CursorResult, typed as Result
                raise _why_not(row, fingerprint, at)
            owner = _row(session, operation)
            owner.state = (OperationState.RUNNING if approved else OperationState.REJECTED).value
            owner.updated_at = at
            assert row is not None
            return _approval(row)

    def expired(self, at: datetime) -> tuple[str, ...]:
        """Operations that were proposed and whose approval ran out undecided; they are marked expired."""
        with self._database.transaction() as session:
            ids = session.scalars(
                select(ApprovalRow.operation)
                .join(OperationRow, OperationRow.id == ApprovalRow.operation)
                .where(
                    ApprovalRow.decided_at.is_(None),
                    ApprovalRow.expires_at <= at,
                    OperationRow.state == OperationState.PROPOSED.value,
                )
            ).all()
            for operation in ids:
                row = _row(session, operation)
                row.state, row.updated_at = OperationState.EXPIRED.value, at
            return tuple(ids)

    def in_thread(self, conversation: Conversation) -> Sequence[str]:
        """Operations of a thread, newest first."""
        with self._database.transaction() as session:
            return session.scalars(
                select(OperationRow.id)
                .where(OperationRow.channel == conversation.channel, OperationRow.thread_ts == conversation.thread_ts)
                .order_by(OperationRow.created_at.desc())
            ).all()


class SqlAudit:
    """AuditRepository on SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, event: AuditEvent) -> None:
        """Append an event."""
        with self._database.transaction() as session:
            session.add(
                AuditRow(
                    at=event.at,
                    actor=event.actor,
                    action=event.action,
                    host=event.host,
                    config=event.config,
                    operation=event.operation,
                    outcome=event.outcome,
                    detail=event.detail,
                )
            )

    def events(
        self, *, host: str | None = None, config: str | None = None, action: str | None = None, limit: int = 50
    ) -> tuple[AuditEvent, ...]:
        """Newest first."""
        query = select(AuditRow)
        for column, value in ((AuditRow.host, host), (AuditRow.config, config), (AuditRow.action, action)):
            if value is not None:
                query = query.where(column == value)
        with self._database.transaction() as session:
            rows = session.scalars(query.order_by(AuditRow.id.desc()).limit(limit)).all()
            return tuple(
                AuditEvent(
                    at=row.at,
                    actor=row.actor,
                    action=row.action,
                    host=row.host,
                    config=row.config,
                    operation=row.operation,
                    outcome=row.outcome,
                    detail=row.detail,
                )
                for row in rows
            )


def _row(session: Session, operation: str) -> OperationRow:
    row = session.get(OperationRow, operation)
    if row is None:
        raise RefusedError(
            f"there is no operation {operation}", remedy="ask again: the old card is of another database"
        )
    return row


def _approval(row: ApprovalRow) -> Approval:
    return Approval(
        operation=row.operation,
        fingerprint=row.fingerprint,
        expires_at=row.expires_at,
        decided_by=row.decided_by,
        decided_at=row.decided_at,
        approved=row.approved,
    )


def _why_not(row: ApprovalRow | None, fingerprint: str, at: datetime) -> RefusedError:
    if row is None:
        return RefusedError("this operation asks for no approval", remedy="ask again")
    if row.decided_at is not None:
        word = "approved" if row.approved else "rejected"
        return RefusedError(f"already {word} by <@{row.decided_by}>", remedy="nothing more was done")
    if row.fingerprint != fingerprint:
        return RefusedError(
            "this button belongs to another plan than the one that is open", remedy="use the newest card"
        )
    return RefusedError("this approval has expired", remedy="ask again: the host is looked at anew")
