"""Long-running commands: run, web, practice; and migrate, check."""

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.wiring import make_app
from bot.errors import PermanentError, SettingsError
from bot.settings import Settings, load

if TYPE_CHECKING:
    from bot.app import App


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command()(run)
    app.command()(web)
    app.command()(practice)
    app.command()(migrate)
    app.command()(check)


def run() -> None:
    """The bot over Socket Mode. Ends at SIGTERM; what runs is carried on by the next process."""
    settings = load()
    _need(settings, "slack_bot_token", "slack_app_token")
    listen(make_app(settings))


def listen(app: "App") -> None:
    """Listen and work until a signal; closes the app."""
    with _closing(app):
        slack = app.slack()
        app.open(slack=slack.messenger)
        slack.listen(app.inbox())
        _until_signal()


def web(
    host: Annotated[str | None, typer.Option(help="Address to bind.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to bind.")] = None,
) -> None:
    """The bot over HTTP with request signatures, with /healthz and /metrics."""
    settings = load()
    _need(settings, "slack_bot_token", "slack_signing_secret")
    from bot.cli.web import web_server

    with _closing(make_app(settings)) as app:
        slack = app.slack()
        app.open(slack=slack.messenger)
        place = host or settings.web_host, settings.web_port if port is None else port
        server = web_server(app, slack.answer(app.inbox()), *place)
        threading.Thread(target=server.serve_forever, name="web", daemon=True).start()
        print(f"listening on http://{server.server_name}:{server.server_port}", file=sys.stderr)
        _until_signal()
        server.shutdown()


@contextlib.contextmanager
def _closing(app: "App") -> "Iterator[App]":
    try:
        yield app
    finally:
        app.close()


def _need(settings: Settings, *names: str) -> None:
    missing = [f"RELAUNCH_{name.upper()} is not set" for name in names if getattr(settings, name) is None]
    if missing:
        raise SettingsError(missing)


def _until_signal() -> None:
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    ended.wait()


def migrate() -> None:
    """Bring the database to the newest schema."""
    app = make_app(load())
    try:
        app.database.migrate()
    finally:
        app.close()
    print("the database is up to date", file=sys.stderr)


def practice(
    port: Annotated[int, typer.Option(help="Port of the page; 0 picks one.")] = 8765,
    data: Annotated[Path | None, typer.Option(help="Folder for its state; default: a temporary one.")] = None,
    start_s: Annotated[float, typer.Option(help="Seconds from a server's start to ready.")] = 10.0,
) -> None:
    """Everything on this machine: a practice workspace, practice hosts, and the real bot."""
    try:
        from bot.practice.run import run as start_practice
    except ImportError as error:
        raise PermanentError(f"the practice needs {error.name}", remedy='pip install "relaunch[practice]"') from error
    from bot.cli.practice_bot import practice_bot

    with start_practice(port, data, start_s=start_s) as running, practice_bot(running):
        print(f"\n  Open {running.url}\n\n  Type the first suggested sentence there. Ctrl-C ends it.\n", flush=True)
        _until_signal()


def check(
    offline: Annotated[bool, typer.Option(help="Settings and database only; asks neither Slack nor hosts.")] = False,
) -> None:
    """Check settings, tokens and scopes, database, hosts and host keys; every fault at once, with the remedy."""
    from bot.cli.checking import faults_of

    try:
        settings = load()
    except SettingsError as error:
        for fault in error.faults:
            print(f"fault: {fault}", file=sys.stderr)
        raise typer.Exit(1) from None
    found = faults_of(settings, offline=offline)
    for line in found:
        print(f"fault: {line}", file=sys.stderr)
    if found:
        raise typer.Exit(1)
    print("no fault found", file=sys.stderr)
