"""Greetings, thanks, and questions for a cause, told from everything else."""

import pytest

from bot.core.language.failures import asks_why_it_failed
from bot.core.language.small_talk import SmallTalk, small_talk


@pytest.mark.parametrize("text", ["hi", "Hello!", "hey there", "good morning everyone", "👋 hi", "Hi, Relaunch"])
def test_a_greeting(text: str):
    assert small_talk(text) is SmallTalk.HELLO


@pytest.mark.parametrize("text", ["thanks!", "Thank you so much", "ok thx", "great job", "perfect, thanks"])
def test_thanks(text: str):
    assert small_talk(text) is SmallTalk.THANKS


@pytest.mark.parametrize(
    "text", ["", "hi, stop qwen", "thanks, now restart it", "status", "good config", "hello world"]
)
def test_anything_else(text: str):
    assert small_talk(text) is None


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("why did it fail?", True),
        ("what went wrong on gpu7?", True),
        ("why won't it start?", True),
        ("how come small died", True),
        ("what happened to small?", True),
        ("show me the log of the failed one", False),
        ("why is it slow?", False),
        ("logs of small", False),
    ],
)
def test_a_question_for_the_cause(text: str, asked: bool):
    assert asks_why_it_failed(text) is asked
