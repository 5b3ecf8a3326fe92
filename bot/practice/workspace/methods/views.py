"""views.*: modals with trigger ids, the stack of three, hashes; the App Home."""

import copy
from typing import Any

from bot.practice.workspace import blockkit
from bot.practice.workspace.calls import Call, Methods, SlackError, refuse_blocks
from bot.practice.workspace.methods.chat import with_ids
from bot.practice.workspace.office import TRIGGER_S, Office, Trigger
from bot.practice.workspace.state import APP_ID, TEAM_ID, JsonObject

METHODS = Methods()
_STACK = 3


def checked(call: Call) -> JsonObject:
    """The view of a call, as Slack checks it."""
    view: Any = call.data("view", "invalid_arguments")
    if view is None:
        raise SlackError("invalid_arguments")
    if blockkit.view_too_large(view):
        raise SlackError("view_too_large")
    errors = blockkit.check_view(view)
    if errors:
        messages = [f"[ERROR] {line}" for line in errors]
        raise SlackError("invalid_arguments", response_metadata={"messages": messages})
    refuse_blocks(errors)
    content: JsonObject = view
    return content


def use_trigger(call: Call) -> Trigger:
    """Use up a trigger id: single use, for 3 s."""
    trigger = call.office.triggers.get(call.need("trigger_id", "invalid_trigger_id"))
    if trigger is None:
        raise SlackError("invalid_trigger_id")
    if trigger.used:
        raise SlackError("exchanged_trigger_id")
    if call.office.monotonic() - trigger.made_at > TRIGGER_S:
        raise SlackError("expired_trigger_id")
    trigger.used = True
    return trigger


def stored(call: Call, view: JsonObject, *, view_id: str, root: str, previous: str | None) -> JsonObject:
    """The view as Slack keeps it: ids, hash, state."""
    bot = call.office.state.bot
    kept = copy.deepcopy(view)
    kept["blocks"] = with_ids(call, kept["blocks"])
    defaults: JsonObject = {"callback_id": "", "private_metadata": "", "external_id": "", "submit": None, "close": None}
    return (
        defaults
        | {"clear_on_close": False, "notify_on_close": False}
        | kept
        | {
            "id": view_id,
            "team_id": TEAM_ID,
            "app_id": APP_ID,
            "bot_id": bot.bot_id,
            "state": {"values": {}},
            "hash": f"{int(call.office.stamps.now())}.{call.office.ids.next('h')}",
            "root_view_id": root,
            "previous_view_id": previous,
        }
    )


def show_modals(office: Office, user: str) -> None:
    """Tell the pages which modals this person sees."""
    views = [copy.deepcopy(office.state.views[v]) for v in office.state.stacks.get(user, [])]
    office.traffic.publish({"type": "modals", "user": user, "views": views})
    office.changed()


def push(call: Call, user: str, view: JsonObject) -> JsonObject:
    """Put a modal on top of a person's stack."""
    stack = call.office.state.stacks.setdefault(user, [])
    if len(stack) >= _STACK:
        raise SlackError("push_limit_reached")
    view_id = call.office.ids.next("V")
    kept = stored(
        call, view, view_id=view_id, root=stack[0] if stack else view_id, previous=stack[-1] if stack else None
    )
    call.office.state.views[view_id] = kept
    stack.append(view_id)
    show_modals(call.office, user)
    return {"view": copy.deepcopy(kept)}


@METHODS.add("views.open")
def open_view(call: Call) -> JsonObject:
    """Open a modal."""
    view = checked(call)
    trigger = use_trigger(call)
    call.office.state.stacks[trigger.user] = []
    return push(call, trigger.user, view)


@METHODS.add("views.push")
def push_view(call: Call) -> JsonObject:
    """Put a modal on top."""
    view = checked(call)
    return push(call, use_trigger(call).user, view)


@METHODS.add("views.update")
def update_view(call: Call) -> JsonObject:
    """Replace an open view."""
    view = checked(call)
    views = call.office.state.views
    wanted = call.text("view_id")
    current = views.get(wanted) or next(
        (v for v in views.values() if call.text("external_id") and v["external_id"] == call.text("external_id")), None
    )
    if current is None:
        raise SlackError("not_found")
    if call.text("hash") and call.text("hash") != current["hash"]:
        raise SlackError("hash_conflict")
    return {"view": replace_view(call, current, view)}


def replace_view(call: Call, current: JsonObject, view: JsonObject) -> JsonObject:
    """Put new content into a view that is there."""
    kept = stored(call, view, view_id=current["id"], root=current["root_view_id"], previous=current["previous_view_id"])
    call.office.state.views[current["id"]] = kept
    for user, stack in call.office.state.stacks.items():
        if current["id"] in stack:
            show_modals(call.office, user)
    return copy.deepcopy(kept)


@METHODS.add("views.publish")
def publish(call: Call) -> JsonObject:
    """Set a person's App Home."""
    if not call.office.manifest.home_tab:
        raise SlackError("not_enabled")
    user = call.need("user_id")
    if user not in call.office.state.users:
        raise SlackError("invalid_arguments")
    view = checked(call)
    current = call.office.state.homes.get(user)
    if call.text("hash") and current and call.text("hash") != current["hash"]:
        raise SlackError("hash_conflict")
    view_id = current["id"] if current else call.office.ids.next("V")
    kept = stored(call, view, view_id=view_id, root=view_id, previous=None)
    call.office.state.homes[user] = kept
    call.office.state.views[view_id] = kept
    call.office.traffic.publish({"type": "home", "user": user, "view": copy.deepcopy(kept)})
    call.office.changed()
    return {"view": copy.deepcopy(kept)}
