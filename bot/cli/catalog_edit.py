"""`relaunch catalog …` that change a config: rename, tag, alias, pin, archive. The same as one can say in Slack."""

from typing import Annotated

import typer
from rich.console import Console

from bot.cli.wiring import me, stored
from bot.core.catalog.edits import EditKind
from bot.core.rendering.render import render
from bot.core.rendering.terminal import render_terminal
from bot.workflows.edit_config import edit_config

Remove = Annotated[bool, typer.Option("--remove", help="Take it away again.")]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for command in (rename, tag, alias, pin, unpin, archive, unarchive):
        app.command()(command)


def rename(name: str, new: str) -> None:
    """Give a config another name; its revisions and launches go along."""
    _edit(name, EditKind.RENAME, new)


def tag(name: str, word: str, remove: Remove = False) -> None:
    """Add a tag, as in "start qwen with stock mtp"."""
    _edit(name, EditKind.UNTAG if remove else EditKind.TAG, word)


def alias(name: str, word: str, remove: Remove = False) -> None:
    """Add another name for a config."""
    _edit(name, EditKind.UNALIAS if remove else EditKind.ALIAS, word)


def pin(
    name: str, revision: Annotated[str, typer.Argument(help="Its number (r12), its id or the beginning of it.")]
) -> None:
    """The revision that the config's name means from now on."""
    _edit(name, EditKind.PIN, revision)


def unpin(name: str) -> None:
    """The name means the best proven revision again."""
    _edit(name, EditKind.UNPIN)


def archive(name: str, restore: Annotated[bool, typer.Option("--restore", help="Take it back.")] = False) -> None:
    """Leave a config out of lists and suggestions; its history stays."""
    _edit(name, EditKind.RESTORE if restore else EditKind.ARCHIVE)


def unarchive(name: str) -> None:
    """Offer an archived config again."""
    _edit(name, EditKind.RESTORE)


def _edit(name: str, kind: EditKind, value: str | None = None) -> None:
    with stored() as app:
        payload = render(edit_config(app.ready, name, kind, value, me(app.settings)), app.templates)
    Console(soft_wrap=True, highlight=False).print(render_terminal(payload), markup=False)
