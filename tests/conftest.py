"""Fixtures for all tests: the real parts that tests may ask for (tests/rig)."""

import sys
from pathlib import Path

# tests import their own packages (tests.rig, tests.fakes) wherever pytest is started from
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

pytest_plugins = ["tests.rig.fixtures"]
