"""Slack's payloads, read and checked: what a person said or pressed, or why it is not for us. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Body = Mapping[str, Any]

#: message subtypes that a person makes; all others are edits, joins, bots and the like
_SPOKEN = frozenset((None, "file_share", "thread_broadcast", "me_message"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who we are, from auth.test."""

    team: str
    user: str
    bot: str
    enterprise: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A person said something to us. `request_id` is the same for every delivery."""

    request_id: str
    user: str
    channel: str
    #: thread to answer in; None for a slash command, and for what is said in a direct message outside a thread
    thread_ts: str | None
    text: str
    #: the thread begins with what was said
    new: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressed:
    """A person pressed a button. `channel` is "" on the App Home."""

    request_id: str
    user: str
    channel: str
    message_ts: str
    thread_ts: str | None
    action_id: str
    value: str


@dataclass(frozen=True, slots=True)
class Ignored:
    """Not for us, and why."""

    reason: str


def message(body: Body, me: Identity) -> Heard | Ignored:
    """Read an app_mention or message event."""
    event: Body = body.get("event") or {}
    reason = _foreign(body, event, me) or _not_spoken(event, me)
    if reason:
        return Ignored(reason)
    channel, ts = str(event.get("channel") or ""), str(event.get("ts") or "")
    if not channel or not ts:
        return Ignored("no channel or ts")
    if event.get("type") == "message" and event.get("channel_type") != "im":
        return Ignored("a channel message that does not mention us")
    thread = event.get("thread_ts")
    return Heard(
        # a mention may arrive as app_mention and as message, with one ts and two event ids
        request_id=f"{channel}:{ts}",
        user=str(event["user"]),
        channel=channel,
        thread_ts=str(thread) if thread else None if event.get("channel_type") == "im" else ts,
        new=not thread or str(thread) == ts,
        text=without_mention(str(event.get("text") or ""), me.user),
    )


def command(body: Body, me: Identity) -> Heard | Ignored:
    """Read a slash command. It has no message, hence no thread."""
    if not _our_team(body.get("team_id"), body.get("enterprise_id"), me):
        return Ignored("another workspace")
    user, channel, trigger = (str(body.get(name) or "") for name in ("user_id", "channel_id", "trigger_id"))
    if not user or not channel or not trigger:
        return Ignored("a command without user, channel or trigger")
    text = str(body.get("text") or "").strip()
    return Heard(request_id=f"command:{trigger}", user=user, channel=channel, thread_ts=None, text=text or "help")


def press(body: Body, me: Identity) -> Pressed | Ignored:
    """Read a block_actions payload."""
    user, team, container = body.get("user") or {}, body.get("team") or {}, body.get("container") or {}
    enterprise = (body.get("enterprise") or {}).get("id")
    if not _our_team(team.get("id"), enterprise, me) or not _our_team(user.get("team_id", me.team), enterprise, me):
        return Ignored("another workspace")
    action = next(iter(body.get("actions") or ()), None)
    if not isinstance(action, Mapping) or action.get("type") != "button":
        return Ignored("not a button")
    channel = str(container.get("channel_id") or (body.get("channel") or {}).get("id") or "")
    ts = str(container.get("message_ts") or container.get("view_id") or "")
    return Pressed(
        request_id=f"press:{channel}:{ts}:{user.get('id')}:{action.get('action_ts')}",
        user=str(user.get("id") or ""),
        channel=channel,
        message_ts=ts,
        thread_ts=container.get("thread_ts") or (body.get("message") or {}).get("thread_ts"),
        action_id=str(action.get("action_id") or ""),
        value=str(action.get("value") or ""),
    )


def without_mention(text: str, user: str) -> str:
    """The text without mentions of this user."""
    return re.sub(rf"\s*<@{re.escape(user)}(?:\|[^>]*)?>[:,]?\s*", " ", text).strip()


def _foreign(body: Body, event: Body, me: Identity) -> str | None:
    if not _our_team(body.get("team_id"), body.get("enterprise_id"), me):
        return "another workspace"
    for name in ("user_team", "source_team", "team"):
        team = event.get(name)
        if team and team not in (me.team, me.enterprise):
            return "a person of another workspace"
    return None


def _our_team(team: object, enterprise: object, me: Identity) -> bool:
    return team == me.team or (team is None and me.enterprise is not None and enterprise == me.enterprise)


def _not_spoken(event: Body, me: Identity) -> str | None:
    if event.get("bot_id") or event.get("bot_profile") or not event.get("user"):
        return "a bot"
    if event["user"] == me.user:
        return "ourselves"
    if event.get("subtype") not in _SPOKEN:
        return f"subtype {event['subtype']}"
    return "an edit" if event.get("edited") or event.get("hidden") else None
