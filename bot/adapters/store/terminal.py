"""Terminal conversations: what the bot shows to `relaunch say`, in order, across processes."""

from typing import Any

from sqlalchemy import delete, func, select

from bot.adapters.store.database import Database
from bot.adapters.store.tables import TerminalRow

#: more than a conversation beside this one has waiting
_KEPT_LINES = 1000


class SqlTerminal:
    """Append-only lines of terminal conversations."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def append(self, channel: str, kind: str, ts: str, payload: dict[str, Any]) -> int:
        """Add a line: kind "post", "update", "final" or "file". Gives its number."""
        with self._database.transaction() as session:
            row = TerminalRow(channel=channel, kind=kind, ts=ts, payload=payload)
            session.add(row)
            session.flush()
            return row.id

    def after(self, channel: str, last: int) -> tuple[tuple[int, str, str, dict[str, Any]], ...]:
        """(number, kind, ts, payload) of the lines after number `last`."""
        with self._database.transaction() as session:
            rows = session.scalars(
                select(TerminalRow)
                .where(TerminalRow.channel == channel, TerminalRow.id > last)
                .order_by(TerminalRow.id)
            ).all()
            return tuple((r.id, r.kind, r.ts, r.payload) for r in rows)

    def begin(self, channel: str) -> int:
        """Number of the newest line, after which a conversation begins. Lines that nobody can be waiting for go."""
        with self._database.transaction() as session:
            newest = session.scalar(select(func.max(TerminalRow.id)).where(TerminalRow.channel == channel)) or 0
            old = TerminalRow.id <= newest - _KEPT_LINES
            session.execute(delete(TerminalRow).where(TerminalRow.channel == channel, old))
            return newest
