"""What a template gave, made into Block Kit within Slack's limits.

A template's JSON is Block Kit, with text markup (spans.py) wherever Slack wants text, `null` for an item left out, and
an object as a button's value. Limits: facts on Block Kit (50 blocks, 3,000 characters a text, 75 on a button, about
13,200 in all); too long is cut by rule, with how much is missing, and never an error.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bot.core.domain.button import BUTTON_VERSION, ButtonValue, ButtonValueError
from bot.core.rendering import spans
from bot.core.rendering.clean import ELLIPSIS, clean, escape, one_line, take, take_end, units
from bot.core.rendering.errors import RenderError
from bot.core.rendering.redact import redact

#: Slack: 50 blocks; one is kept free for "… n more"
MAX_BLOCKS = 50
#: shown characters in one message; Slack refuses from about 13,200
MAX_TOTAL = 12_500
#: fallback text: chat.update refuses more than 4,000
MAX_TEXT = 3_000
MAX_BUTTONS = 25
#: how much more of a log is cleaned than may be shown: terminal codes take room
WINDOW = 4


@dataclass(frozen=True, slots=True)
class Caps:
    """How long things may be in one attempt: UTF-16 units of a paragraph and of a log, items of a list."""

    text: int
    log: int
    items: int


_ATTEMPTS = (Caps(2900, 2500, 40), Caps(1500, 1500, 25), Caps(700, 800, 15), Caps(300, 400, 8), Caps(140, 200, 5))

Block = dict[str, Any]


def fit_blocks(raw: Sequence[Any]) -> list[Block]:
    """Blocks within the limits: the loosest caps that fit; as a last resort whole blocks go."""
    blocks: list[Block] = []
    for caps in _ATTEMPTS:
        blocks = [block for item in raw if item is not None for block in _block(item, caps)]
        if len(blocks) <= MAX_BLOCKS and total(blocks) <= MAX_TOTAL:
            return blocks
    return _drop(blocks)


def fit_text(markup: str) -> str:
    """Fallback text for notifications and screen readers: no markup, escaped."""
    shown = spans.parse(markup)
    limit = MAX_TEXT
    text = escape(spans.to_plain(shown))
    while units(text) > MAX_TEXT:
        limit = limit * 3 // 4
        text = escape(spans.to_plain(spans.shorten(shown, limit)))
    return text


def total(blocks: Sequence[Block]) -> int:
    """UTF-16 units of all text that Slack counts, as sent."""
    return sum(units(text) for block in blocks if block["type"] != "actions" for text in texts(block))


def texts(value: Any) -> Iterator[str]:
    """Every text in a block."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key in ("text", "fallback") and isinstance(item, str):
                yield item
            else:
                yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def _drop(blocks: list[Block]) -> list[Block]:
    """Leave out blocks from the end, buttons last, and say how many went."""
    buttons = [block for block in blocks if block["type"] == "actions"][-1:]
    others = [block for block in blocks if block not in buttons]
    room = MAX_BLOCKS - len(buttons) - 1
    kept = others[:room]
    while len(kept) > 1 and total(kept) > MAX_TOTAL:
        kept.pop()
    missing = len(others) - len(kept)
    return [*kept, *([_more(missing)] if missing else []), *buttons]


def _more(count: int) -> Block:
    return {"type": "context", "elements": [{"type": "plain_text", "text": f"{ELLIPSIS} {count} more", "emoji": False}]}


def _block(block: Block, caps: Caps) -> list[Block]:
    kind = block.get("type")
    if kind == "rich_text":
        elements = [e for item in block["elements"] if item is not None for e in _rich(item, caps)]
        return [{"type": "rich_text", "elements": elements}] if elements else []
    if kind == "context":
        lines = [line for m in block["elements"] if m is not None and (line := _context(spans.parse(m), caps))]
        return [{"type": "context", "elements": lines[:10]}] if lines else []
    if kind == "header":
        text = spans.to_plain(spans.shorten(spans.parse(block["text"]), 150))
        return [{"type": "header", "text": {"type": "plain_text", "text": text, "emoji": False}}] if text else []
    if kind == "divider":
        return [{"type": "divider"}]
    if kind == "actions":
        return _actions([e for e in block["elements"] if e is not None])
    raise RenderError(f"templates may not use blocks of type {kind!r}")


def _rich(element: Block, caps: Caps) -> list[Block]:
    kind, content = element["type"], element["elements"]
    if kind in ("rich_text_section", "rich_text_quote"):
        elements = spans.to_elements(spans.shorten(spans.parse(content), caps.text))
        return [{"type": kind, "elements": elements}] if elements else []
    if kind == "rich_text_preformatted":
        text = _log(content, caps.log, keep=element.get("keep", "start"))
        return [{"type": kind, "elements": [{"type": "text", "text": text}]}] if text else []
    if kind == "rich_text_list":
        return _list(element, [item for item in content if item is not None], caps)
    raise RenderError(f"templates may not use rich text of type {kind!r}")


def _list(element: Block, items: list[str], caps: Caps) -> list[Block]:
    parsed = [spans.shorten(spans.parse(item), min(caps.text, 1000)) for item in items]
    parsed = [item for item in parsed if item]
    shown, missing = parsed[: caps.items], len(parsed) - caps.items
    if missing > 0:
        shown = [*shown, (spans.Span(f"{ELLIPSIS} {missing} more"),)]
    sections = [{"type": "rich_text_section", "elements": spans.to_elements(item)} for item in shown]
    style = element.get("style", "bullet")
    return [{"type": "rich_text_list", "style": style, "elements": sections}] if sections else []


def _log(content: str, limit: int, *, keep: str) -> str:
    """Log text: cleaned, redacted, and cut at a line's border at the far end, saying how many lines went."""
    text = redact(clean(_window(content, limit * WINDOW, keep=keep))).strip("\n").rstrip()
    if units(text) <= limit and len(content) <= limit * WINDOW:
        return text
    kept = take_end(text, limit - 30) if keep == "end" else take(text, limit - 30)
    many = "\n" in content.strip("\n")
    if not many:
        return ELLIPSIS + kept if keep == "end" else kept + ELLIPSIS
    kept = _whole_lines(kept, keep=keep) if kept != text else kept
    missing = f"{ELLIPSIS} {max(_lines(content.strip()) - _lines(kept), 1)} more lines"
    return f"{missing} above\n{kept}" if keep == "end" else f"{kept}\n{missing}"


def _window(content: str, size: int, *, keep: str) -> str:
    """The part of a long log that may be shown, so that 100 MB cost no more than a page. Whole lines where there are
    any, since half a line may hold half a secret that nothing recognises."""
    if len(content) <= size:
        return content
    return _whole_lines(content[-size:] if keep == "end" else content[:size], keep=keep)


def _whole_lines(text: str, *, keep: str) -> str:
    """Without the line that was cut through, unless it is the only one."""
    if keep == "end":
        return text.split("\n", 1)[-1] if "\n" in text[:-1] else text
    return text.rsplit("\n", 1)[0] if "\n" in text[1:] else text


def _lines(text: str) -> int:
    return text.count("\n") + 1


def _context(line: tuple[spans.Span, ...], caps: Caps) -> Block | None:
    limit = min(caps.text, 1000)
    line = spans.shorten(line, limit)
    if not line:
        return None
    if spans.is_plain(line):
        return {"type": "plain_text", "text": spans.to_plain(line), "emoji": False}
    text = spans.to_mrkdwn(line)
    while units(text) > 2900:
        limit = limit * 3 // 4
        text = spans.to_mrkdwn(spans.shorten(line, limit))
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def _actions(elements: list[Block]) -> list[Block]:
    buttons = [button for number, element in enumerate(elements) if (button := _button(element, number))]
    return [{"type": "actions", "elements": buttons[:MAX_BUTTONS]}] if buttons else []


def _button(element: Block, number: int) -> Block | None:
    """One button; left out when its value is longer than Slack takes, since a cut value would mean something else."""
    given = element["value"]
    text = spans.to_plain(spans.shorten(spans.parse(element["text"]), 75)) or ELLIPSIS
    value = ButtonValue(
        action=given["action"],
        operation=given.get("operation") or "",
        fingerprint=given.get("fingerprint") or "",
        extra=given.get("extra") or {},
    )
    try:
        encoded = value.encode()
    except ButtonValueError:
        return None
    button: Block = {
        "type": "button",
        "action_id": f"{one_line(value.action)[:60]}.v{BUTTON_VERSION}.{number}",
        "text": {"type": "plain_text", "text": text, "emoji": False},
        "value": encoded,
    }
    return button | ({"style": element["style"]} if element.get("style") in ("primary", "danger") else {})
