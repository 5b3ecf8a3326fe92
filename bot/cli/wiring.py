"""Opening the app for a command, closing it after."""

import getpass
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bot.core.domain.operation import Actor
from bot.errors import PermanentError
from bot.settings import Settings, load

if TYPE_CHECKING:
    from bot.app import App


def make_app(settings: Settings) -> "App":
    """An app that is not open yet, with logging set up.

    Loading everything takes a good part of a second, and many commands need none of it."""
    from bot.app import App, set_up_logging

    set_up_logging(settings)
    return App(settings)


@contextmanager
def opened(settings: Settings | None = None, *, migrate: bool = True) -> "Iterator[App]":
    """The app, open. Where a bot already works on the same SQLite file, runs are submitted to it."""
    app = make_app(_for_terminal(settings or load()))
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
def stored(settings: Settings | None = None) -> "Iterator[App]":
    """The app with its database only: nothing is carried out."""
    app = make_app(_for_terminal(settings or load()))
    try:
        app.database.migrate()
        app.open(work=False)
        yield app
    finally:
        app.close()


def _for_terminal(settings: Settings) -> Settings:
    """What a person at the terminal is told is the answer itself, not the log of it."""
    return settings.model_copy(update={"log_level": "WARNING"}) if settings.log_level == "INFO" else settings


def me(settings: Settings) -> Actor:
    """The person at the terminal."""
    name = getpass.getuser()
    return Actor(id=f"cli:{name}", name=name, time_zone=settings.time_zone)


def print_json(value: Any) -> None:
    """One JSON document on stdout."""
    json.dump(value, sys.stdout, indent=2, ensure_ascii=False, default=str)
    sys.stdout.write("\n")
