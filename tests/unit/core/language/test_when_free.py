"""A start may wait for its GPUs, once that is confirmed; no other condition and no other action does."""

import pytest

from bot.core.domain.command import Intent
from tests.unit.core.language.fleet import read


@pytest.mark.parametrize(
    "text",
    [
        "start gemma on node8 when the gpus are free",
        "start gemma on node8 when free",
        "please launch gemma on node8 once the cards are free",
        "start gemma on node8 as soon as its GPUs are available",
        "start gemma on node8, when the GPUs are idle",
    ],
)
def test_a_start_waits(text: str) -> None:
    command = read(text)
    assert (command.intent, command.config, command.host) == (Intent.START, "gemma-3-27b", "node8")
    assert command.when_free
    # it happens when nobody may be looking, so it is confirmed first
    assert command.question is not None
    assert (command.ask, command.question.code) == (True, "confirm_wait")


@pytest.mark.parametrize(
    "text",
    [
        "start gemma on node8 if the gpus are free",
        "start gemma on node8 when the training is done",
        "start gemma on node8 when the gpus are not free",
        "stop gemma on node8 when the gpus are free",
        "restart gemma on node8 once the cards are free",
        "start kimi only if node8 is idle",
        "don't start gemma on node8 when the gpus are free",
    ],
)
def test_nothing_else_does(text: str) -> None:
    command = read(text)
    assert command.intent is Intent.NONE
    assert not command.when_free


def test_a_plain_start_does_not_wait() -> None:
    assert not read("start gemma on node8").when_free
