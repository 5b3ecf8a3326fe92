"""A bot whose ports are fakes, for each test."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.adapters.store.database import Database
from tests.unit.workflows.world import World


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that is migrated once and copied for each test."""
    file = tmp_path_factory.mktemp("world") / "relaunch.db"
    made = Database(f"sqlite:///{file}")
    made.migrate()
    made.close()
    return file


@pytest.fixture
def world(migrated: Path, tmp_path: Path) -> Iterator[World]:
    """A fresh one."""
    shutil.copy(migrated, tmp_path / "relaunch.db")
    made = World(tmp_path / "relaunch.db")
    yield made
    made.close()
