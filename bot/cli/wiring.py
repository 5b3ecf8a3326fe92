"""Opening the app for a command, closing it after."""

import getpass
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bot.app import App, set_up_logging
from bot.core.domain.operation import Actor
from bot.errors import PermanentError
from bot.settings import Settings, load
from bot.workflows.services import Services


@contextmanager
def opened(settings: Settings | None = None, *, migrate: bool = True) -> Iterator[App]:
    """The app, open. Where a bot already works on the same SQLite file, runs are submitted to it."""
    chosen = settings or load()
    set_up_logging(chosen)
    app = App(chosen)
    try:
        if migrate:
            app.database.migrate()
        try:
            app.open()
        except PermanentError as error:
            if "another process" not in error.message:
                raise
            app.open(work=False)
        yield app
    finally:
        app.close()


@contextmanager
def stored(settings: Settings | None = None) -> Iterator[App]:
    """The app with its database only: nothing is carried out."""
    chosen = settings or load()
    set_up_logging(chosen)
    app = App(chosen)
    try:
        app.database.migrate()
        app.open(work=False)
        yield app
    finally:
        app.close()


def services_of(app: App) -> Services:
    """The services of an open app."""
    return app.ready


def me() -> Actor:
    """The person at the terminal."""
    return Actor(id=f"cli:{getpass.getuser()}", name=getpass.getuser())


def print_json(value: Any) -> None:
    """One JSON document on stdout."""
    json.dump(value, sys.stdout, indent=2, ensure_ascii=False, default=str)
    sys.stdout.write("\n")
