"""Fixtures for all tests: the real parts that tests may ask for (tests/rig)."""

import sys
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

# tests import their own packages (tests.rig, tests.fakes) wherever pytest is started from
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

pytest_plugins = ["tests.rig.fixtures"]

#: practice hosts share loopback's ports, containers one store: beginnings of paths whose tests run one after another
_SHARED = {
    "tests/acceptance/": "practice",
    "tests/browser/": "practice",
    "tests/integration/runners/test_docker.py": "containers",
    "tests/integration/discovery/test_scan_containers.py": "containers",
}


class _BySharedParts(LoadScopeScheduling):
    """A file's tests go to one worker, in their order; so do those of files that share something."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return next((group for start, group in _SHARED.items() if file.startswith(start)), file)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling | None:
    """With `--dist loadscope`: by shared parts. (xdist's own groups do not reach the scheduler under pytest 9.)"""
    return _BySharedParts(config, log) if config.getvalue("dist") == "loadscope" else None
