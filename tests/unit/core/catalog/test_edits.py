"""Changes of a config that touch no revision."""

from dataclasses import replace

import pytest

from bot.core.catalog.edits import EditKind, archived_named, edited
from bot.core.domain.catalog import Catalog, LaunchConfig, Revision
from bot.errors import BadInputError


def _revision(port: int) -> Revision:
    return Revision(engine="vllm", model="M", argv=("vllm", "serve", "M", "--port", str(port)))


FAST = LaunchConfig(
    name="fast", revisions=tuple(map(_revision, (1, 2, 3))), aliases=("quick one",), tags=("prod",), host="h"
)
OLD = LaunchConfig(name="fast-old", revisions=(_revision(9),), archived=True, aliases=("grandpa",))
CATALOG = Catalog(configs={"fast": FAST, "fast-old": OLD})


def test_rename_keeps_all_but_the_name() -> None:
    assert edited(CATALOG, "fast", EditKind.RENAME, "faster").config == replace(FAST, name="faster")


def test_rename_to_an_own_alias_takes_the_alias_away() -> None:
    config = replace(FAST, aliases=("swift", "other"))
    found = edited(Catalog(configs={"fast": config}), "fast", EditKind.RENAME, "swift").config
    assert (found.name, found.aliases) == ("swift", ("other",))


def test_only_the_case_may_be_renamed() -> None:
    assert edited(CATALOG, "fast", EditKind.RENAME, "Fast").config.name == "Fast"


@pytest.mark.parametrize("name", ["fast-old", "GRANDPA", "two words", "", "-rf", "a\nb c"])
def test_a_bad_or_taken_name_is_refused(name: str) -> None:
    with pytest.raises(BadInputError):
        edited(CATALOG, "fast", EditKind.RENAME, name)


def test_tags_and_aliases_come_and_go_once() -> None:
    tagged = edited(CATALOG, "fast", EditKind.TAG, "no mtp").config
    assert tagged.tags == ("prod", "no mtp")
    assert edited(CATALOG, "fast", EditKind.TAG, "PROD").already
    assert edited(CATALOG, "fast", EditKind.UNTAG, "prod").config.tags == ()
    assert edited(CATALOG, "fast", EditKind.ALIAS, "swift").config.aliases == ("quick one", "swift")
    assert edited(CATALOG, "fast", EditKind.UNALIAS, "quick one").config.aliases == ()
    with pytest.raises(BadInputError):
        edited(CATALOG, "fast", EditKind.UNTAG, "eval")
    with pytest.raises(BadInputError):
        edited(CATALOG, "fast", EditKind.ALIAS, "grandpa")


@pytest.mark.parametrize("text", ["2", "r2", "#2", FAST.revisions[1].id, FAST.revisions[1].id[:6].upper()])
def test_revision_by_number_or_beginning_of_its_id(text: str) -> None:
    assert edited(CATALOG, "fast", EditKind.PIN, text).config.pinned == FAST.revisions[1].id


@pytest.mark.parametrize("text", ["0", "r4", "zz", ""])
def test_unknown_revision_is_refused_with_the_known_ones(text: str) -> None:
    with pytest.raises(BadInputError) as error:
        edited(CATALOG, "fast", EditKind.PIN, text)
    assert FAST.revisions[2].id in error.value.remedy


def test_unpin_archive_and_restore() -> None:
    pinned = Catalog(configs={"fast": replace(FAST, pinned=FAST.revisions[0].id)})
    assert edited(pinned, "fast", EditKind.UNPIN).config.pinned is None
    assert edited(CATALOG, "fast", EditKind.ARCHIVE).config.archived
    assert edited(CATALOG, "fast-old", EditKind.ARCHIVE).already
    assert not edited(CATALOG, "fast-old", EditKind.RESTORE).config.archived


@pytest.mark.parametrize("text", ["start fast-old on h", "Start FAST-OLD, please.", "run grandpa"])
def test_text_that_names_an_archived_config_whole(text: str) -> None:
    assert archived_named(CATALOG, text) == OLD


@pytest.mark.parametrize("text", ["start fast on h", "start fast-older", "start old", "compare fast and fast-old"])
def test_text_that_does_not(text: str) -> None:
    assert archived_named(CATALOG, text) is None
