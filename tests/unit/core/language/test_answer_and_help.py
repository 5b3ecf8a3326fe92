"""The JSON of an answer, and what can be said."""

import json

from bot.core.domain.catalog import Catalog
from bot.core.domain.command import ACTIONS, Intent
from bot.core.domain.host import Inventory
from bot.core.language.answer import answer, context_from_json
from bot.core.language.help import topics
from tests.unit.core.language.fleet import fleet, read


def test_an_answer_is_plain_json_with_every_slot() -> None:
    got = json.loads(json.dumps(answer(read("start gemma on node8 with 64k context NCCL_DEBUG=INFO"))))
    assert got["intent"] == "start"
    assert got["overrides"] == {"context_length": 65536, "env": {"NCCL_DEBUG": "INFO"}}
    expected = {
        "model",
        "host",
        "hosts",
        "config",
        "configs",
        "ask",
        "question",
        "candidates",
        "unknown",
        "ignored",
        "note",
    }
    assert expected <= set(got)


def test_a_row_without_a_launch_has_no_context() -> None:
    assert context_from_json(None) is None
    assert context_from_json({"launch": None}) is None
    context = context_from_json({"launch": {"config": "a", "host": "b", "state": "ready", "number": 3}})
    assert context is not None
    assert (context.config, context.launch_number) == ("a", 3)


def test_help_covers_every_intent_and_its_examples_are_understood() -> None:
    found = {topic.intent: topic for topic in topics(*fleet())}
    assert set(found) == set(Intent) - {Intent.NONE}
    context = context_from_json({"launch": {"config": "deepseek-r1-mtp", "host": "dgx-02", "state": "ready"}})
    for intent, topic in found.items():
        assert topic.examples
        for example in topic.examples:
            command = read(example, context if intent in (Intent.CHANGE, Intent.SAVE) else None)
            assert command.intent is intent, example
            assert not (intent in ACTIONS and command.unknown), example


def test_help_of_an_empty_catalog_leaves_out_what_needs_names() -> None:
    assert all("{" not in e for topic in topics(Catalog(), Inventory()) for e in topic.examples)
