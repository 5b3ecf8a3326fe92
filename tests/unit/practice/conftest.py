"""A practice workspace, and independent Slack clients against it."""

from collections.abc import Iterator

import pytest
from slack_sdk import WebClient

from bot.practice.workspace import PracticeWorkspace
from bot.practice.workspace.socket_mode import Timing
from bot.practice.workspace.state import fixed_clock


@pytest.fixture
def workspace() -> Iterator[PracticeWorkspace]:
    """A fresh workspace with Slack's time limits and a clock that counts looks."""
    with PracticeWorkspace(now=fixed_clock()) as running:
        yield running


@pytest.fixture
def hasty() -> Iterator[PracticeWorkspace]:
    """A workspace that gives up waiting for acks at once, for tests in which none comes."""
    with PracticeWorkspace(timing=Timing(ack_s=0.3, retry_after_s=(0.05, 0.05, 0.05))) as running:
        yield running


@pytest.fixture
def client(workspace: PracticeWorkspace) -> WebClient:
    """Slack's own client, as the app."""
    return WebClient(token=workspace.bot_token, base_url=workspace.api_url)
