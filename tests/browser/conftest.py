"""Chromium, found on PATH or in CHROMIUM, and the practice page in it."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.rig.needs import missing

_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-prefers-reduced-motion",
]


def chromium() -> str | None:
    """Path of the browser, or None."""
    named = os.environ.get("CHROMIUM")
    return named or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless browser."""
    path = chromium()
    if path is None:
        missing("Chromium is not installed; set CHROMIUM to its path")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=_FLAGS)
        yield running
        running.close()


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Where screenshots go: the folder named by RELAUNCH_TEST_PICTURES, so that they can be looked at afterwards."""
    folder = Path(os.environ.get("RELAUNCH_TEST_PICTURES", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder
