"""The database: engine, transactions, migrations."""

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, event, text
from sqlalchemy.orm import Session, sessionmaker

from bot.adapters.store.faults import explained
from bot.errors import PermanentError
from bot.resources import directory


class Database:
    """One SQLAlchemy engine. SQLite: WAL, foreign keys on, writers wait up to 10 s and take the lock at once."""

    def __init__(self, url: str) -> None:
        """Raises PermanentError for a URL or a folder that cannot be used."""
        self.url = url
        with explained("at that address"):
            self.engine = _engine(url)
        self._place = str(self.engine.url.database or "") if url.startswith("sqlite") else f"at {self.engine.url.host}"
        self._sessions = sessionmaker(self.engine, expire_on_commit=False)

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """A session in one transaction. Raises TemporaryError when the database is locked, full or away, PermanentError
        when it is damaged or may not be written."""
        with explained(self._place), self._sessions.begin() as session:
            yield session

    def migrate(self) -> None:
        """Bring the schema to the newest revision. Raises PermanentError, TemporaryError."""
        with explained(self._place), self.engine.begin() as connection:
            config = alembic_config()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")

    def require_current(self) -> None:
        """Refuse to work on an older or newer schema, or where nothing can be written. Raises PermanentError."""
        script = ScriptDirectory.from_config(alembic_config())
        head = script.get_current_head()
        with explained(self._place), self.engine.connect() as connection:
            have = MigrationContext.configure(connection).get_current_revision()
            if have is not None:
                # gives an error for a revision that this version does not know
                script.get_revision(have)
            connection.execute(text("CREATE TABLE relaunch_may_write (one INTEGER)"))
            connection.rollback()
        if have is None:
            raise PermanentError(f"the database {self._place} is not set up yet", remedy="run `relaunch migrate`")
        if have != head:
            raise PermanentError(
                f"the database {self._place} is of an older version ({have}; this one needs {head})",
                remedy="run `relaunch migrate`",
            )

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def make_folder(folder: Path) -> None:
    """Make a folder for data, unless it is there. Raises PermanentError."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise PermanentError(
            f"the folder {folder} cannot be made: {error.strerror}", remedy="set RELAUNCH_DATA_DIR to another place"
        ) from error


def alembic_config() -> Config:
    """Alembic's configuration, with the bundled migrations."""
    config = Config()
    config.set_main_option("script_location", str(directory("migrations")))
    return config


def _engine(url: str) -> Engine:
    if not url.startswith("sqlite"):
        return create_engine(psycopg_url(url), pool_pre_ping=True, pool_size=10, max_overflow=20)
    file = Path(url.removeprefix("sqlite:///"))
    make_folder(file.parent)
    with contextlib.suppress(OSError):
        # plans, sentences and people are nobody else's business on this machine; what is wrong with it is said later
        file.touch(mode=0o600)
    engine = create_engine(url, connect_args={"timeout": 10.0})

    @event.listens_for(engine, "connect")
    def _on_connect(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # SQLAlchemy emits BEGIN itself, see _on_begin
        cursor = connection.cursor()
        for pragma in ("journal_mode=WAL", "foreign_keys=ON", "synchronous=NORMAL", "busy_timeout=10000"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _on_begin(connection: Any) -> None:
        # a deferred transaction that turns into a writer fails at once when the file is locked; an immediate one waits
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def psycopg_url(url: str) -> str:
    """`postgres://…` and `postgresql://…` with the psycopg 3 driver named."""
    scheme, _, rest = url.partition("://")
    return f"postgresql+psycopg://{rest}" if scheme in ("postgres", "postgresql") else url
