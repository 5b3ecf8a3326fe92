"""What `relaunch check` looks at."""

import sys
from collections.abc import Iterator

from slack_sdk.errors import SlackApiError

from bot.adapters.slack.web_api import web_client
from bot.app import App
from bot.cli.wiring import make_app
from bot.errors import HostKeyError, RelaunchError
from bot.settings import Settings, unknown_variables
from bot.workflows.look import look_everywhere

#: scopes that the manifest asks for and the bot cannot do without
_NEEDED_SCOPES = ("app_mentions:read", "chat:write", "commands", "im:history", "users:read")


def faults_of(settings: Settings, *, offline: bool) -> list[str]:
    """Every fault with its remedy, a line each."""
    app = make_app(settings)
    try:
        found = [*_database(app), *_settings(settings)]
        if offline:
            return found
        found += _slack(settings)
        try:
            app.open(work=False)
        except RelaunchError:
            # the database's fault is told already
            return found
        return [*found, *_hosts(app)]
    finally:
        app.close()


def _database(app: App) -> Iterator[str]:
    try:
        app.database.require_current()
    except RelaunchError as error:
        yield _line(error)


def _settings(settings: Settings) -> Iterator[str]:
    for name in unknown_variables():
        yield f"{name} is no setting → docs/settings.md lists them"
    if settings.slack_bot_token is None:
        yield "RELAUNCH_SLACK_BOT_TOKEN is not set → create the app from manifest.yaml and copy its bot token (xoxb-…)"
    if settings.slack_app_token is None and settings.slack_signing_secret is None:
        yield (
            "neither RELAUNCH_SLACK_APP_TOKEN (Socket Mode) nor RELAUNCH_SLACK_SIGNING_SECRET (HTTP) is set → make an "
            "app-level token with the scope connections:write (xapp-…)"
        )
    if not settings.access.administrators:
        yield "nobody administers: access.administrators is empty → put your Slack user id there (U…)"


def _slack(settings: Settings) -> Iterator[str]:
    if settings.slack_bot_token is None:
        return
    client = web_client(settings.slack_bot_token.get_secret_value(), settings.slack_api_url)
    try:
        answer = client.auth_test()
    except SlackApiError as error:
        yield f"Slack refuses the bot token: {error.response['error']} → install the app again and copy its bot token"
    except OSError as error:
        yield f"Slack cannot be reached: {error} → check the network and the proxy"
    else:
        granted = set(str(answer.headers.get("x-oauth-scopes", "")).split(","))
        missing = [scope for scope in _NEEDED_SCOPES if scope not in granted]
        if missing:
            yield f"the bot token lacks {', '.join(missing)} → paste manifest.yaml again and reinstall the app"


def _hosts(app: App) -> Iterator[str]:
    hosts = app.ready.hosts.inventory().hosts
    if not hosts:
        print("no host is known yet: relaunch hosts add NAME ADDRESS", file=sys.stderr)
    for name, seen in look_everywhere(app.ready, hosts.values(), only=("uptime",)).items():
        if isinstance(seen, HostKeyError):
            yield f"{name}: {seen.message} → {seen.remedy or f'relaunch hosts trust {name}'}"
        elif isinstance(seen, RelaunchError):
            line = _line(seen)
            yield line if line.startswith(f"{name}:") else f"{name}: {line}"


def _line(error: RelaunchError) -> str:
    return f"{error.message} → {error.remedy}" if error.remedy else error.message
