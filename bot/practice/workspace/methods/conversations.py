"""conversations.*, reactions.*, pins.*, bookmarks.*."""

import copy

from bot.practice.workspace.calls import Call, Methods, SlackError
from bot.practice.workspace.state import Channel, JsonObject

METHODS = Methods()
_READ = ("channels:read", "groups:read", "im:read", "mpim:read")
_HISTORY = ("channels:history", "groups:history", "im:history", "mpim:history")
_KIND_SCOPE = {"channel": "channels", "group": "groups", "im": "im"}


def _granted(call: Call, channel: Channel, right: str) -> None:
    scope = f"{_KIND_SCOPE[channel.kind]}:{right}"
    granted = call.office.manifest.scopes
    if call.office.switches.scopes and scope not in granted:
        raise SlackError("missing_scope", needed=scope, provided=",".join(sorted(granted)))


@METHODS.add("conversations.info", *_READ)
def info(call: Call) -> JsonObject:
    """One conversation."""
    channel = call.channel()
    _granted(call, channel, "read")
    return {"channel": channel.as_json(call.office.state.bot_user)}


@METHODS.add("conversations.list", *_READ)
def list_channels(call: Call) -> JsonObject:
    """Conversations of the asked kinds."""
    names = {"public_channel": "channel", "private_channel": "group", "im": "im"}
    wanted = call.text("types", "public_channel").split(",")
    if any(w not in (*names, "mpim") for w in wanted):
        raise SlackError("invalid_types")
    kinds = {names[w] for w in wanted if w in names}
    bot = call.office.state.bot_user
    shown = [
        c.as_json(bot)
        for c in call.office.state.channels.values()
        if c.kind in kinds
        and (c.kind == "channel" or bot in c.members)
        and not (c.archived and call.flag("exclude_archived"))
    ]
    return _page(call, "channels", shown)


def _page(call: Call, key: str, entries: list[JsonObject]) -> JsonObject:
    size = call.number("limit", 100)
    cursor = call.text("cursor")
    if cursor and not cursor.isdigit():
        raise SlackError("invalid_cursor")
    start = int(cursor or 0)
    following = str(start + size) if start + size < len(entries) else ""
    return {key: entries[start : start + size], "response_metadata": {"next_cursor": following}}


@METHODS.add("conversations.history", *_HISTORY)
def history(call: Call) -> JsonObject:
    """Messages of a channel, newest first, without thread replies."""
    channel = call.channel(member=True)
    _granted(call, channel, "history")
    top = [
        m for m in channel.messages if m.get("thread_ts", m["ts"]) == m["ts"] or m.get("subtype") == "thread_broadcast"
    ]
    chosen = [copy.deepcopy(m) for m in reversed(top) if _between(call, m["ts"])]
    size = call.number("limit", 100)
    return {"messages": chosen[:size], "has_more": len(chosen) > size, "pin_count": 0}


def _between(call: Call, stamp: str) -> bool:
    oldest, latest = call.text("oldest", "0"), call.text("latest") or "9" * 10
    if call.flag("inclusive"):
        return oldest <= stamp <= latest
    return oldest < stamp < latest


@METHODS.add("conversations.replies", *_HISTORY)
def replies(call: Call) -> JsonObject:
    """A thread: its root, then the replies, oldest first."""
    channel = call.channel(member=True)
    _granted(call, channel, "history")
    stamp = call.need("ts")
    message = channel.message(stamp)
    if message is None:
        raise SlackError("thread_not_found")
    root_ts = message.get("thread_ts", stamp)
    chosen = [copy.deepcopy(m) for m in channel.thread(root_ts) if m["ts"] == root_ts or _between(call, m["ts"])]
    size = call.number("limit", 1000)
    return {"messages": chosen[:size], "has_more": len(chosen) > size}


@METHODS.add("conversations.members", *_READ)
def members(call: Call) -> JsonObject:
    """User ids of a channel's members."""
    channel = call.channel()
    return {"members": sorted(channel.members), "response_metadata": {"next_cursor": ""}}


@METHODS.add("conversations.open", "channels:manage", "groups:write", "im:write", "mpim:write")
def open_direct(call: Call) -> JsonObject:
    """Open the direct message with one person."""
    users = [u for u in call.text("users").split(",") if u]
    if not users:
        raise SlackError("users_list_not_supplied")
    if len(users) > 1:
        raise SlackError("method_not_supported_for_channel_type")
    user = call.office.state.users.get(users[0])
    if user is None:
        raise SlackError("user_not_found")
    channel = call.office.state.direct(user.id)
    if channel is None:
        bot = call.office.state.bot_user
        channel = Channel(id="D0" + user.id[2:], name=user.id, kind="im", members={user.id, bot}, user=user.id)
        call.office.state.channels[channel.id] = channel
    return {"channel": {"id": channel.id}, "no_op": True, "already_open": True}


@METHODS.add("conversations.join", "channels:join")
def join(call: Call) -> JsonObject:
    """Join a public channel."""
    channel = call.channel()
    if channel.kind != "channel":
        raise SlackError("method_not_supported_for_channel_type")
    channel.members.add(call.office.state.bot_user)
    return {"channel": channel.as_json(call.office.state.bot_user)}


def _reacted(call: Call) -> tuple[Channel, JsonObject, str]:
    channel = call.channel()
    message = channel.message(call.need("timestamp"))
    if message is None:
        raise SlackError("message_not_found")
    name = call.need("name").strip(":")
    if not name.replace("_", "").replace("-", "").replace("+", "").isalnum():
        raise SlackError("invalid_name")
    return channel, message, name


@METHODS.add("reactions.add", "reactions:write")
def add_reaction(call: Call) -> JsonObject:
    """React as the app."""
    channel, message, name = _reacted(call)
    bot = call.office.state.bot_user
    reactions: list[JsonObject] = message.setdefault("reactions", [])
    entry = next((r for r in reactions if r["name"] == name), None)
    if entry and bot in entry["users"]:
        raise SlackError("already_reacted")
    if entry is None:
        entry = {"name": name, "users": [], "count": 0}
        reactions.append(entry)
    entry["users"].append(bot)
    entry["count"] = len(entry["users"])
    call.office.show("message_changed", channel, message)
    return {}


@METHODS.add("reactions.remove", "reactions:write")
def remove_reaction(call: Call) -> JsonObject:
    """Take the app's reaction back."""
    channel, message, name = _reacted(call)
    bot = call.office.state.bot_user
    entry = next((r for r in message.get("reactions", []) if r["name"] == name and bot in r["users"]), None)
    if entry is None:
        raise SlackError("no_reaction")
    entry["users"].remove(bot)
    entry["count"] = len(entry["users"])
    if not entry["users"]:
        message["reactions"].remove(entry)
    call.office.show("message_changed", channel, message)
    return {}


@METHODS.add("pins.add", "pins:write")
def pin(call: Call) -> JsonObject:
    """Pin a message."""
    channel = call.channel(member=True)
    message = channel.message(call.need("timestamp", "no_item_specified"))
    if message is None:
        raise SlackError("message_not_found")
    if message.get("pinned_to"):
        raise SlackError("already_pinned")
    message["pinned_to"] = [channel.id]
    call.office.show("message_changed", channel, message)
    return {}


@METHODS.add("bookmarks.add", "bookmarks:write")
def bookmark(call: Call) -> JsonObject:
    """Add a link to a channel's header."""
    channel = call.channel("channel_id", member=True)
    title, kind = call.need("title"), call.need("type")
    if kind != "link":
        raise SlackError("invalid_bookmark_type")
    return {
        "bookmark": {
            "id": call.office.ids.next("Bk"),
            "channel_id": channel.id,
            "title": title,
            "link": call.text("link"),
        }
    }
