"""What the practice workspace holds: people, channels, messages, files. Plain data and look-ups, no network."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

JsonObject = dict[str, Any]
ChannelKind = Literal["channel", "group", "im"]

TEAM_ID = "T0PRACT1"
TEAM_DOMAIN = "practice"
OTHER_TEAM_ID = "T0VENDOR"
APP_ID = "A0PRACT1"


@dataclass(kw_only=True)
class User:
    """A person or bot. `role` is what the page shows beside the name."""

    id: str
    name: str
    real_name: str
    tz: str = "Etc/UTC"
    tz_offset: int = 0
    role: str = ""
    team_id: str = TEAM_ID
    is_admin: bool = False
    is_restricted: bool = False
    is_stranger: bool = False
    is_bot: bool = False
    bot_id: str | None = None
    deleted: bool = False

    def as_json(self) -> JsonObject:
        """The shape of users.info."""
        shown: JsonObject = {
            "id": self.id,
            "team_id": self.team_id,
            "name": self.name,
            "deleted": self.deleted,
            "real_name": self.real_name,
            "tz": self.tz,
            "tz_label": self.tz,
            "tz_offset": self.tz_offset,
            "profile": {
                "real_name": self.real_name,
                "display_name": self.name,
                "team": self.team_id,
                "email": f"{self.name}@practice.invalid",
            },
            "is_admin": self.is_admin,
            "is_owner": False,
            "is_restricted": self.is_restricted,
            "is_ultra_restricted": False,
            "is_bot": self.is_bot,
            "is_app_user": False,
            "updated": 1796000000,
        }
        if self.is_stranger:
            shown["is_stranger"] = True
        if self.bot_id:
            shown["profile"]["bot_id"] = self.bot_id
        return shown


@dataclass(kw_only=True)
class Channel:
    """A conversation and its messages, oldest first, in the shape of conversations.history."""

    id: str
    name: str
    kind: ChannelKind
    members: set[str]
    #: the person of a direct message
    user: str | None = None
    ext_shared: bool = False
    archived: bool = False
    topic: str = ""
    messages: list[JsonObject] = field(default_factory=list)

    def message(self, ts: str) -> JsonObject | None:
        """The message with this ts, or None."""
        return next((m for m in reversed(self.messages) if m["ts"] == ts), None)

    def thread(self, ts: str) -> list[JsonObject]:
        """Root and replies, oldest first; empty when there is no such root."""
        return [m for m in self.messages if m["ts"] == ts or m.get("thread_ts") == ts]

    def as_json(self, viewer: str) -> JsonObject:
        """The shape of conversations.info as `viewer` sees it."""
        shown: JsonObject = {"id": self.id, "created": 1796000000, "is_archived": self.archived, "updated": 0}
        if self.kind == "im":
            return shown | {"is_im": True, "user": self.user, "is_channel": False, "is_group": False}
        private = self.kind == "group"
        return shown | {
            "name": self.name,
            "name_normalized": self.name,
            "is_channel": not private,
            "is_group": private,
            "is_im": False,
            "is_mpim": False,
            "is_private": private,
            "is_general": False,
            "is_shared": self.ext_shared,
            "is_ext_shared": self.ext_shared,
            "is_org_shared": False,
            "is_member": viewer in self.members,
            "num_members": len(self.members),
            "creator": "U0BOB",
            "topic": {"value": self.topic, "creator": "U0BOB", "last_set": 1796000000},
            "purpose": {"value": "", "creator": "", "last_set": 0},
        }


@dataclass(kw_only=True)
class UserGroup:
    """A user group."""

    id: str
    handle: str
    name: str
    users: list[str]


class Timestamps:
    """Message timestamps: unique, increasing, six decimals, as strings. `now` gives seconds since the epoch."""

    def __init__(self, now: Callable[[], float] | None = None) -> None:
        self.now = now or time.time
        self._second = 0
        self._count = 0

    def next(self) -> str:
        """A ts later than every one before."""
        second = int(self.now())
        if second > self._second:
            self._second, self._count = second, 0
        self._count += 1
        return f"{self._second}.{self._count * 100 + 9:06d}"


def fixed_clock(start: float = 1796100000.0, step: float = 1.0) -> Callable[[], float]:
    """A clock for tests: `start`, then `step` seconds later with each look."""
    reading = start - step

    def now() -> float:
        nonlocal reading
        reading += step
        return reading

    return now


class Ids:
    """Ids that count up, the same in every run: Ev0000001, F0000001 …"""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def next(self, prefix: str) -> str:
        """The next id of this kind."""
        self._counts[prefix] = self._counts.get(prefix, 0) + 1
        return f"{prefix}{self._counts[prefix]:07d}"


@dataclass(kw_only=True)
class StoredFile:
    """An uploaded file."""

    id: str
    name: str
    title: str
    user: str
    data: bytes = b""
    length: int = 0
    alt_text: str = ""
    uploaded: bool = False
    completed: bool = False


@dataclass
class State:
    """Everything in the workspace."""

    users: dict[str, User]
    channels: dict[str, Channel]
    groups: dict[str, UserGroup]
    #: user id of the app under test
    bot_user: str
    files: dict[str, StoredFile] = field(default_factory=dict)
    #: view id -> view as Slack stores it
    views: dict[str, JsonObject] = field(default_factory=dict)
    #: user id -> published home view
    homes: dict[str, JsonObject] = field(default_factory=dict)
    #: user id -> view ids, bottom first
    stacks: dict[str, list[str]] = field(default_factory=dict)
    #: (user id, channel id, message): shown to one person, never in history
    ephemerals: list[tuple[str, str, JsonObject]] = field(default_factory=list)
    scheduled: dict[str, JsonObject] = field(default_factory=dict)

    @property
    def bot(self) -> User:
        """The app's bot user."""
        return self.users[self.bot_user]

    def user_of_bot(self, bot_id: str) -> User | None:
        """The bot user with this bot id."""
        return next((u for u in self.users.values() if u.bot_id == bot_id), None)

    def channel_named(self, name: str) -> Channel | None:
        """Channel by id or by name, with or without '#'."""
        if name in self.channels:
            return self.channels[name]
        return next((c for c in self.channels.values() if c.name == name.lstrip("#") and c.kind != "im"), None)

    def direct(self, user: str) -> Channel | None:
        """The direct message between the bot and this person."""
        return next((c for c in self.channels.values() if c.kind == "im" and c.user == user), None)
