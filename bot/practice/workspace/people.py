"""What people do that reaches the app as events: messages, edits, invitations, the App Home."""

import copy

from bot.practice.workspace.interaction import NoSuchElementError
from bot.practice.workspace.office import Office
from bot.practice.workspace.state import TEAM_ID, Channel, JsonObject
from bot.practice.workspace.typing_text import as_slack_sends, rich_text


def open_home(office: Office, user: str, tab: str) -> None:
    """Tell the app that a person opened its Home or Messages tab."""
    if not office.manifest.subscribed("app_home_opened"):
        return
    channel = office.state.direct(user)
    event: JsonObject = {
        "type": "app_home_opened",
        "user": user,
        "channel": channel.id if channel else "",
        "tab": tab,
        "event_ts": office.stamps.next(),
    }
    if user in office.state.homes:
        event["view"] = copy.deepcopy(office.state.homes[user])
    office.emit(event, channel)


def say(office: Office, user: str, channel: Channel, text: str, thread_ts: str | None = None) -> JsonObject:
    """Send a message as a person (or as another bot) types it. The message as Slack keeps it."""
    person = office.state.users[user]
    sent = as_slack_sends(text, office.state)
    message: JsonObject = {
        "type": "message",
        "user": user,
        "text": sent,
        "ts": office.stamps.next(),
        "client_msg_id": f"practice-{office.ids.next('m')}",
        "team": person.team_id,
        "blocks": [rich_text(sent)],
    }
    if person.bot_id:
        del message["client_msg_id"]
        message["bot_id"] = person.bot_id
    if channel.ext_shared:
        message |= {"user_team": person.team_id, "source_team": person.team_id}
    if thread_ts:
        root = channel.message(thread_ts)
        message["thread_ts"] = root.get("thread_ts", root["ts"]) if root else thread_ts
    return office.add_message(channel, message)


def edit(office: Office, channel: Channel, ts: str, text: str) -> None:
    """Edit a person's message."""
    message = channel.message(ts)
    if message is None:
        raise NoSuchElementError(f"no message {ts}")
    previous = copy.deepcopy(message)
    sent = as_slack_sends(text, office.state)
    message |= {
        "text": sent,
        "blocks": [rich_text(sent)],
        "edited": {"user": message["user"], "ts": office.stamps.next()},
    }
    office.change_message(channel, message, previous)


def invite(office: Office, user: str, channel: Channel, invited: str) -> None:
    """Add somebody to a channel. When it is the app, the mention that led to this is delivered now, as in Slack."""
    channel.members.add(invited)
    event: JsonObject = {
        "type": "member_joined_channel",
        "user": invited,
        "channel": channel.id,
        "channel_type": "C" if channel.kind == "channel" else "G",
        "team": TEAM_ID,
        "inviter": user,
        "event_ts": office.stamps.next(),
    }
    joined: JsonObject = {"type": "message", "subtype": "channel_join", "user": invited, "inviter": user}
    office.add_message(channel, joined | {"text": f"<@{invited}> has joined the channel", "ts": office.stamps.next()})
    if office.manifest.subscribed("member_joined_channel"):
        office.emit(event, channel)
    if invited == office.state.bot_user:
        mention = next(
            (m for m in reversed(channel.messages) if f"<@{invited}>" in m["text"] and not m.get("subtype")), None
        )
        if mention is not None:
            office.mention_event(channel, mention)
    office.traffic.publish(
        {"type": "channel", "channel": channel.as_json(office.state.bot_user), "members": sorted(channel.members)}
    )
