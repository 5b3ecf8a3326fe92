"""Migrations give exactly the schema that the tables declare."""

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, text

from bot.adapters.store.database import Database
from bot.adapters.store.faults import explained
from bot.adapters.store.tables import Base
from bot.errors import PermanentError, TemporaryError


def test_migrations_and_tables_give_the_same_schema(database: Database) -> None:
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []


def test_a_current_schema_is_accepted_and_migrating_twice_is_harmless(database: Database) -> None:
    database.migrate()
    database.require_current()


def test_a_database_of_a_newer_version_is_left_alone(database: Database) -> None:
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'later'"))
    for work in (database.migrate, database.require_current):
        with pytest.raises(PermanentError, match="newer version"):
            work()


def test_a_damaged_file_is_named_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "relaunch.db"
    file.write_bytes(b"no database, but somebody's notes " * 100)
    before = file.read_bytes()
    database = Database(f"sqlite:///{file}")
    for work in (database.migrate, database.require_current):
        with pytest.raises(PermanentError, match=r"relaunch\.db cannot be used"):
            work()
    database.close()
    assert file.read_bytes() == before


def test_a_folder_that_cannot_be_made_and_an_address_that_is_none_are_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PermanentError, match="cannot be made"):
        Database(f"sqlite:///{tmp_path}/file/relaunch.db")
    for url in ("mysqlite://x", "nonsense", "mongodb://a:secret@b/c"):
        with pytest.raises(PermanentError, match="RELAUNCH_DATABASE_URL") as caught:
            Database(url)
        assert "secret" not in caught.value.message


def test_what_may_not_be_written_lasts_and_a_full_disk_passes(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    create_engine(f"sqlite:///{file}").connect().execute(text("CREATE TABLE a (b TEXT)"))
    engine = create_engine(f"sqlite:///file:{file}?mode=ro&uri=true")
    with pytest.raises(PermanentError, match="readonly") as caught, explained("a.db"), engine.begin() as connection:
        connection.execute(text("CREATE TABLE c (d TEXT)"))
    assert "right to write" in caught.value.remedy
    small = create_engine(f"sqlite:///{file}")
    with small.begin() as connection:
        connection.execute(text("PRAGMA max_page_count = 2"))
        too_much = text("INSERT INTO a VALUES (randomblob(100000))")
        with pytest.raises(TemporaryError, match="full") as passing, explained("a.db"):
            connection.execute(too_much)
    assert "make room" in passing.value.remedy
