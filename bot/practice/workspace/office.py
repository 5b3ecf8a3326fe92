"""The workspace as one object on the server's event loop: state, grants, sockets, and how messages and events flow."""

import asyncio
import copy
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from bot.practice.workspace.limits import RateLimits
from bot.practice.workspace.manifest import Manifest
from bot.practice.workspace.socket_mode import SocketMode, Timing
from bot.practice.workspace.state import APP_ID, TEAM_DOMAIN, TEAM_ID, Channel, Ids, JsonObject, State, Timestamps
from bot.practice.workspace.traffic import Traffic

BOT_TOKEN = "xoxb-practice-bot"
APP_TOKEN = "xapp-practice-app"

TRIGGER_S = 3.0
RESPONSE_URL_S = 30 * 60.0
RESPONSE_URL_USES = 5

#: Slack's own words where a command or click got no answer in time
COMMAND_TIMEOUT = '`{command}` failed with the error "operation_timeout"'
CLICK_TIMEOUT = "The app did not respond in time"


@dataclass(kw_only=True)
class Trigger:
    """A trigger id: 3 s, single use."""

    user: str
    made_at: float
    used: bool = False


@dataclass(kw_only=True)
class ResponseUrl:
    """A response_url: 5 uses within 30 minutes."""

    user: str
    channel: str
    made_at: float
    uses: int = 0
    #: the message that was clicked, for replace_original and delete_original
    message_ts: str | None = None
    ephemeral: bool = False
    thread_ts: str | None = None


@dataclass(kw_only=True)
class Switches:
    """What the page and tests may turn on and off."""

    #: False: usergroups.* answer plan_upgrade_required
    user_groups: bool = True
    #: False: method calls need no scope
    scopes: bool = True


@dataclass
class Office:
    """Everything behind the Web API, Socket Mode and the page."""

    state: State
    manifest: Manifest
    stamps: Timestamps
    monotonic: Callable[[], float] = time.monotonic
    timing: Timing = field(default_factory=Timing)
    base_url: str = ""
    traffic: Traffic = field(default_factory=Traffic)
    ids: Ids = field(default_factory=Ids)
    switches: Switches = field(default_factory=Switches)
    triggers: dict[str, Trigger] = field(default_factory=dict)
    response_urls: dict[str, ResponseUrl] = field(default_factory=dict)
    #: called after every change, for `wait_for`
    changed: Callable[[], None] = lambda: None
    _tasks: set[asyncio.Task[Any]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.limits = RateLimits(self.monotonic)
        self.socket = SocketMode(self.traffic, self.stamps.now, self.timing)

    # --- background work

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run something in the background until it ends or the workspace closes."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End background work and connections."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.socket.close()

    # --- messages

    def add_message(self, channel: Channel, message: JsonObject) -> JsonObject:
        """Put a message into a channel, show it, and tell the app."""
        channel.messages.append(message)
        root_ts = message.get("thread_ts")
        if root_ts and root_ts != message["ts"]:
            self._count_reply(channel, root_ts, message)
        self.show("message", channel, message)
        event = copy.deepcopy(message) | {
            "channel": channel.id,
            "event_ts": message["ts"],
            "channel_type": channel.kind,
        }
        if root_ts and root_ts != message["ts"]:
            root = channel.message(root_ts)
            event["parent_user_id"] = root.get("user", "") if root else ""
        self.message_event(channel, event)
        if f"<@{self.state.bot_user}>" in message.get("text", "") and message.get("user") != self.state.bot_user:
            self.mention_event(channel, message)
        return message

    def _count_reply(self, channel: Channel, root_ts: str, message: JsonObject) -> None:
        root = channel.message(root_ts)
        if root is None:
            return
        replies = [m for m in channel.thread(root_ts) if m["ts"] != root_ts]
        root["thread_ts"] = root_ts
        root["reply_count"] = len(replies)
        root["reply_users"] = list(dict.fromkeys(m.get("user", "") for m in replies))
        root["reply_users_count"] = len(root["reply_users"])
        root["latest_reply"] = message["ts"]
        self.show("message_changed", channel, root)

    def mention_event(self, channel: Channel, message: JsonObject) -> None:
        """Deliver app_mention for a message that names the app."""
        if channel.kind == "im" or not self.manifest.subscribed("app_mention"):
            return
        keep = ("user", "text", "ts", "client_msg_id", "team", "blocks", "thread_ts", "bot_id", "edited", "files")
        event = {k: copy.deepcopy(message[k]) for k in keep if k in message}
        event |= {"type": "app_mention", "channel": channel.id, "event_ts": message["ts"]}
        if self.state.bot_user in channel.members:
            self.emit(event, channel)
        elif message.get("user") in self.state.users:
            self._offer_invite(channel, message["user"])

    def _offer_invite(self, channel: Channel, user: str) -> None:
        text = f"<@{self.state.bot_user}> is not in this channel, so it did not see that. Invite it?"
        notice: JsonObject = {"type": "message", "user": "USLACKBOT", "text": text, "ts": self.stamps.next()}
        self.whisper(user, channel, notice | {"invite": True})

    def whisper(self, user: str, channel: Channel, message: JsonObject) -> None:
        """Show something to one person only; it is in no history and gone when the page is loaded again."""
        self.state.ephemerals.append((user, channel.id, message))
        self.traffic.publish(
            {"type": "ephemeral", "user": user, "channel": channel.id, "message": copy.deepcopy(message)}
        )
        self.changed()

    def change_message(self, channel: Channel, message: JsonObject, previous: JsonObject) -> None:
        """Show an edited message and tell the app."""
        self.show("message_changed", channel, message)
        stamp = self.stamps.next()
        self.message_event(
            channel,
            {
                "type": "message",
                "subtype": "message_changed",
                "hidden": True,
                "channel": channel.id,
                "channel_type": channel.kind,
                "ts": stamp,
                "event_ts": stamp,
                "message": copy.deepcopy(message),
                "previous_message": previous,
            },
        )

    def delete_message(self, channel: Channel, message: JsonObject) -> None:
        """Take a message away and tell the app."""
        channel.messages.remove(message)
        self.show("message_deleted", channel, message)
        stamp = self.stamps.next()
        self.message_event(
            channel,
            {
                "type": "message",
                "subtype": "message_deleted",
                "hidden": True,
                "channel": channel.id,
                "channel_type": channel.kind,
                "ts": stamp,
                "event_ts": stamp,
                "deleted_ts": message["ts"],
                "previous_message": copy.deepcopy(message),
            },
        )

    def show(self, kind: str, channel: Channel, message: JsonObject) -> None:
        """Tell the pages about a message."""
        self.traffic.publish({"type": kind, "channel": channel.id, "message": copy.deepcopy(message)})
        self.changed()

    # --- events

    def message_event(self, channel: Channel, event: JsonObject) -> None:
        """Deliver a message event where the app is a member and subscribed."""
        names = {"channel": "message.channels", "group": "message.groups", "im": "message.im"}
        if self.state.bot_user in channel.members and self.manifest.subscribed(names[channel.kind]):
            self.emit(event, channel)

    def emit(self, event: JsonObject, channel: Channel | None = None) -> None:
        """Deliver any event, in the background, again while it is not acknowledged."""
        payload: JsonObject = {
            "token": "deprecated",
            "team_id": TEAM_ID,
            "api_app_id": APP_ID,
            "type": "event_callback",
            "event_id": self.ids.next("Ev"),
            "event_time": int(self.stamps.now()),
            "authorizations": [
                {
                    "enterprise_id": None,
                    "team_id": TEAM_ID,
                    "user_id": self.state.bot_user,
                    "is_bot": True,
                    "is_enterprise_install": False,
                }
            ],
            "is_ext_shared_channel": bool(channel and channel.ext_shared),
            "event_context": "4-practice",
            "event": event,
        }
        if channel and channel.ext_shared:
            payload |= {"context_team_id": TEAM_ID, "context_enterprise_id": None}
        self.spawn(self.socket.deliver_event(payload))

    # --- short-lived rights

    def trigger(self, user: str) -> str:
        """A new trigger id."""
        trigger_id = f"{self.ids.next('')}.{TEAM_ID.lower()}.practice"
        self.triggers[trigger_id] = Trigger(user=user, made_at=self.monotonic())
        return trigger_id

    def response_url(self, url: ResponseUrl) -> str:
        """A new response_url."""
        key = self.ids.next("R")
        self.response_urls[key] = url
        return f"{self.base_url}/response/{key}"

    def payload_head(self, user_id: str) -> JsonObject:
        """The part that all interaction payloads share."""
        user = self.state.users[user_id]
        return {
            "user": {"id": user.id, "username": user.name, "name": user.name, "team_id": user.team_id},
            "api_app_id": APP_ID,
            "token": "deprecated",
            "team": {"id": TEAM_ID, "domain": TEAM_DOMAIN},
            "enterprise": None,
            "is_enterprise_install": False,
        }
