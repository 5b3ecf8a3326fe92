"""Changes of the catalog in words."""

import pytest

from bot.core.domain.command import Intent, ThreadContext
from tests.unit.core.language.fleet import read

EAGLE = ThreadContext(config="mistral-24b-eagle", host="node7", state="ready")


@pytest.mark.parametrize(
    ("text", "kind", "config", "value"),
    [
        ("rename gemma-3-27b to gemma-fast", "rename", "gemma-3-27b", "gemma-fast"),
        ("could you please rename gemma to gemma-fast?", "rename", "gemma-3-27b", "gemma-fast"),
        ("tag gemma-3-27b as prod", "tag", "gemma-3-27b", "prod"),
        ("tag gemma-3-27b prod", "tag", "gemma-3-27b", "prod"),
        ("add the tag long context to gemma-3-27b", "tag", "gemma-3-27b", "long context"),
        ("untag prod from gemma-3-27b", "untag", "gemma-3-27b", "prod"),
        ("remove the tag prod from gemma-3-27b please", "untag", "gemma-3-27b", "prod"),
        ("alias gemma-3-27b as Big", "alias", "gemma-3-27b", "Big"),
        ("pin revision r12 of gemma-3-27b", "pin", "gemma-3-27b", "r12"),
        ("pin gemma-3-27b to revision 3f2a9c", "pin", "gemma-3-27b", "3f2a9c"),
        ("pin gemma-3-27b", "pin", "gemma-3-27b", None),
        ("unpin gemma-3-27b", "unpin", "gemma-3-27b", None),
        ("archive the old gemma config", "archive", "gemma-3-27b", None),
        ("unarchive gemma-3-27b", "restore", "gemma-3-27b", None),
        ("bring gemma-3-27b back from the archive", "restore", "gemma-3-27b", None),
    ],
)
def test_change_with_its_config_and_value(text: str, kind: str, config: str, value: str | None) -> None:
    command = read(text)
    assert (command.intent, command.save_as, command.config, command.name) == (Intent.SAVE, kind, config, value)
    assert not command.ask


def test_several_configs_are_asked_about() -> None:
    command = read("archive the mistral config")
    assert command.question is not None
    assert command.question.code == "which_config"
    assert len(command.candidates) > 1


def test_unknown_config_is_never_replaced_by_a_known_one() -> None:
    command = read("archive falcon-180b")
    assert command.ask
    assert command.config is None
    assert command.candidates == ()


def test_thread_names_the_config_where_the_sentence_only_points() -> None:
    command = read("archive this config", EAGLE)
    assert (command.save_as, command.config, command.ask) == ("archive", "mistral-24b-eagle", False)


def test_a_named_config_wins_over_the_thread() -> None:
    command = read("tag gemma-3-27b as prod", EAGLE)
    assert command.config == "gemma-3-27b"


@pytest.mark.parametrize("text", ["don't archive gemma-3-27b", "I archived gemma-3-27b yesterday"])
def test_what_is_denied_or_told_changes_nothing(text: str) -> None:
    assert read(text).intent is not Intent.SAVE


@pytest.mark.parametrize(("text", "intent"), [("remove gemma-3-27b", Intent.STOP), ("restore gemma", Intent.START)])
def test_verbs_of_servers_stay_what_they_are(text: str, intent: Intent) -> None:
    assert read(text).intent is intent
