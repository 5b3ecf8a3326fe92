"""A speed beside a higher one from before is a question why."""

import pytest

from bot.core.domain.command import Intent, ThreadContext
from bot.core.language import slowdown
from tests.unit.core.language.fleet import read

_THREAD = ThreadContext(config="mistral-24b-eagle", host="node7", state="ready")


@pytest.mark.parametrize(
    "text",
    [
        "we're at only 40 tok/s, were around 70 before",
        "only 31 tok/s now, was 58",
        "it dropped from 70 to 40 tok/s",
        "hm 22 tps instead of 61 tps",
    ],
)
def test_slower_than_before_is_a_comparison(text: str) -> None:
    assert read(text, _THREAD).intent is Intent.COMPARE
    assert read(text).intent is Intent.NONE


@pytest.mark.parametrize(
    "text",
    ["nice, 57 tok/s", "70 tok/s now, was 40 before", "we had 2 gpus before, now 1", "it was 40 tok/s", "70, was 90"],
)
def test_other_speeds_are_talk(text: str) -> None:
    assert not slowdown.told(text)
