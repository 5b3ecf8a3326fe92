"""Fixtures for all tests: the real parts that tests may ask for (tests/rig)."""

import sys
from pathlib import Path

import pytest

# tests import their own packages (tests.rig, tests.fakes) wherever pytest is started from
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

pytest_plugins = ["tests.rig.fixtures"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Say which tests two workers must not run side by side (`pytest -n 2 --dist loadgroup`): those of one file, which
    share costly fixtures, and all that use practice hosts, whose servers share loopback's ports."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            practice = item.path.parent.name in ("acceptance", "browser")
            item.add_marker(pytest.mark.xdist_group("practice" if practice else str(item.path)))
