"""The same tests over SQLite and PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.adapters.store.database import Database


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A migrated, empty database."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'relaunch.db'}"
    else:
        url = request.getfixturevalue("empty_postgres_url")
    made = Database(url)
    made.migrate()
    yield made
    made.close()
