"""The real bot beside the practice workspace and practice hosts, in this process; servers are ready in two seconds."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.cli.practice_bot import practice_bot
from bot.practice.run import Practice, run
from tests.acceptance.thread import Talk


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Practice]:
    """A running practice with the bot."""
    folder: Path = tmp_path_factory.mktemp("practice")
    manifest = Path(__file__).parents[2] / "manifest.yaml"
    with (
        run(0, folder, manifest=manifest, rate_limits=False, start_s=2.0) as running,
        practice_bot(running, measure_level_s=2.0, measure_output_tokens=32),
    ):
        yield running
        assert running.workspace.refusals() == []


@pytest.fixture
def talk(practice: Practice) -> Talk:
    """Say things and read what comes back."""
    return Talk(practice)
