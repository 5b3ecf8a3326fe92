"""Changes of a config that touch no revision: its name, tags, aliases, which revision it means, whether it is kept
aside. Revisions and launches stay as they are."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from bot.core.domain.catalog import Catalog, LaunchConfig, Revision
from bot.errors import BadInputError

#: a name is one word, so that it can be said, typed and quoted everywhere
_NAME = re.compile(r"\w[\w.+:-]{0,79}")
#: a tag or an alias may be several words
_WORDS = re.compile(r"\w[\w.+:/ -]{0,79}")


class EditKind(StrEnum):
    """What is changed."""

    RENAME = "rename"
    TAG = "tag"
    UNTAG = "untag"
    ALIAS = "alias"
    UNALIAS = "unalias"
    #: `value` is a revision: "12" or "r12" by its number, else the beginning of its id
    PIN = "pin"
    UNPIN = "unpin"
    ARCHIVE = "archive"
    RESTORE = "restore"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """A config after a change. `already`: it was so before; `value`: what was set, as people are told it."""

    config: LaunchConfig
    value: str | None = None
    already: bool = False


def edited(catalog: Catalog, name: str, kind: EditKind, value: str | None = None) -> Edited:
    """The config with one change. Raises BadInputError for an unknown config, a bad or taken name, an unknown
    revision."""
    config = catalog.configs.get(name)
    if config is None:
        raise BadInputError(f"there is no config {name}", remedy="say “list configs” to see the known ones")
    text = " ".join((value or "").split())
    if kind is EditKind.RENAME:
        return _renamed(catalog, config, text)
    if kind in (EditKind.TAG, EditKind.UNTAG):
        return _tagged(config, text, add=kind is EditKind.TAG)
    if kind in (EditKind.ALIAS, EditKind.UNALIAS):
        return _called(catalog, config, text, add=kind is EditKind.ALIAS)
    if kind is EditKind.PIN:
        revision = find_revision(config, text)
        return Edited(
            config=replace(config, pinned=revision.id), value=revision.id, already=config.pinned == revision.id
        )
    if kind is EditKind.UNPIN:
        return Edited(config=replace(config, pinned=None), value=config.pinned, already=config.pinned is None)
    archived = kind is EditKind.ARCHIVE
    return Edited(config=replace(config, archived=archived), already=config.archived is archived)


def find_revision(config: LaunchConfig, text: str) -> Revision:
    """A revision by its number in the config ("12", "r12", from 1) or by the beginning of its id."""
    number = re.fullmatch(r"[rR#]?(\d{1,5})", text)
    if number and 1 <= int(number[1]) <= len(config.revisions):
        return config.revisions[int(number[1]) - 1]
    found = [one for one in config.revisions if len(text) > 2 and one.id.startswith(text.lower())]
    if len(found) == 1:
        return found[0]
    count = len(config.revisions)
    known = ", ".join(f"{place}: {one.id}" for place, one in list(enumerate(config.revisions, 1))[-8:])
    what = f"{len(found)} revisions that begin with {text}" if found else f"no revision {text or 'without a name'}"
    raise BadInputError(f"{config.name} has {what}", remedy=f"it has {count}; the newest are {known}")


def archived_named(catalog: Catalog, text: str) -> LaunchConfig | None:
    """The archived config that a text names whole, by name or alias, unless it also names one that is offered."""
    words = text.lower()
    found = [one for one in catalog.configs.values() if one.archived and _says(words, one)]
    offered = [one for one in catalog.configs.values() if not one.archived and _says(words, one)]
    return found[0] if len(found) == 1 and not offered else None


def _says(words: str, config: LaunchConfig) -> bool:
    return any(
        re.search(rf"(?<![\w.-]){re.escape(name.lower())}(?![\w-]|\.\w)", words)
        for name in (config.name, *config.aliases)
    )


def _renamed(catalog: Catalog, config: LaunchConfig, new: str) -> Edited:
    if new == config.name:
        return Edited(config=config, value=new, already=True)
    if not _NAME.fullmatch(new):
        proposed = re.sub(r"[^\w.+:]+", "-", new).strip("-.")[:80]
        raise BadInputError(
            f"“{new}” cannot be a config's name", remedy=f"a name is one word; {proposed or 'qwen-fast'} would do"
        )
    _free(catalog, config, new)
    aliases = tuple(one for one in config.aliases if one.lower() != new.lower())
    return Edited(config=replace(config, name=new, aliases=aliases), value=new)


def _tagged(config: LaunchConfig, tag: str, *, add: bool) -> Edited:
    there = [one for one in config.tags if one.lower() == tag.lower()]
    if add:
        _check_words(tag, "tag")
        tags = config.tags if there else (*config.tags, tag)
    else:
        if not there:
            raise BadInputError(f"{config.name} has no tag {tag}", remedy=_has("its tags are", config.tags))
        tags = tuple(one for one in config.tags if one not in there)
    return Edited(config=replace(config, tags=tags), value=tag, already=add and bool(there))


def _called(catalog: Catalog, config: LaunchConfig, alias: str, *, add: bool) -> Edited:
    there = [one for one in config.aliases if one.lower() == alias.lower()]
    if add:
        _check_words(alias, "alias")
        if not there:
            _free(catalog, config, alias)
        aliases = config.aliases if there else (*config.aliases, alias)
    else:
        if not there:
            raise BadInputError(f"{config.name} has no alias {alias}", remedy=_has("it is called", config.aliases))
        aliases = tuple(one for one in config.aliases if one not in there)
    return Edited(config=replace(config, aliases=aliases), value=alias, already=add and bool(there))


def _free(catalog: Catalog, config: LaunchConfig, name: str) -> None:
    for other in catalog.configs.values():
        if other.name == config.name and name.lower() != config.name.lower():
            continue
        taken = next((one for one in (other.name, *other.aliases) if one.lower() == name.lower()), None)
        if taken is None or (other.name == config.name and taken != name):
            continue
        note = " (archived)" if other.archived else ""
        called = "" if taken == other.name else f", another name of {other.name}"
        raise BadInputError(f"{taken}{called} is taken{note}", remedy="choose another name")


def _check_words(text: str, what: str) -> None:
    if not _WORDS.fullmatch(text):
        raise BadInputError(f"“{text}” cannot be {'an' if what == 'alias' else 'a'} {what}", remedy="use a few words")


def _has(words: str, names: tuple[str, ...]) -> str:
    return f"{words} {', '.join(names)}" if names else "it has none"
