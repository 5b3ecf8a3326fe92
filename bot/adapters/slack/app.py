"""The Bolt app, over Socket Mode or HTTP."""

import logging
import os
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import structlog
from slack_bolt import App, BoltRequest
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk.web import WebClient

from bot.adapters.slack import web_api
from bot.adapters.slack.decode import Identity
from bot.adapters.slack.listeners import Edge, register
from bot.adapters.slack.messenger import Posts, SlackMessenger
from bot.adapters.slack.people import SlackPeople
from bot.adapters.slack.web_api import SlackError
from bot.core.domain.message import Message, Payload
from bot.errors import PermanentError, SettingsError
from bot.workflows.inbox import Inbox
from bot.workflows.ports import Clock

_log = structlog.get_logger()
_STAMP = re.compile(r"[0-9]{1,12}")
_SIGNATURE = re.compile(r"v0=[0-9a-f]{64}")

#: fewer would let a slow users.info hold up other people's clicks past Slack's 3 seconds
LISTENER_THREADS = 24


@dataclass(frozen=True, kw_only=True)
class SlackSettings:
    """How to reach Slack. Secrets are not part of the repr."""

    bot_token: str = field(repr=False)
    #: xapp-…, for Socket Mode
    app_token: str | None = field(default=None, repr=False)
    #: for HTTP
    signing_secret: str | None = field(default=None, repr=False)
    api_url: str = "https://slack.com/api/"
    #: our workspace (T…); None: the one of the token
    team: str | None = None
    #: user groups that access is given to
    groups: frozenset[str] = frozenset()
    #: of people whose zone Slack does not tell
    time_zone: str = "UTC"


class Slack:
    """The connection to one workspace: messenger and people at once, listening from `listen` or `answer` on.

    Making one asks Slack who we are; raises SlackError when the token is not accepted, SettingsError when it belongs to
    another workspace than the settings say.
    """

    def __init__(
        self, settings: SlackSettings, *, posts: Posts, clock: Clock, render: Callable[[Message], Payload]
    ) -> None:
        self._settings = settings
        self._clock = clock
        self.client: WebClient = web_api.web_client(settings.bot_token, settings.api_url)
        self.me = _identify(self.client, clock, settings)
        self.messenger = SlackMessenger(self.client, posts, clock, render)
        self.people = SlackPeople(
            self.client, clock, team=self.me.team, groups=settings.groups, time_zone=settings.time_zone
        )
        self._executor: ThreadPoolExecutor | None = None
        self._handler: SocketModeHandler | None = None

    def app(self, inbox: Inbox) -> App:
        """A Bolt app whose listeners hand everything to the inbox."""
        if {"SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET"} <= set(os.environ):
            # Bolt would then switch to OAuth and drop the token without a word
            raise SettingsError(["SLACK_CLIENT_ID and SLACK_CLIENT_SECRET are set; unset them, Relaunch needs neither"])
        self._executor = ThreadPoolExecutor(LISTENER_THREADS, thread_name_prefix="slack-listener")
        app = App(
            client=self.client,
            signing_secret=self._settings.signing_secret or "unused-over-socket-mode",
            # the acknowledgement goes out when the listener returns, which is when the request is stored
            process_before_response=True,
            logger=_quiet_logger(),
        )
        edge = Edge(
            me=self.me,
            inbox=inbox,
            people=self.people,
            messenger=self.messenger,
            in_channel=self._in_channel,
            executor=self._executor,
        )
        register(app, edge)
        return app

    def listen(self, inbox: Inbox) -> None:
        """Connect over Socket Mode and return; requests arrive on threads from now on."""
        if not self._settings.app_token:
            raise SettingsError(["slack_app_token is missing; Socket Mode needs one (xapp-…, scope connections:write)"])
        self._handler = SocketModeHandler(self.app(inbox), self._settings.app_token, concurrency=LISTENER_THREADS)
        self._handler.connect()  # type: ignore[no-untyped-call]  # Bolt leaves it untyped

    def answer(self, inbox: Inbox) -> "HttpEdge":
        """The HTTP side: give it each POST of Slack."""
        if not self._settings.signing_secret:
            raise SettingsError(["slack_signing_secret is missing; without it anyone could pose as Slack"])
        return HttpEdge(self.app(inbox))

    @property
    def connected(self) -> bool:
        """Whether a Socket Mode connection is open."""
        return self._handler is not None and bool(self._handler.client.is_connected())

    def close(self) -> None:
        """Stop listening and sending."""
        if self._handler is not None:
            self._handler.close()  # type: ignore[no-untyped-call]  # Bolt leaves it untyped
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)
        self.messenger.close()

    def _in_channel(self, channel: str) -> bool:
        """Whether we can post there. A channel that Slack does not show us is one that we are not in; so is a direct
        message, which may be one between other people."""
        if channel.startswith("D"):
            return False
        try:
            answer = web_api.call(self.client.conversations_info, self._clock, channel=channel)
        except SlackError as error:
            if error.code in ("channel_not_found", "missing_scope"):
                return False
            raise
        found = answer.get("channel") or {}
        return bool(found.get("is_member")) and not found.get("is_archived")


@dataclass(frozen=True)
class HttpAnswer:
    """What Slack is answered."""

    status: int
    headers: Mapping[str, str]
    body: str


class HttpEdge:
    """Requests of Slack over HTTP. The signature over the raw body and its age are checked before anything else."""

    def __init__(self, app: App) -> None:
        self._app = app

    def handle(self, body: bytes, headers: Mapping[str, str]) -> HttpAnswer:
        """Answer one POST."""
        by_name = {name.lower(): value for name, value in headers.items()}
        # Bolt raises for what is no number or no ASCII here
        if not _STAMP.fullmatch(by_name.get("x-slack-request-timestamp", "")) or not _SIGNATURE.fullmatch(
            by_name.get("x-slack-signature", "")
        ):
            return HttpAnswer(401, {}, "not signed")
        try:
            text = body.decode("utf-8")
        except UnicodeDecodeError:
            return HttpAnswer(400, {}, "not UTF-8")
        try:
            request = BoltRequest(body=text, headers={name: [value] for name, value in headers.items()})
            answer = self._app.dispatch(request)
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            # Bolt raises for headers and bodies that Slack never sends; who sends them learns nothing
            _log.info("not a request of Slack", error=type(error).__name__)
            return HttpAnswer(400, {}, "not a request of Slack")
        shown = {name: ", ".join(map(str, values)) for name, values in answer.headers.items()}
        return HttpAnswer(answer.status, shown, answer.body or "")


def _identify(client: WebClient, clock: Clock, settings: SlackSettings) -> Identity:
    answer = web_api.call(client.auth_test, clock)
    team = str(answer.get("team_id") or "")
    if settings.team and settings.team != team:
        raise SettingsError([f"slack_team_id is {settings.team}, but the bot token belongs to {team}"])
    if not answer.get("bot_id"):
        raise PermanentError("the Slack token is no bot's", remedy="use the bot token (xoxb-…)")
    enterprise = answer.get("enterprise_id")
    return Identity(
        team=team,
        user=str(answer["user_id"]),
        bot=str(answer["bot_id"]),
        enterprise=str(enterprise) if enterprise else None,
    )


def _quiet_logger() -> logging.Logger:
    """Bolt's logger, never at DEBUG: there it writes whole payloads with response_url and trigger_id."""
    logger = logging.getLogger("bot.adapters.slack.bolt")
    logger.setLevel(max(logging.INFO, logger.level))
    return logger
