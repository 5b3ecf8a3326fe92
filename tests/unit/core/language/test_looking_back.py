"""Questions about what was done and what befell servers, and the time they are about."""

import pytest

from bot.core.domain.command import Intent
from tests.unit.core.language.fleet import read


@pytest.mark.parametrize(
    ("text", "host", "when"),
    [
        ("what failed on dgx-02 yesterday?", "dgx-02", "yesterday"),
        ("what has crashed on node8 last night", "node8", "last night"),
        ("did anything fail on dgx-02 today?", "dgx-02", "today"),
        ("failures on node8 this week", "node8", "this week"),
        ("which models were stopped yesterday evening?", None, "yesterday evening"),
        ("who stopped gemma on node8 this evening?", "node8", "this evening"),
        ("history of node8 since 2026-11-30", "node8", "since 2026-11-30"),
        ("what died on node8", "node8", None),
        ("did gemma crash last night?", None, "last night"),
    ],
)
def test_the_past_is_asked_for(text: str, host: str | None, when: str | None) -> None:
    command = read(text)
    assert (command.intent, command.host, command.when) == (Intent.HISTORY, host, when)


@pytest.mark.parametrize(
    "text", ["what is failing on node8?", "what is running on node8", "show the failures in the log of node8"]
)
def test_what_is_so_now_is_no_history(text: str) -> None:
    assert read(text).intent is not Intent.HISTORY
