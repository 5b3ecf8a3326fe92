"""Block Kit as Slack validates it: which fields each block and element has, and its limits (DESIGN section 8)."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from bot.practice.workspace.schema import (
    ByType,
    Check,
    Fields,
    anything,
    array,
    at,
    boolean,
    length,
    number,
    of,
    one_of,
    string,
)

JsonObject = dict[str, Any]

BLOCKS_IN_MESSAGE = 50
BLOCKS_IN_VIEW = 100
#: undocumented; about 13,200 characters of block text have been refused
MESSAGE_CHARACTERS = 13_200
MARKDOWN_CHARACTERS = 12_000
VIEW_BYTES = 250_000
UPDATE_CHARACTERS = 4_000
TEXT_CHARACTERS = 40_000

ID = string(255, 1)


def plain(longest: int) -> Check:
    """A plain_text object."""
    return _text_object({"plain_text"}, longest)


def text(longest: int) -> Check:
    """A plain_text or mrkdwn object."""
    return _text_object({"plain_text", "mrkdwn"}, longest)


def _text_object(kinds: set[str], longest: int) -> Check:
    inner = string(longest, 1)
    extra: dict[str, dict[str, Check]] = {"plain_text": {"emoji": boolean}, "mrkdwn": {"verbatim": boolean}}

    def check(value: Any, pointer: str, errors: list[str]) -> None:
        kind = value.get("type") if isinstance(value, dict) else None
        if kind not in kinds:
            errors.append(at("failed to match all allowed schemas", pointer))
            if isinstance(value, dict):
                errors.append(at(f"must be one of: {', '.join(sorted(kinds))}", f"{pointer}/type"))
            return
        found: list[str] = []
        of(kind, {"text": inner}, extra[kind])(value, pointer, found)
        if found:
            errors.append(at("failed to match all allowed schemas", pointer))
            errors.extend(found)

    return check


CONFIRM = Fields(
    {"title": plain(100), "text": text(300), "confirm": plain(30), "deny": plain(30)},
    {"style": one_of("primary", "danger")},
)


def _option(where: str) -> Check:
    label = text(75) if where in ("checkboxes", "radio_buttons") else plain(75)
    optional: dict[str, Check] = {"description": text(75) if where in ("checkboxes", "radio_buttons") else plain(75)}
    required: dict[str, Check] = {"text": label}
    if where == "overflow":
        optional |= {"url": string(3000), "value": string(150)}
    else:
        required["value"] = string(150)
    return Fields(required, optional)


def _options(where: str, most: int) -> Check:
    return array(_option(where), most, 1)


def _options_or_groups(value: JsonObject, pointer: str, errors: list[str]) -> None:
    if ("options" in value) == ("option_groups" in value):
        errors.append(at("must have exactly one of: options, option_groups", pointer))


_SELECT: dict[str, Check] = {
    "placeholder": plain(150),
    "confirm": CONFIRM,
    "focus_on_load": boolean,
    "action_id": ID,
}
_GROUPS = array(Fields({"label": plain(75), "options": _options("select", 100)}), 100, 1)
_STATIC: dict[str, Check] = _SELECT | {"options": _options("select", 100), "option_groups": _GROUPS}
_PICK: dict[str, Check] = {"action_id": ID, "confirm": CONFIRM, "focus_on_load": boolean}
_SPOKEN: dict[str, Check] = {"accessibility_label": string(75)}

BUTTON = of(
    "button",
    {"text": plain(75)},
    _SPOKEN
    | {
        "action_id": ID,
        "value": string(2000),
        "url": string(3000),
        "style": one_of("primary", "danger"),
        "confirm": CONFIRM,
    },
)


def _has_source(value: JsonObject, pointer: str, errors: list[str]) -> None:
    if ("image_url" in value) == ("slack_file" in value):
        errors.append(at("must have exactly one of: image_url, slack_file", pointer))


_IMAGE_FIELDS: dict[str, Check] = {
    "image_url": string(3000, 1),
    "slack_file": Fields({}, {"id": string(100), "url": string(3000)}),
}

ELEMENTS: dict[str, Check] = {
    "button": BUTTON,
    "overflow": of("overflow", {"options": _options("overflow", 5)}, {"action_id": ID, "confirm": CONFIRM}),
    "static_select": of("static_select", {}, _STATIC | {"initial_option": _option("select")}, _options_or_groups),
    "multi_static_select": of(
        "multi_static_select",
        {},
        _STATIC | {"initial_options": _options("select", 100), "max_selected_items": number(1)},
        _options_or_groups,
    ),
    "external_select": of("external_select", {}, _SELECT | {"min_query_length": number(0), "initial_option": anything}),
    "users_select": of("users_select", {}, _SELECT | {"initial_user": string(50)}),
    "multi_users_select": of(
        "multi_users_select", {}, _SELECT | {"initial_users": array(string(50)), "max_selected_items": number(1)}
    ),
    "conversations_select": of(
        "conversations_select",
        {},
        _SELECT
        | {
            "initial_conversation": string(50),
            "default_to_current_conversation": boolean,
            "response_url_enabled": boolean,
            "filter": anything,
        },
    ),
    "channels_select": of(
        "channels_select", {}, _SELECT | {"initial_channel": string(50), "response_url_enabled": boolean}
    ),
    "checkboxes": of(
        "checkboxes", {"options": _options("checkboxes", 10)}, _PICK | {"initial_options": _options("checkboxes", 10)}
    ),
    "radio_buttons": of(
        "radio_buttons",
        {"options": _options("radio_buttons", 10)},
        _PICK | {"initial_option": _option("radio_buttons")},
    ),
    "datepicker": of("datepicker", {}, _SELECT | {"initial_date": string(10, 10)}),
    "timepicker": of("timepicker", {}, _SELECT | {"initial_time": string(5, 5), "timezone": string(100)}),
    "datetimepicker": of("datetimepicker", {}, _PICK | {"initial_date_time": number(0)}),
}
_TYPED: dict[str, Check] = {
    "action_id": ID,
    "placeholder": plain(150),
    "dispatch_action_config": anything,
    "focus_on_load": boolean,
}
INPUTS: dict[str, Check] = {k: v for k, v in ELEMENTS.items() if k not in ("button", "overflow")} | {
    "plain_text_input": of(
        "plain_text_input",
        {},
        _TYPED
        | {
            "initial_value": string(3000),
            "multiline": boolean,
            "min_length": number(0, 3000),
            "max_length": number(1, 3000),
        },
    ),
    "number_input": of(
        "number_input",
        {"is_decimal_allowed": boolean},
        _TYPED | {"initial_value": string(100), "min_value": string(100), "max_value": string(100)},
    ),
    "url_text_input": of("url_text_input", {}, _TYPED | {"initial_value": string(3000)}),
    "email_text_input": of("email_text_input", {}, _TYPED | {"initial_value": string(3000)}),
    "file_input": of("file_input", {}, {"action_id": ID, "filetypes": anything, "max_files": number(1, 10)}),
}

_STYLE = Fields(
    {},
    dict.fromkeys(
        ("bold", "italic", "strike", "code", "underline", "highlight", "client_highlight", "unlink"), boolean
    ),
)
_SECTION_PARTS = ByType(
    {
        "text": of("text", {"text": string(100_000, 1)}, {"style": _STYLE}),
        "link": of("link", {"url": string(3000, 1)}, {"text": string(100_000), "unsafe": boolean, "style": _STYLE}),
        "user": of("user", {"user_id": string(50, 1)}, {"style": _STYLE}),
        "usergroup": of("usergroup", {"usergroup_id": string(50, 1)}, {"style": _STYLE}),
        "channel": of("channel", {"channel_id": string(50, 1)}, {"style": _STYLE}),
        "emoji": of("emoji", {"name": string(100, 1)}, {"unicode": string(100), "url": string(3000), "style": _STYLE}),
        "broadcast": of("broadcast", {"range": one_of("here", "channel", "everyone")}, {"style": _STYLE}),
        "date": of(
            "date",
            {"timestamp": number(), "format": string(200, 1)},
            {"url": string(3000), "fallback": string(1000), "style": _STYLE},
        ),
        "color": of("color", {"value": string(20, 1)}, {"style": _STYLE}),
    }
)
_PARTS = array(_SECTION_PARTS)
_RICH_SECTION = of("rich_text_section", {"elements": _PARTS})
_RICH = ByType(
    {
        "rich_text_section": _RICH_SECTION,
        "rich_text_preformatted": of(
            "rich_text_preformatted", {"elements": _PARTS}, {"border": number(0, 1), "language": string(50)}
        ),
        "rich_text_quote": of("rich_text_quote", {"elements": _PARTS}, {"border": number(0, 1)}),
        "rich_text_list": of(
            "rich_text_list",
            {"style": one_of("bullet", "ordered"), "elements": array(_RICH_SECTION)},
            {"indent": number(0, 8), "offset": number(0), "border": number(0, 1)},
        ),
    }
)
_BLOCK_ID: dict[str, Check] = {"block_id": string(255, 1)}


def _has_content(value: JsonObject, pointer: str, errors: list[str]) -> None:
    if not value.get("text") and not value.get("fields"):
        errors.append(at("must have at least one of: text, fields", pointer))


def _unique_actions(value: JsonObject, pointer: str, errors: list[str]) -> None:
    ids = Counter(e.get("action_id") for e in value.get("elements", []) if isinstance(e, dict) and e.get("action_id"))
    errors.extend(
        at(f"action_id {i!r} already exists in this block", f"{pointer}/elements") for i, n in ids.items() if n > 1
    )


RICH_TEXT = of("rich_text", {"elements": array(_RICH, least=1)}, _BLOCK_ID)
_CELL = ByType(
    {
        "raw_text": of("raw_text", {"text": string(10_000, 1)}),
        "raw_number": of("raw_number", {"value": number()}, {"text": string(1000)}),
        "rich_text": RICH_TEXT,
    }
)
_EVERYWHERE: dict[str, Check] = {
    "section": of(
        "section",
        {},
        _BLOCK_ID
        | {
            "text": text(3000),
            "fields": array(text(2000), 10, 1),
            "accessory": ByType(
                ELEMENTS | {"image": of("image", {"alt_text": string(2000, 1)}, _IMAGE_FIELDS, _has_source)}
            ),
            "expand": boolean,
        },
        _has_content,
    ),
    "header": of("header", {"text": plain(150)}, _BLOCK_ID | {"level": number(1, 6)}),
    "divider": of("divider", {}, _BLOCK_ID),
    "context": of(
        "context",
        {
            "elements": array(
                ByType(
                    {
                        "image": of("image", {"alt_text": string(2000, 1)}, _IMAGE_FIELDS, _has_source),
                        "plain_text": plain(3000),
                        "mrkdwn": text(3000),
                    }
                ),
                10,
                1,
            )
        },
        _BLOCK_ID,
    ),
    "actions": of("actions", {"elements": array(ByType(ELEMENTS), 25, 1)}, _BLOCK_ID, _unique_actions),
    "image": of(
        "image", {"alt_text": string(2000, 1)}, _BLOCK_ID | _IMAGE_FIELDS | {"title": plain(2000)}, _has_source
    ),
    "rich_text": RICH_TEXT,
    "input": of(
        "input",
        {"label": plain(2000), "element": ByType(INPUTS)},
        _BLOCK_ID | {"hint": plain(2000), "optional": boolean, "dispatch_action": boolean},
    ),
    "video": of(
        "video",
        {"title": plain(199), "video_url": string(3000), "thumbnail_url": string(3000), "alt_text": string(2000)},
        _BLOCK_ID | {"title_url": string(3000), "description": plain(200), "author_name": string(49)},
    ),
}
_MESSAGE_ONLY: dict[str, Check] = {
    "markdown": of("markdown", {"text": string(MARKDOWN_CHARACTERS, 1)}, _BLOCK_ID),
    "table": of(
        "table",
        {"rows": array(array(_CELL, 20, 1), 100, 1)},
        _BLOCK_ID
        | {
            "column_settings": array(
                Fields({}, {"align": one_of("left", "center", "right"), "is_wrapped": boolean}), 20
            )
        },
    ),
    "file": of("file", {"external_id": string(255), "source": one_of("remote")}, _BLOCK_ID),
    "context_actions": of(
        "context_actions",
        {"elements": array(ByType({"feedback_buttons": anything, "icon_button": anything}), 5, 1)},
        _BLOCK_ID,
    ),
    "task_card": of(
        "task_card",
        {"task_id": string(255, 1), "title": string(3000, 1)},
        _BLOCK_ID
        | {
            "status": one_of("pending", "in_progress", "complete", "error"),
            "details": RICH_TEXT,
            "output": RICH_TEXT,
            "sources": anything,
        },
    ),
    "plan": of("plan", {"title": string(3000, 1)}, _BLOCK_ID | {"tasks": array(anything)}),
    "alert": of(
        "alert", {"text": text(200)}, _BLOCK_ID | {"level": one_of("default", "info", "warning", "error", "success")}
    ),
}
_IN_MESSAGE = ByType(_EVERYWHERE | _MESSAGE_ONLY)
_IN_VIEW = ByType(_EVERYWHERE)


def check_message_blocks(blocks: Any, pointer: str = "/blocks") -> list[str]:
    """Error lines for the blocks of a message; empty when Slack would take them."""
    errors: list[str] = []
    array(_IN_MESSAGE, BLOCKS_IN_MESSAGE)(blocks, pointer, errors)
    if isinstance(blocks, list):
        _check_together(blocks, pointer, errors)
    return errors


def _check_together(blocks: list[Any], pointer: str, errors: list[str]) -> None:
    objects = [b for b in blocks if isinstance(b, dict)]
    ids = Counter(b["block_id"] for b in objects if b.get("block_id"))
    errors.extend(at(f"block_id {i!r} already exists", pointer) for i, n in ids.items() if n > 1)
    if sum(1 for b in objects if b.get("type") == "table") > 1:
        errors.append(at("only_one_table_allowed", pointer))
    markdown = sum(length(str(b.get("text", ""))) for b in objects if b.get("type") == "markdown")
    if markdown > MARKDOWN_CHARACTERS:
        errors.append(at(f"must be less than {MARKDOWN_CHARACTERS + 1} characters", pointer))


def check_view(view: Any) -> list[str]:
    """Error lines for a modal or home view."""
    errors: list[str] = []
    if not isinstance(view, dict):
        return [at("must be an object", "/view")]
    kind = view.get("type")
    shared: dict[str, Check] = {
        "blocks": array(_IN_VIEW, BLOCKS_IN_VIEW),
        "private_metadata": string(3000),
        "callback_id": string(255),
        "external_id": string(255),
    }
    if kind == "modal":
        modal = {"submit": plain(24), "close": plain(24), "clear_on_close": boolean, "notify_on_close": boolean}
        rest = shared | modal | {"submit_disabled": boolean}
        Fields({"type": one_of("modal"), "title": plain(24), "blocks": shared["blocks"]}, rest)(view, "/view", errors)
        if not view.get("submit") and any(
            b.get("type") == "input" for b in view.get("blocks", []) if isinstance(b, dict)
        ):
            errors.append(at("submit is required when an input block is present", "/view"))
    elif kind == "home":
        Fields({"type": one_of("home"), "blocks": shared["blocks"]}, shared)(view, "/view", errors)
    else:
        errors.append(at("must be one of: modal, home", "/view/type"))
    blocks = view.get("blocks")
    _check_together(blocks if isinstance(blocks, list) else [], "/view/blocks", errors)
    return errors


def view_too_large(view: Any) -> bool:
    """Whether a view is above Slack's 250 kB."""
    return len(json.dumps(view).encode()) > VIEW_BYTES


def visible_characters(blocks: Any) -> int:
    """Characters of text in blocks, for the limit of a whole message."""
    return sum(length(t) for t in _texts(blocks))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for entry in value:
            yield from _texts(entry)
    elif isinstance(value, dict):
        for name, entry in value.items():
            if name == "text" and isinstance(entry, str):
                yield entry
            elif name != "value":
                yield from _texts(entry)
