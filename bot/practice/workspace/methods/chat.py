"""chat.*: post, update, delete, ephemeral and scheduled messages, permalinks."""

import asyncio
import copy
from typing import Any

from bot.practice.workspace import blockkit
from bot.practice.workspace.calls import Call, Methods, SlackError, refuse_blocks
from bot.practice.workspace.schema import length
from bot.practice.workspace.state import APP_ID, TEAM_ID, Channel, JsonObject

METHODS = Methods()
_ATTACHMENTS = 100


def content_of(call: Call, *, updating: bool = False) -> JsonObject:
    """The text, blocks, attachments and metadata of a message to post, checked as Slack checks them."""
    blocks = call.data("blocks", "invalid_blocks_format")
    attachments = call.data("attachments", "invalid_attachments")
    text = call.text("text") if call.arguments.get("text") is not None else ""
    markdown = call.text("markdown_text")
    if markdown and (text or blocks):
        raise SlackError("markdown_text_conflict")
    if markdown:
        if length(markdown) > blockkit.MARKDOWN_CHARACTERS:
            raise SlackError("msg_too_long")
        text, blocks = markdown, [{"type": "markdown", "text": markdown}]
    if not text and not blocks and not attachments and not (updating and blocks == []):
        raise SlackError("no_text")
    if blocks is not None and not isinstance(blocks, list):
        raise SlackError("invalid_blocks_format")
    if blocks:
        refuse_blocks(blockkit.check_message_blocks(blocks))
        if blockkit.visible_characters(blocks) > blockkit.MESSAGE_CHARACTERS:
            raise SlackError("msg_blocks_too_long")
    if attachments and len(attachments) > _ATTACHMENTS:
        raise SlackError("too_many_attachments")
    return _content(call, text, blocks, attachments)


def _content(call: Call, text: str, blocks: Any, attachments: Any) -> JsonObject:
    content: JsonObject = {"text": text[: blockkit.TEXT_CHARACTERS]}
    if blocks is not None:
        content["blocks"] = with_ids(call, blocks)
    if attachments:
        for index, attachment in enumerate(attachments):
            refuse_blocks(blockkit.check_message_blocks(attachment.get("blocks", []), f"/attachments/{index}/blocks"))
        content["attachments"] = [{"id": i + 1, **a} for i, a in enumerate(attachments)]
    metadata = call.data("metadata", "invalid_metadata_format")
    if metadata is not None:
        if not isinstance(metadata, dict) or not isinstance(metadata.get("event_payload"), dict):
            raise SlackError("invalid_metadata_format")
        content["metadata"] = metadata
    return content


def with_ids(call: Call, blocks: list[JsonObject]) -> list[JsonObject]:
    """A copy in which every block and element has an id: Slack makes up those that are missing."""
    blocks = copy.deepcopy(blocks)
    for block in blocks:
        block.setdefault("block_id", call.office.ids.next("b"))
        elements = block.get("elements", []) if block["type"] == "actions" else []
        for element in [*elements, block.get("accessory"), block.get("element")]:
            if isinstance(element, dict) and element.get("type") != "image":
                element.setdefault("action_id", call.office.ids.next("a"))
    return blocks


def bot_message(call: Call, content: JsonObject) -> JsonObject:
    """A message of the app, not yet in a channel."""
    bot = call.office.state.bot
    stamp = call.office.stamps.next()
    return {
        "type": "message",
        "user": bot.id,
        "bot_id": bot.bot_id,
        "app_id": APP_ID,
        "team": TEAM_ID,
        "ts": stamp,
        "bot_profile": {
            "id": bot.bot_id,
            "app_id": APP_ID,
            "name": bot.real_name,
            "team_id": TEAM_ID,
            "deleted": False,
        },
        **content,
    }


def threaded(call: Call, channel: Channel, message: JsonObject) -> JsonObject:
    """The message with its thread, when one was given. A reply to nothing is refused."""
    root_ts = call.text("thread_ts")
    if not root_ts:
        return message
    root = channel.message(root_ts)
    if root is None:
        raise SlackError("cannot_reply_to_message")
    message["thread_ts"] = root.get("thread_ts", root["ts"])
    if call.flag("reply_broadcast"):
        message["subtype"] = "thread_broadcast"
    return message


@METHODS.add("chat.postMessage", "chat:write")
def post_message(call: Call) -> JsonObject:
    """Post as the app."""
    public_ok = "chat:write.public" in call.office.manifest.scopes
    channel = call.channel()
    if call.office.state.bot_user not in channel.members and not (public_ok and channel.kind == "channel"):
        raise SlackError("not_in_channel")
    if channel.archived:
        raise SlackError("is_archived")
    if channel.kind == "im" and not call.office.manifest.messages_tab:
        raise SlackError("messages_tab_disabled")
    message = threaded(call, channel, bot_message(call, content_of(call)))
    call.office.add_message(channel, message)
    return {"channel": channel.id, "ts": message["ts"], "message": copy.deepcopy(message)}


@METHODS.add("chat.update", "chat:write")
def update(call: Call) -> JsonObject:
    """Edit a message of the app. Text without blocks removes the blocks; `blocks: []` clears them."""
    if call.text("channel") not in call.office.state.channels:
        raise SlackError("channel_not_found")
    channel = call.channel()
    message = channel.message(call.need("ts"))
    if message is None:
        raise SlackError("message_not_found")
    if message.get("bot_id") != call.office.state.bot.bot_id:
        raise SlackError("cant_update_message")
    if message.get("streaming"):
        raise SlackError("streaming_state_conflict")
    if length(call.text("text")) > blockkit.UPDATE_CHARACTERS:
        raise SlackError("msg_too_long")
    content = content_of(call, updating=True)
    previous = copy.deepcopy(message)
    message.pop("blocks", None)
    if "attachments" in call.arguments:
        message.pop("attachments", None)
    message.update({k: v for k, v in content.items() if k != "blocks" or v})
    message["edited"] = {"user": message["user"], "ts": call.office.stamps.next()}
    call.office.change_message(channel, message, previous)
    return {"channel": channel.id, "ts": message["ts"], "text": message["text"], "message": copy.deepcopy(message)}


@METHODS.add("chat.delete", "chat:write")
def delete(call: Call) -> JsonObject:
    """Delete a message of the app."""
    channel = call.channel()
    message = channel.message(call.need("ts"))
    if message is None:
        raise SlackError("message_not_found")
    if message.get("bot_id") != call.office.state.bot.bot_id:
        raise SlackError("cant_delete_message")
    call.office.delete_message(channel, message)
    return {"channel": channel.id, "ts": message["ts"]}


@METHODS.add("chat.postEphemeral", "chat:write")
def post_ephemeral(call: Call) -> JsonObject:
    """Show a message to one person only."""
    channel = call.channel(member=True)
    user = call.need("user")
    if user not in channel.members:
        raise SlackError("user_not_in_channel")
    if length(call.text("text")) > blockkit.UPDATE_CHARACTERS:
        raise SlackError("msg_too_long")
    message = threaded(call, channel, bot_message(call, content_of(call))) | {"is_ephemeral": True}
    call.office.whisper(user, channel, message)
    return {"message_ts": message["ts"]}


@METHODS.add("chat.getPermalink")
def permalink(call: Call) -> JsonObject:
    """A link to a message; here into the practice page."""
    channel = call.channel()
    stamp = call.need("message_ts")
    if channel.message(stamp) is None:
        raise SlackError("message_not_found")
    path = f"{call.office.base_url}/archives/{channel.id}/p{stamp.replace('.', '')}"
    return {"channel": channel.id, "permalink": path}


@METHODS.add("chat.scheduleMessage", "chat:write")
def schedule(call: Call) -> JsonObject:
    """Post later."""
    channel = call.channel(member=True)
    post_at = call.number("post_at", 0, "invalid_time")
    now = call.office.stamps.now()
    if post_at <= now:
        raise SlackError("time_in_past")
    if post_at > now + 120 * 86400:
        raise SlackError("time_too_far")
    content = content_of(call)
    scheduled_id = call.office.ids.next("Q")
    entry: JsonObject = {"id": scheduled_id, "channel_id": channel.id, "post_at": post_at, "text": content["text"]}
    call.office.state.scheduled[scheduled_id] = entry | {"content": content}
    call.office.spawn(_post_later(call, channel, scheduled_id, post_at - now))
    return {"channel": channel.id, "scheduled_message_id": scheduled_id, "post_at": post_at, "message": content}


async def _post_later(call: Call, channel: Channel, scheduled_id: str, wait_s: float) -> None:
    await asyncio.sleep(wait_s)
    entry = call.office.state.scheduled.pop(scheduled_id, None)
    if entry:
        call.office.add_message(channel, bot_message(call, entry["content"]))


@METHODS.add("chat.deleteScheduledMessage", "chat:write")
def unschedule(call: Call) -> JsonObject:
    """Do not post it after all."""
    if call.office.state.scheduled.pop(call.need("scheduled_message_id"), None) is None:
        raise SlackError("invalid_scheduled_message_id")
    return {}


@METHODS.add("chat.scheduledMessages.list")
def scheduled(call: Call) -> JsonObject:
    """What is to be posted."""
    keep = ("id", "channel_id", "post_at", "text")
    entries = [{k: e[k] for k in keep} for e in call.office.state.scheduled.values()]
    return {"scheduled_messages": entries, "response_metadata": {"next_cursor": ""}}
