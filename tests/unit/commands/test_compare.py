"""The relaunch that is offered with "why is it slower?"."""

from datetime import UTC, datetime

from bot.commands.compare import relaunch_offer
from bot.core.domain.catalog import LaunchRecord
from bot.core.measuring.explain import Difference


def record(number: int) -> LaunchRecord:
    return LaunchRecord(
        id=f"op{number}", number=number, config="mimo", revision=f"r{number}", host="gpu1", state="ready",
        started_at=datetime(2026, 5, 1, tzinfo=UTC),
    )  # fmt: skip


SPECULATION = Difference(
    kind="speculation", name="speculative_steps", before="3", after="1", weight=81, is_setting=True,
    overrides={"speculative_steps": 3},
)  # fmt: skip
PORT = Difference(kind="flag", name="port", before="30000", after="30001", weight=5, is_setting=True)
DRIVER = Difference(kind="driver", name="driver", before="570", after="580", weight=45)


def test_all_settings_to_blame_the_best_revision_is_offered() -> None:
    offer = relaunch_offer(record(9), record(5), [SPECULATION, DRIVER])
    assert offer["label"] == "Relaunch as in launch #5"
    assert offer["extra"] == {"config": "mimo", "host": "gpu1", "revision": "r5"}


def test_a_setting_that_is_not_to_blame_is_kept() -> None:
    offer = relaunch_offer(record(9), record(5), [SPECULATION, PORT])
    assert offer["label"] == "Relaunch with speculative steps 3"
    assert offer["extra"]["revision"] == "r9"
    assert offer["extra"]["overrides"] == {"speculative_steps": 3}


def test_nothing_that_a_setting_does_the_best_revision_is_offered() -> None:
    assert relaunch_offer(record(9), record(5), [PORT, DRIVER])["extra"]["revision"] == "r5"
