"""What to do when a real part is missing: fail where the environment says that it must be there, else skip."""

import os
import shutil
from typing import NoReturn

import pytest


def missing(what: str) -> NoReturn:
    """Skip the test, or fail it when RELAUNCH_REQUIRE_REAL=1 (continuous integration)."""
    if os.environ.get("RELAUNCH_REQUIRE_REAL") == "1":
        pytest.fail(f"{what} (RELAUNCH_REQUIRE_REAL=1 forbids skipping)", pytrace=False)
    pytest.skip(what)


def program(name: str, *folders: str) -> str:
    """Path of a program, also outside PATH; `missing` when it is not installed."""
    path = os.pathsep.join((os.environ.get("PATH", ""), "/usr/local/sbin", "/usr/sbin", "/sbin", *folders))
    return shutil.which(name, path=path) or missing(f"{name} is not installed")
