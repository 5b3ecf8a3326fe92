"""A payload as text for the terminal. It holds no Rich markup: print it with `markup=False`."""

import html
import re
from collections.abc import Sequence
from typing import Any

from bot.core.domain.message import Payload
from bot.core.rendering.clean import clean

_DATE = re.compile(r"<!date\^\d+\^[^|>]*\|([^>]*)>")
_USER = re.compile(r"<@([A-Z0-9]+)>")
_LINK = re.compile(r"<(https?://[^|>]+)\|([^>]*)>")
_BOLD = re.compile(r"(?<![\w*])\*(\S(?:[^*\n]*\S)?)\*(?![\w*])")


def render_terminal(payload: Payload) -> str:
    """All blocks one below the other, an empty line between paragraphs; buttons as "[Approve]  [Reject]"."""
    parts = [part for block in payload.blocks if (part := _block(block))]
    return clean("\n\n".join(parts) if parts else html.unescape(payload.text))


def _block(block: dict[str, Any]) -> str:
    kind = block["type"]
    if kind == "rich_text":
        return "\n".join(_rich(element) for element in block["elements"])
    if kind == "context":
        return "\n".join(_text(element) for element in block["elements"])
    if kind in ("header", "section"):
        return _text(block["text"])
    if kind == "divider":
        return "─" * 20
    if kind == "actions":
        return "  ".join(f"[{element['text']['text']}]" for element in block["elements"])
    return ""


def _rich(element: dict[str, Any]) -> str:
    kind, inner = element["type"], element["elements"]
    if kind == "rich_text_list":
        ordered = element.get("style") == "ordered"
        items = [_runs(item["elements"]) for item in inner]
        return "\n".join(f"{f'{n}.' if ordered else '-'} {item}" for n, item in enumerate(items, 1))
    text = _runs(inner)
    if kind == "rich_text_preformatted":
        return "\n".join("    " + line for line in text.split("\n"))
    if kind == "rich_text_quote":
        return "\n".join("> " + line for line in text.split("\n"))
    return text


def _runs(elements: Sequence[dict[str, Any]]) -> str:
    return "".join(_run(element) for element in elements)


def _run(element: dict[str, Any]) -> str:
    kind = element["type"]
    if kind == "user":
        return "@" + str(element["user_id"])
    if kind == "date":
        return str(element.get("fallback", ""))
    if kind == "link":
        return f"{element.get('text', '')} ({element['url']})"
    return str(element.get("text", ""))


def _text(element: dict[str, Any]) -> str:
    text = str(element["text"])
    if element["type"] == "plain_text":
        return text
    text = _LINK.sub(r"\2 (\1)", _USER.sub(r"@\1", _DATE.sub(r"\1", text)))
    return html.unescape(_BOLD.sub(r"\1", text).replace("`", "").replace("\u200b", ""))
