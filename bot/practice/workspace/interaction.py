"""What people do that the app must acknowledge: clicks, slash commands, modals, shortcuts."""

import copy
from collections.abc import Callable
from typing import Any

from bot.practice.workspace import blockkit
from bot.practice.workspace.calls import Call, SlackError, refuse_blocks
from bot.practice.workspace.methods.chat import bot_message, content_of
from bot.practice.workspace.methods.views import push, replace_view, show_modals
from bot.practice.workspace.office import (
    CLICK_TIMEOUT,
    COMMAND_TIMEOUT,
    RESPONSE_URL_S,
    RESPONSE_URL_USES,
    Office,
    ResponseUrl,
)
from bot.practice.workspace.socket_mode import Ack
from bot.practice.workspace.state import APP_ID, TEAM_DOMAIN, TEAM_ID, Channel, JsonObject

#: elements that are not part of `state.values`
_STATELESS = {"button", "overflow"}


class NoSuchElementError(LookupError):
    """Nothing there to click."""


def find_message(office: Office, user: str, channel: Channel, ts: str) -> tuple[JsonObject, bool]:
    """The message as this person sees it, and whether only they see it."""
    message = channel.message(ts)
    if message is not None:
        return message, False
    for whom, where, whispered in reversed(office.state.ephemerals):
        if whom == user and where == channel.id and whispered["ts"] == ts:
            return whispered, True
    raise NoSuchElementError(f"no message {ts} in {channel.name}")


def elements_of(blocks: list[JsonObject]) -> list[tuple[JsonObject, JsonObject]]:
    """(block, element) for everything that can be used, in order."""
    found: list[tuple[JsonObject, JsonObject]] = []
    for block in blocks:
        inner = block.get("elements", []) if block["type"] in ("actions", "context_actions") else []
        for element in [*inner, block.get("accessory"), block.get("element")]:
            if isinstance(element, dict) and element.get("type") not in (None, "image"):
                found.append((block, element))
    return found


#: how an element may be named, best first
_NAMES: tuple[Callable[[JsonObject], object], ...] = (
    lambda e: e.get("action_id"),
    lambda e: (e.get("text") or {}).get("text"),
    lambda e: e.get("value"),
)


def pick(blocks: list[JsonObject], wanted: str) -> tuple[JsonObject, JsonObject]:
    """The element with this action_id, value or label."""
    usable = elements_of(blocks)
    for name_of in _NAMES:
        for block, element in usable:
            if name_of(element) == wanted:
                return block, element
    there = [(e.get("text") or {}).get("text") or e.get("action_id") for _, e in usable]
    raise NoSuchElementError(f"no element {wanted!r}; there are {there}")


def initial_values(blocks: list[JsonObject]) -> dict[str, JsonObject]:
    """`state.values` before anybody touched anything."""
    values: dict[str, JsonObject] = {}
    for block, element in elements_of(blocks):
        if element["type"] not in _STATELESS:
            values.setdefault(block["block_id"], {})[element["action_id"]] = _untouched(element)
    return values


def _untouched(element: JsonObject) -> JsonObject:
    kind = element["type"]
    names: dict[str, tuple[str, str, Any]] = {
        "static_select": ("selected_option", "initial_option", None),
        "external_select": ("selected_option", "initial_option", None),
        "radio_buttons": ("selected_option", "initial_option", None),
        "checkboxes": ("selected_options", "initial_options", []),
        "multi_static_select": ("selected_options", "initial_options", []),
        "users_select": ("selected_user", "initial_user", None),
        "multi_users_select": ("selected_users", "initial_users", []),
        "conversations_select": ("selected_conversation", "initial_conversation", None),
        "channels_select": ("selected_channel", "initial_channel", None),
        "datepicker": ("selected_date", "initial_date", None),
        "timepicker": ("selected_time", "initial_time", None),
        "datetimepicker": ("selected_date_time", "initial_date_time", None),
    }
    field, initial, empty = names.get(kind, ("value", "initial_value", None))
    return {"type": kind, field: element.get(initial, empty)}


def _action(office: Office, block: JsonObject, element: JsonObject, chosen: JsonObject | None) -> JsonObject:
    action: JsonObject = {
        "type": element["type"],
        "action_id": element["action_id"],
        "block_id": block["block_id"],
        "action_ts": office.stamps.next(),
    }
    if element["type"] == "button":
        action["text"] = element["text"] | {"emoji": element["text"].get("emoji", True)}
        action |= {k: element[k] for k in ("value", "style", "url") if k in element}
    else:
        action |= chosen or {k: v for k, v in _untouched(element).items() if k != "type"}
    return action


def _click_payload(
    office: Office,
    user: str,
    channel: Channel,
    found: tuple[JsonObject, bool],
    wanted: str,
    chosen: JsonObject | None,
    values: dict[str, JsonObject] | None,
) -> JsonObject:
    """The block_actions payload of an element of a message."""
    message, ephemeral = found
    ts = message["ts"]
    block, element = pick(message.get("blocks", []), wanted)
    container: JsonObject = {
        "type": "message",
        "message_ts": ts,
        "channel_id": channel.id,
        "is_ephemeral": ephemeral,
    }
    if message.get("thread_ts"):
        container["thread_ts"] = message["thread_ts"]
    url = ResponseUrl(
        user=user,
        channel=channel.id,
        made_at=office.monotonic(),
        message_ts=ts,
        ephemeral=ephemeral,
        thread_ts=message.get("thread_ts"),
    )
    names = {"im": "directmessage", "group": "privategroup"}
    payload: JsonObject = office.payload_head(user) | {
        "type": "block_actions",
        "container": container,
        "trigger_id": office.trigger(user),
        "channel": {"id": channel.id, "name": names.get(channel.kind, channel.name)},
        "state": {"values": values if values is not None else initial_values(message.get("blocks", []))},
        "response_url": office.response_url(url),
        "actions": [_action(office, block, element, chosen)],
    }
    if not ephemeral:
        payload["message"] = copy.deepcopy(message)
    return payload


async def click(
    office: Office,
    user: str,
    channel: Channel,
    ts: str,
    wanted: str,
    *,
    chosen: JsonObject | None = None,
    values: dict[str, JsonObject] | None = None,
) -> Ack | None:
    """Use an element of a message. `chosen` is the choice of a select, such as {"selected_option": …}.

    The ack, or None: then the person sees a warning triangle."""
    message, ephemeral = find_message(office, user, channel, ts)
    payload = _click_payload(office, user, channel, (message, ephemeral), wanted, chosen, values)
    ack = await office.socket.deliver("interactive", payload, accepts_response_payload=True)
    if ack is None:
        _warn(
            office,
            user,
            channel,
            message.get("thread_ts"),
            f"⚠️ {CLICK_TIMEOUT}",
            "a click was not acknowledged within 3 s",
        )
    return ack


def _warn(office: Office, user: str, channel: Channel, thread_ts: str | None, text: str, refusal: str) -> None:
    notice: JsonObject = {"type": "message", "user": "USLACKBOT", "text": text, "ts": office.stamps.next()}
    office.whisper(user, channel, notice | ({"thread_ts": thread_ts} if thread_ts else {}))
    office.traffic.record(
        at=office.stamps.now(), kind="socket", name="no ack", request=text, response=None, refusal=refusal
    )


async def command(office: Office, user: str, channel: Channel, line: str) -> Ack | None:
    """A slash command as typed: "/relaunch status". Only commands of the manifest exist, and never in threads."""
    name, _, text = line.strip().partition(" ")
    if name not in office.manifest.commands:
        _warn(office, user, channel, None, f"{name} is not a valid command.", "")
        return None
    person = office.state.users[user]
    names = {"im": "directmessage", "group": "privategroup"}
    url = ResponseUrl(user=user, channel=channel.id, made_at=office.monotonic())
    payload: JsonObject = {
        "token": "deprecated",
        "team_id": TEAM_ID,
        "team_domain": TEAM_DOMAIN,
        "channel_id": channel.id,
        "channel_name": names.get(channel.kind, channel.name),
        "user_id": user,
        "user_name": person.name,
        "command": name,
        "text": text.strip(),
        "api_app_id": APP_ID,
        "is_enterprise_install": "false",
        "response_url": office.response_url(url),
        "trigger_id": office.trigger(user),
    }
    ack = await office.socket.deliver("slash_commands", payload, accepts_response_payload=True)
    if ack is None:
        _warn(
            office,
            user,
            channel,
            None,
            COMMAND_TIMEOUT.format(command=name),
            "a command was not acknowledged within 3 s",
        )
    elif ack.payload:
        answer = ack.payload if isinstance(ack.payload, dict) else {"text": str(ack.payload)}
        respond(office, url, answer)
    return ack


def use_response_url(office: Office, key: str, body: JsonObject) -> tuple[int, str]:
    """HTTP status and body of a post to a response_url."""
    url = office.response_urls.get(key)
    if url is None:
        return 404, "no_service"
    if office.monotonic() - url.made_at > RESPONSE_URL_S or url.uses >= RESPONSE_URL_USES:
        return 404, "used_url"
    url.uses += 1
    try:
        respond(office, url, body)
    except SlackError as error:
        return 500, error.code
    return 200, "ok"


def respond(office: Office, url: ResponseUrl, body: JsonObject) -> None:
    """Carry out what was posted to a response_url, or given with a command's ack."""
    channel = office.state.channels[url.channel]
    if body.get("delete_original"):
        _remove_original(office, url, channel)
        return
    call = Call(office, body)
    content = content_of(call)
    if body.get("replace_original") and url.message_ts:
        _replace_original(office, url, channel, content)
        return
    message = bot_message(call, content)
    thread_ts = body.get("thread_ts") or (url.thread_ts if body.get("response_type") != "in_channel" else None)
    if thread_ts:
        message["thread_ts"] = thread_ts
    if body.get("response_type") == "in_channel":
        office.add_message(channel, message)
    else:
        office.whisper(url.user, channel, message | {"is_ephemeral": True})


def _remove_original(office: Office, url: ResponseUrl, channel: Channel) -> None:
    message, ephemeral = find_message(office, url.user, channel, url.message_ts or "")
    if ephemeral:
        office.state.ephemerals.remove((url.user, channel.id, message))
        gone = {"type": "ephemeral_deleted", "user": url.user, "channel": channel.id, "ts": message["ts"]}
        office.traffic.publish(gone)
    else:
        office.delete_message(channel, message)


def _replace_original(office: Office, url: ResponseUrl, channel: Channel, content: JsonObject) -> None:
    message, ephemeral = find_message(office, url.user, channel, url.message_ts or "")
    previous = copy.deepcopy(message)
    message.pop("blocks", None)
    message.update(content)
    if ephemeral:
        event = {"type": "ephemeral", "user": url.user, "channel": channel.id, "message": copy.deepcopy(message)}
        office.traffic.publish(event)
        office.changed()
    else:
        office.change_message(channel, message, previous)


def _own_view(office: Office, user: str, view_id: str) -> JsonObject:
    view = office.state.views.get(view_id)
    if view is None:
        raise NoSuchElementError(f"no view {view_id}")
    return view


async def view_action(
    office: Office,
    user: str,
    view_id: str,
    wanted: str,
    chosen: JsonObject | None,
    values: dict[str, JsonObject] | None,
) -> Ack | None:
    """Use an element of a modal or of the App Home."""
    view = _own_view(office, user, view_id)
    block, element = pick(view["blocks"], wanted)
    view["state"] = {"values": values if values is not None else initial_values(view["blocks"])}
    payload = office.payload_head(user) | {
        "type": "block_actions",
        "container": {"type": "view", "view_id": view_id},
        "trigger_id": office.trigger(user),
        "view": copy.deepcopy(view),
        "actions": [_action(office, block, element, chosen)],
    }
    return await office.socket.deliver("interactive", payload, accepts_response_payload=True)


async def submit(office: Office, user: str, view_id: str, values: dict[str, JsonObject] | None = None) -> JsonObject:
    """Submit a modal. {"closed": true}, {"errors": {…}} or {"timeout": true}; the app's answer is carried out."""
    view = _own_view(office, user, view_id)
    view["state"] = {"values": initial_values(view["blocks"]) | (values or {})}
    payload = office.payload_head(user) | {
        "type": "view_submission",
        "trigger_id": office.trigger(user),
        "view": copy.deepcopy(view),
        "response_urls": [],
    }
    ack = await office.socket.deliver("interactive", payload, accepts_response_payload=True)
    if ack is None:
        return {"timeout": True}
    return _after_submit(office, user, view, ack.payload if isinstance(ack.payload, dict) else {})


def _after_submit(office: Office, user: str, view: JsonObject, answer: dict[str, Any]) -> JsonObject:
    action = answer.get("response_action")
    stack = office.state.stacks.get(user, [])
    if action == "errors":
        return {"errors": answer.get("errors", {})}
    if action in ("update", "push"):
        new = answer.get("view")
        refuse_blocks(blockkit.check_view(new))
        call = Call(office, {})
        if action == "update":
            replace_view(call, view, new or {})
        else:
            push(call, user, new or {})
        return {"closed": False}
    if action == "clear":
        stack.clear()
    elif view["id"] in stack:
        stack.remove(view["id"])
    show_modals(office, user)
    return {"closed": True}


def close_view(office: Office, user: str, view_id: str) -> None:
    """Close a modal without submitting; the app hears of it when it asked to."""
    view = _own_view(office, user, view_id)
    stack = office.state.stacks.get(user, [])
    if view_id in stack:
        stack.remove(view_id)
    show_modals(office, user)
    if view.get("notify_on_close"):
        payload = office.payload_head(user) | {"type": "view_closed", "view": copy.deepcopy(view), "is_cleared": False}
        office.spawn(office.socket.deliver("interactive", payload, accepts_response_payload=False))


async def shortcut(
    office: Office, user: str, callback_id: str, channel: Channel | None = None, ts: str = ""
) -> Ack | None:
    """A global shortcut, or a message shortcut when a message is given."""
    payload = office.payload_head(user) | {
        "type": "shortcut",
        "callback_id": callback_id,
        "trigger_id": office.trigger(user),
        "action_ts": office.stamps.next(),
    }
    if channel is not None:
        message, _ = find_message(office, user, channel, ts)
        url = ResponseUrl(user=user, channel=channel.id, made_at=office.monotonic(), message_ts=ts)
        payload |= {
            "type": "message_action",
            "message_ts": ts,
            "channel": {"id": channel.id, "name": channel.name},
            "message": copy.deepcopy(message),
            "response_url": office.response_url(url),
        }
    return await office.socket.deliver("interactive", payload, accepts_response_payload=False)
