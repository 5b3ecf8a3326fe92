"""The flags that installed engines print, kept by host and program."""

from datetime import datetime

from bot.adapters.store.database import Database
from bot.adapters.store.tables import EngineHelpRow
from bot.core.domain.reading import Known, Reading, Unknown
from bot.core.domain.records import from_json, to_json
from bot.core.facts.engine_help import EngineHelp


class SqlHelps:
    """HelpRepository on SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, host: str, program: str) -> tuple[str, datetime, Reading[EngineHelp]] | None:
        """The version that it was read of, when, and what was read."""
        with self._database.transaction() as session:
            row = session.get(EngineHelpRow, (host, program))
            if row is None:
                return None
            reading: Reading[EngineHelp] = (
                Known(from_json(EngineHelp, row.content)) if row.content is not None else Unknown(row.reason)
            )
            return row.version, row.read_at, reading

    def put(self, host: str, program: str, version: str, reading: Reading[EngineHelp], *, at: datetime) -> None:
        """Keep the newest."""
        with self._database.transaction() as session:
            session.merge(
                EngineHelpRow(
                    host=host,
                    program=program,
                    version=version[:255],
                    content=to_json(reading.value) if isinstance(reading, Known) else None,
                    reason=reading.reason if isinstance(reading, Unknown) else "",
                    read_at=at,
                )
            )
