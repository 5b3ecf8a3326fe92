"""Settings said by what they were are computed from the config, or asked about."""

from typing import Any

import pytest

from bot.core.domain.command import Intent, ThreadContext
from tests.unit.core.language.fleet import read

_THREAD = ThreadContext(config="mistral-24b-eagle", host="node7", state="ready")


@pytest.mark.parametrize(
    ("text", "overrides"),
    [
        ("double the context", {"context_length": 131072}),
        ("half the context please", {"context_length": 32768}),
        ("twice as much context", {"context_length": 131072}),
        ("one more step", {"speculative_steps": 4}),
        ("same but 2 draft tokens less", {"speculative_draft_tokens": 2}),
        ("increase the context by 16k", {"context_length": 81920}),
        ("another draft token", {"speculative_draft_tokens": 5}),
    ],
)
def test_a_change_by_an_amount_starts_from_the_threads_config(text: str, overrides: dict[str, Any]) -> None:
    command = read(text, _THREAD)
    assert (command.intent, command.ask) == (Intent.CHANGE, False)
    assert dict(command.overrides) == overrides


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("restart gemma on node8 with double the context", "no_base"),
        ("restart mistral-24b-eagle with half the steps", "bad_value"),
        ("restart mistral-24b-eagle with more context", "no_value"),
        ("start mistral-24b-eagle without --speculative-num-steps", "negated_flag"),
    ],
)
def test_what_cannot_be_computed_is_asked(text: str, code: str) -> None:
    command = read(text)
    assert command.ask
    assert command.question is not None
    assert command.question.code == code


def test_a_time_limit_is_said_to_be_ignored() -> None:
    command = read("start gemma for 2 hours")
    assert (command.config, command.ask) == ("gemma-3-27b", False)
    assert command.ignored == ("for 2 hours",)
