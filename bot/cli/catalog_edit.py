"""`relaunch catalog …` that change a config: rename, tag, alias, pin, archive."""

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated

import typer

from bot.cli.wiring import stored
from bot.core.domain.catalog import LaunchConfig
from bot.errors import BadInputError

Remove = Annotated[bool, typer.Option("--remove", help="Take it away again.")]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for command in (rename, tag, alias, pin, archive):
        app.command()(command)


def rename(name: str, new: str) -> None:
    """Give a config another name; its revisions and launches go along."""
    with stored() as app:
        app.ready.catalog.rename(name, new)
    print(f"{name} is {new} now", file=sys.stderr)


def tag(name: str, word: str, remove: Remove = False) -> None:
    """Add a tag, as in "start qwen with stock mtp"."""
    _change(name, lambda config: replace(config, tags=_with(config.tags, word, remove)))


def alias(name: str, word: str, remove: Remove = False) -> None:
    """Add another name for a config."""
    _change(name, lambda config: replace(config, aliases=_with(config.aliases, word, remove)))


def pin(name: str, revision: Annotated[str, typer.Argument(help="Its id, or the beginning of it.")]) -> None:
    """The revision that the config's name means from now on."""

    def pinned(config: LaunchConfig) -> LaunchConfig:
        found = [one.id for one in config.revisions if one.id.startswith(revision)]
        if len(found) != 1:
            known = ", ".join(one.id for one in config.revisions)
            raise BadInputError(f"{name} has {len(found) or 'no'} revisions {revision}", remedy=f"known: {known}")
        return replace(config, pinned=found[0])

    _change(name, pinned)


def archive(name: str, restore: Annotated[bool, typer.Option("--restore", help="Take it back.")] = False) -> None:
    """Leave a config out of lists and suggestions; its history stays."""
    _change(name, lambda config: replace(config, archived=not restore))


def _with(words: tuple[str, ...], word: str, remove: bool) -> tuple[str, ...]:
    kept = tuple(one for one in words if one != word)
    return kept if remove else (*kept, word)


def _change(name: str, change: Callable[[LaunchConfig], LaunchConfig]) -> None:
    with stored() as app:
        config = app.ready.catalog.catalog().configs.get(name)
        if config is None:
            raise BadInputError(f"there is no config {name}", remedy="relaunch catalog list")
        app.ready.catalog.save(change(config))
    print(f"changed {name}", file=sys.stderr)
