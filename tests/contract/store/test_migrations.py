"""Migrations give exactly the schema that the tables declare."""

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from bot.adapters.store.database import Database
from bot.adapters.store.tables import Base


def test_migrations_and_tables_give_the_same_schema(database: Database) -> None:
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []


def test_a_current_schema_is_accepted_and_migrating_twice_is_harmless(database: Database) -> None:
    database.migrate()
    database.require_current()
