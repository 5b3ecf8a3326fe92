"""chat.*Stream and assistant.threads.*: text that grows, and the status line of a thread."""

import copy

from bot.practice.workspace import blockkit
from bot.practice.workspace.calls import Call, Methods, SlackError, refuse_blocks
from bot.practice.workspace.methods.chat import bot_message, threaded, with_ids
from bot.practice.workspace.schema import length
from bot.practice.workspace.state import Channel, JsonObject

METHODS = Methods()


@METHODS.add("chat.startStream", "chat:write")
def start(call: Call) -> JsonObject:
    """Start a message that grows; only as a reply."""
    channel = call.channel(member=True)
    if not call.text("thread_ts"):
        raise SlackError("invalid_arguments")
    if channel.kind != "im":
        if not call.text("recipient_user_id"):
            raise SlackError("missing_recipient_user_id")
        if not call.text("recipient_team_id"):
            raise SlackError("missing_recipient_team_id")
    message = threaded(call, channel, bot_message(call, {"text": _text(call), "streaming": True}))
    call.office.add_message(channel, message)
    return {"channel": channel.id, "ts": message["ts"]}


def _text(call: Call) -> str:
    text = call.text("markdown_text")
    for chunk in call.data("chunks", "invalid_chunks") or []:
        text += str(chunk.get("text", "")) if isinstance(chunk, dict) else ""
    if length(text) > blockkit.MARKDOWN_CHARACTERS:
        raise SlackError("msg_too_long")
    return text


def _streaming(call: Call) -> tuple[Channel, JsonObject]:
    channel = call.channel(member=True)
    message = channel.message(call.need("ts"))
    if message is None:
        raise SlackError("message_not_found")
    if message.get("bot_id") != call.office.state.bot.bot_id:
        raise SlackError("message_not_owned_by_app")
    if not message.get("streaming"):
        raise SlackError("message_not_in_streaming_state")
    return channel, message


@METHODS.add("chat.appendStream", "chat:write")
def append(call: Call) -> JsonObject:
    """Let it grow."""
    channel, message = _streaming(call)
    message["text"] += _text(call)
    call.office.show("message_changed", channel, message)
    return {"channel": channel.id, "ts": message["ts"]}


@METHODS.add("chat.stopStream", "chat:write")
def stop(call: Call) -> JsonObject:
    """End it, perhaps with blocks below."""
    channel, message = _streaming(call)
    previous = copy.deepcopy(message)
    message["text"] += _text(call)
    blocks = call.data("blocks", "invalid_blocks_format")
    if blocks:
        refuse_blocks(blockkit.check_message_blocks(blocks))
        message["blocks"] = with_ids(call, [{"type": "markdown", "text": message["text"] or " "}, *blocks])
    del message["streaming"]
    call.office.change_message(channel, message, previous)
    return {"channel": channel.id, "ts": message["ts"], "message": copy.deepcopy(message)}


@METHODS.add("assistant.threads.setStatus", "chat:write", "assistant:write")
def set_status(call: Call) -> JsonObject:
    """The grey line below a thread: "is looking at ct129…"."""
    channel = call.channel("channel_id")
    stamp = call.need("thread_ts")
    if channel.message(stamp) is None:
        raise SlackError("invalid_thread_ts")
    event = {"type": "status", "channel": channel.id, "thread_ts": stamp, "status": call.text("status")}
    call.office.traffic.publish(event)
    return {}


@METHODS.add("assistant.threads.setTitle", "assistant:write")
def set_title(call: Call) -> JsonObject:
    """A thread's title."""
    call.channel("channel_id")
    return {}


@METHODS.add("assistant.threads.setSuggestedPrompts", "assistant:write")
def set_prompts(call: Call) -> JsonObject:
    """Prompts need the agent feature, which the manifest does not switch on."""
    raise SlackError("not_agent_app")
