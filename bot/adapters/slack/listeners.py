"""Listeners: check, hand over to the inbox, and let Slack have its acknowledgement. None of them works.

Slack delivers again what was not acknowledged, and never what was: a request is acknowledged once the inbox has stored
it, so that one which arrives as the process dies is not lost. Slack waits for 3 s only; where a person cannot be looked
up that fast, the request is acknowledged before it is stored.

Bolt loses an acknowledgement when the listener raises right after it (facts measured with 1.30), and sends none for a
request that no listener wants. So every listener raises nothing, and sinks come last.
"""

import re
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, wait
from dataclasses import dataclass, replace
from typing import Any

import structlog
from slack_bolt import Ack, App

from bot.adapters.slack import decode
from bot.adapters.slack.decode import Heard, Identity, Ignored, Pressed
from bot.adapters.slack.errors import explain
from bot.adapters.slack.messenger import SlackMessenger
from bot.core.domain.button import ButtonValue, ButtonValueError
from bot.core.domain.message import Conversation, Posted
from bot.core.domain.operation import Actor
from bot.errors import RelaunchError
from bot.workflows.inbox import Inbox, People

_log = structlog.get_logger()
_ANYTHING = re.compile(r".*", re.DOTALL)
Body = Mapping[str, Any]

#: our slash command
COMMAND = "/relaunch"
#: buttons of the App Home
HOME_REFRESH, HOME_HEALTH = "home_refresh", "home_health"
#: an acknowledgement waits this long for the request to be stored; Slack gives up after 3 s
_STORED_WITHIN_S = 2.0


@dataclass(frozen=True, kw_only=True)
class Edge:
    """What listeners need. `in_channel` says whether we can post in a channel (asks Slack); requests are handed over on
    threads of `executor`."""

    me: Identity
    inbox: Inbox
    people: People
    messenger: SlackMessenger
    in_channel: Callable[[str], bool]
    executor: Executor

    def heard(self, heard: Heard) -> None:
        """Hand over what a person said."""
        conversation = Conversation(channel=heard.channel, thread_ts=heard.thread_ts, new=heard.new)
        with_actor = self._guarded(heard.user, conversation)
        with_actor(lambda actor: self.inbox.message(heard.request_id, actor, conversation, heard.text))

    def commanded(self, heard: Heard) -> None:
        """Hand over a slash command, unless the answer could not be posted where it was used."""
        conversation = Conversation(channel=heard.channel)

        def hand_over(actor: Actor) -> None:
            if not self.in_channel(heard.channel):
                # nothing can be posted there: answer, and go on, in the direct message
                direct = Conversation(channel=actor.id)
                self.inbox.message(heard.request_id, actor, direct, heard.text)
                return
            self.inbox.message(heard.request_id, actor, conversation, heard.text)

        self._guarded(heard.user, conversation)(hand_over)

    def pressed(self, pressed: Pressed) -> None:
        """Hand over a click."""
        if not pressed.channel:
            self._pressed_home(pressed)
            return
        conversation = Conversation(channel=pressed.channel, thread_ts=pressed.thread_ts)
        if pressed.thread_ts is None and not conversation.direct:
            conversation = replace(conversation, thread_ts=pressed.message_ts, new=True)
        posted = Posted(channel=pressed.channel, ts=pressed.message_ts, thread_ts=pressed.thread_ts)

        def hand_over(actor: Actor) -> None:
            try:
                value = ButtonValue.decode(pressed.value)
            except ButtonValueError as error:
                _log.info("button of another kind or version", action=pressed.action_id, reason=str(error))
                self.inbox.old_button(pressed.request_id, actor, conversation, posted)
                return
            self.inbox.action(pressed.request_id, actor, conversation, posted, value)

        self._guarded(pressed.user, conversation)(hand_over)

    def _pressed_home(self, pressed: Pressed) -> None:
        def hand_over(actor: Actor) -> None:
            try:
                action = ButtonValue.decode(pressed.value).action
            except ButtonValueError:
                action = HOME_REFRESH
            if action == HOME_HEALTH:
                self.inbox.message(pressed.request_id, actor, Conversation(channel=actor.id), "health")
            else:
                self.inbox.home(actor)

        self._guarded(pressed.user, Conversation(channel=pressed.user))(hand_over)

    def opened_home(self, user: str) -> None:
        """Hand over that a person opened the App Home."""
        self._guarded(user, Conversation(channel=user))(self.inbox.home)

    def joined(self, request_id: str, channel: str, inviter: str | None) -> None:
        """Hand over that we were added to a channel."""
        conversation = Conversation(channel=channel)

        def hand_over(actor: Actor | None) -> None:
            self.inbox.joined(request_id, conversation, actor)

        if inviter:
            self._guarded(inviter, conversation)(hand_over)
        else:
            hand_over(None)

    def _guarded(self, user: str, conversation: Conversation) -> Callable[[Callable[[Actor], None]], None]:
        """Run with the actor, and return once it has run or Slack waits no longer; whatever goes wrong is told to that
        person and goes no further."""

        def hand_over(work: Callable[[Actor], None]) -> None:
            try:
                work(self.people.actor(user))
            except Exception as error:  # noqa: BLE001 - the border: Bolt would lose the acknowledgement
                message = explain(error, channel=conversation.channel, user=user)
                try:
                    self.messenger.private(conversation, Actor(id=user), message)
                except RelaunchError as unsaid:
                    _log.warning("the person could not be told", user=user, error=unsaid.message)

        def run(work: Callable[[Actor], None]) -> None:
            wait([self.executor.submit(hand_over, work)], timeout=_STORED_WITHIN_S)

        return run


def register(app: App, edge: Edge) -> None:
    """Bind everything to a Bolt app. The order matters: the first listener that matches takes a request."""
    app.event("app_mention")(lambda body: _spoken(edge, body))
    app.event("message")(lambda body: _spoken(edge, body))
    app.event("app_home_opened")(lambda body: _opened(edge, body))
    app.event("member_joined_channel")(lambda body: _joined(edge, body))

    @app.command(COMMAND)
    def commanded(ack: Ack, body: dict[str, Any]) -> None:
        ack()
        heard = decode.command(body, edge.me)
        if isinstance(heard, Ignored):
            _log.info("ignored", reason=heard.reason)
        else:
            edge.commanded(heard)

    @app.action(_ANYTHING)
    def pressed(ack: Ack, body: dict[str, Any]) -> None:
        ack()
        found = decode.press(body, edge.me)
        if isinstance(found, Ignored):
            _log.info("ignored", reason=found.reason)
        else:
            edge.pressed(found)

    _register_sinks(app)


def _register_sinks(app: App) -> None:
    """Acknowledge what nobody wants: Slack would deliver it again, or show the person a warning."""

    def sink(ack: Ack, body: dict[str, Any]) -> None:
        ack()
        _log.info("nobody listens to this", type=body.get("type"), event=(body.get("event") or {}).get("type"))

    app.event(_ANYTHING)(sink)
    app.command(_ANYTHING)(sink)
    app.shortcut(_ANYTHING)(sink)
    app.view(_ANYTHING)(sink)
    app.view_closed(_ANYTHING)(sink)
    app.options(_ANYTHING)(sink)


def _spoken(edge: Edge, body: Body) -> None:
    heard = decode.message(body, edge.me)
    if isinstance(heard, Ignored):
        _log.debug("ignored", reason=heard.reason)
    else:
        edge.heard(heard)


def _opened(edge: Edge, body: Body) -> None:
    event = body.get("event") or {}
    if event.get("tab") == "home" and body.get("team_id") == edge.me.team:
        edge.opened_home(str(event.get("user") or ""))


def _joined(edge: Edge, body: Body) -> None:
    event = body.get("event") or {}
    if event.get("user") == edge.me.user and body.get("team_id") == edge.me.team:
        request_id = str(body.get("event_id") or event.get("event_ts") or "")
        edge.joined(request_id, str(event.get("channel") or ""), event.get("inviter"))
