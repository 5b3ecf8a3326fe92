"""Block Kit is judged as Slack judges it."""

from typing import Any

import pytest

from bot.practice.workspace.blockkit import check_message_blocks, check_view

Block = dict[str, Any]


def words(text: str = "x") -> Block:
    return {"type": "mrkdwn", "text": text}


def plain(text: str = "x") -> Block:
    return {"type": "plain_text", "text": text}


def button(**extra: Any) -> Block:
    return {"type": "button", "text": plain("Go"), "action_id": "go", **extra}


CELL = {"type": "raw_text", "text": "a"}
PICTURE = {"type": "image", "image_url": "http://a/b", "alt_text": "b"}
NOTHING = {"type": "rich_text_section", "elements": [{"type": "text", "text": ""}]}

GOOD: dict[str, list[Block]] = {
    "section with button": [{"type": "section", "text": words(), "accessory": button()}],
    "fields": [{"type": "section", "fields": [words()] * 10}],
    "actions with confirm": [
        {
            "type": "actions",
            "elements": [
                button(
                    value="v" * 2000,
                    style="danger",
                    confirm={"title": plain(), "text": words(), "confirm": plain("Yes"), "deny": plain("No")},
                )
            ],
        }
    ],
    "log": [
        {
            "type": "rich_text",
            "elements": [{"type": "rich_text_preformatted", "elements": [{"type": "text", "text": "Traceback"}]}],
        }
    ],
    "table": [{"type": "table", "rows": [[CELL]], "column_settings": [{"align": "right"}]}],
    "context": [
        {"type": "context", "elements": [words(), {"type": "image", "image_url": "http://a/b", "alt_text": "b"}]}
    ],
    "header, divider": [{"type": "header", "text": plain("h" * 150)}, {"type": "divider"}],
}
BAD: dict[str, tuple[list[Block], str]] = {
    "unknown block": ([{"type": "teapot"}], "unsupported type: teapot [json-pointer:/blocks/0/type]"),
    "misspelt field": (
        [{"type": "section", "text": words(), "accesory": button()}],
        "invalid additional property: accesory [json-pointer:/blocks/0]",
    ),
    "mrkdwn header": (
        [{"type": "header", "text": words()}],
        "failed to match all allowed schemas [json-pointer:/blocks/0/text]",
    ),
    "long header": ([{"type": "header", "text": plain("h" * 151)}], "must be less than 151 characters"),
    "empty text": ([{"type": "section", "text": words("")}], "must be more than 0 characters"),
    "no content": ([{"type": "section"}], "must have at least one of: text, fields"),
    "long label": (
        [{"type": "actions", "elements": [button(text=plain("x" * 76))]}],
        "must be less than 76 characters",
    ),
    "long value": ([{"type": "actions", "elements": [button(value="x" * 2001)]}], "must be less than 2001 characters"),
    "odd style": ([{"type": "actions", "elements": [button(style="success")]}], "must be one of: primary, danger"),
    "same action twice": ([{"type": "actions", "elements": [button(), button()]}], "already exists in this block"),
    "no elements": ([{"type": "actions", "elements": []}], "must provide at least 1 item"),
    "51 blocks": ([{"type": "divider"}] * 51, "no more than 50 items allowed [json-pointer:/blocks]"),
    "same block_id": ([{"type": "divider", "block_id": "a"}] * 2, "already exists"),
    "two tables": ([{"type": "table", "rows": [[CELL]]}] * 2, "only_one_table_allowed"),
    "empty cell": ([{"type": "table", "rows": [[{"type": "raw_text", "text": ""}]]}], "must be more than 0 characters"),
    "empty rich text": (
        [
            {
                "type": "rich_text",
                "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": ""}]}],
            }
        ],
        "must be more than 0 characters",
    ),
    "image without words": ([{"type": "image", "image_url": "http://a/b"}], "missing required field: alt_text"),
    "wide characters count twice": ([{"type": "header", "text": plain("🚀" * 76)}], "must be less than 151 characters"),
}


@pytest.mark.parametrize("name", GOOD)
def test_good_blocks_pass(name: str) -> None:
    assert check_message_blocks(GOOD[name]) == []


@pytest.mark.parametrize("name", BAD)
def test_bad_blocks_are_named(name: str) -> None:
    blocks, expected = BAD[name]
    assert any(expected in line for line in check_message_blocks(blocks)), check_message_blocks(blocks)


def test_views() -> None:
    entry = {"type": "input", "label": plain(), "element": {"type": "plain_text_input", "action_id": "n"}}
    modal = {"type": "modal", "title": plain("Start"), "submit": plain("Go"), "blocks": [entry]}
    assert check_view(modal) == []
    assert "submit is required" in check_view({k: v for k, v in modal.items() if k != "submit"})[0]
    assert "must be less than 25" in " ".join(check_view(modal | {"title": plain("x" * 25)}))
    assert check_view({"type": "home", "blocks": [{"type": "divider"}]}) == []
    assert (
        "unsupported type: markdown" in check_view({"type": "home", "blocks": [{"type": "markdown", "text": "x"}]})[0]
    )
