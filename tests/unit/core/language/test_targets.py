"""Names: near enough is offered, never taken; another number is another name."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.core.domain.catalog import Catalog, LaunchConfig, LaunchRecord
from bot.core.domain.command import Intent, ThreadContext
from bot.core.domain.host import Inventory
from bot.core.language.understand import understand
from tests.unit.core.language.fleet import engines, fleet, read

EAGLE = ThreadContext(config="mistral-24b-eagle", host="node7", state="ready")


@pytest.mark.parametrize("host", ["node9", "node77", "dgx-03", "mini-2", "node07x1"])
def test_another_number_is_another_host(host: str) -> None:
    command = read(f"stop gemma on {host}")
    assert command.ask
    assert command.host is None
    assert host in command.unknown


@pytest.mark.parametrize("name", ["gemma 4 27b", "qwen 32b", "llama 405b", "mistral 7b", "deepseek-v3"])
def test_another_number_is_another_model(name: str) -> None:
    command = read(f"start {name}")
    assert command.ask
    assert command.unknown


@pytest.mark.parametrize(
    ("words", "host"),
    [
        ("NODE7", "node7"),
        ("node 7", "node7"),
        ("ndoe7", "node7"),
        ("dgx", "dgx-02"),
        ("the 3090 box", "mini-1"),
        ("the lab machine", "mini-1"),
    ],
)
def test_hosts_are_found_by_what_people_call_them(words: str, host: str) -> None:
    assert read(f"status of {words}").host == host


def test_unknown_names_come_with_the_nearest_known_ones() -> None:
    command = read("start gemini on node8")
    assert command.ask
    assert "gemma-3-27b" in command.nearest["gemini"]


def test_a_letter_replaced_is_asked_about_and_letters_swapped_are_not() -> None:
    assert read("stop mistrak on node7").question is not None
    assert not read("stop mistrla on node7").ask


def test_candidates_are_at_most_five_and_named() -> None:
    command = read("start mistral")
    assert command.ask
    assert 1 < len(command.candidates) <= 5


def test_a_thread_fills_in_what_is_not_said() -> None:
    command = read("restart it with 2 steps", EAGLE)
    assert (command.intent, command.config, command.host) == (Intent.RESTART, "mistral-24b-eagle", "node7")
    assert next(r.how for r in command.reasons if r.slot == "config") == "thread"


def test_a_thread_never_overrides_what_is_said() -> None:
    command = read("restart gemma on node8", EAGLE)
    assert (command.host, command.model) == ("node8", "Gemma-3-27B-it")


def test_the_trailing_reason_is_kept_as_a_note() -> None:
    command = read("stop kimi on dgx-02 please, we need the cards for a workshop")
    assert command.note == "we need the cards for a workshop"


def test_what_was_not_used_is_said() -> None:
    assert "turbo" in read("start gemma on node8 with turbo stuff").ignored


def _with_history() -> Catalog:
    catalog, _ = fleet()
    base = LaunchRecord(
        id="a",
        number=41,
        config="deepseek-r1-mtp",
        revision=catalog.configs["deepseek-r1-mtp"].latest.id,
        host="dgx-02",
        state="stopped",
        started_at=datetime(2026, 3, 1, tzinfo=UTC),
        ready_after_s=300,
        engine_version="0.5.9",
    )
    plain = replace(
        base,
        id="b",
        number=42,
        config="deepseek-r1-plain",
        started_at=datetime(2026, 3, 9, tzinfo=UTC),
        engine_version="0.5.11",
        revision=catalog.configs["deepseek-r1-plain"].latest.id,
    )
    return replace(catalog, launches=(base, plain))


@pytest.mark.parametrize(
    ("words", "config"),
    [
        ("start deepseek, same as last time", "deepseek-r1-plain"),
        ("start deepseek with what we had before the upgrade", "deepseek-r1-mtp"),
        ("start launch 41", "deepseek-r1-mtp"),
        ("start the fastest deepseek", "deepseek-r1-mtp"),
        ("start the slow deepseek config", "deepseek-r1-plain"),
    ],
)
def test_references_are_resolved_from_history_with_the_reason(words: str, config: str) -> None:
    command = understand(words, _with_history(), fleet()[1], engines=engines())
    assert (command.config, command.ask) == (config, False)
    assert any(r.how == "reference" for r in command.reasons)


def test_a_reference_that_history_does_not_know_is_asked_about() -> None:
    command = read("start deepseek with the config from before the update")
    assert command.question is not None
    assert command.question.code == "no_reference"


def test_an_alias_is_a_name_and_archived_configs_are_not_found() -> None:
    catalog, inventory = fleet()
    assert read("start gem").config == "gemma-3-27b"
    archived: dict[str, LaunchConfig] = {n: replace(c, archived=n == "gemma-3-27b") for n, c in catalog.configs.items()}
    assert understand("start gemma", Catalog(configs=archived), inventory, engines=engines()).ask


def test_an_empty_catalog_is_no_reason_to_fail() -> None:
    command = understand("start gemma on node8 with 64k", Catalog(), Inventory())
    assert command.ask
