"""Text between a template and Slack: runs of text, each with its style, of which foreign ones are never parsed.

A template's own words may hold `*bold*`, `` `code` `` and `<br>`. Values that come from outside (names, notes, numbers
from logs) are wrapped by `foreign` in private-use marks when they are printed, so that nothing in them is markup.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from bot.core.rendering.clean import ELLIPSIS, cut, escape, one_line, take, units
from bot.core.rendering.redact import redact

_OPEN, _CLOSE, _DATE, _USER, _LINK, _FIELD = "\ue000", "\ue001", "\ue002", "\ue003", "\ue004", "\ue005"
_PIECE = re.compile(
    f"[{_OPEN}{_DATE}{_USER}{_LINK}][^{_CLOSE}]*{_CLOSE}|<br>|[*`]|[^*`<{_OPEN}{_DATE}{_USER}{_LINK}]+|<"
)
_SPACE = re.compile(r"[ \t\r\n]+")
_FORMATTING = re.compile(r"(?=[*_~`])")

#: longest foreign value in a sentence, and where a template asks for more (`|long`)
VALUE_LIMIT, LONG_LIMIT = 300, 1500


@dataclass(frozen=True, slots=True)
class Span:
    """A run of text. kind "text", "date" (value: seconds, format), "user" (value: its id), "link" (value: URL)."""

    text: str
    kind: str = "text"
    value: str = ""
    bold: bool = False
    code: bool = False
    foreign: bool = False


def foreign(value: object, limit: int = VALUE_LIMIT) -> str:
    """A value as marked text: one line, cleaned, without secrets, at most `limit` UTF-16 units."""
    return f"{_OPEN}{cut(redact(one_line(str(value)[: limit * 3])), limit)}{_CLOSE}"


def date(seconds: int, pattern: str, fallback: str) -> str:
    """A point in time that Slack shows in the reader's own time zone."""
    return f"{_DATE}{seconds}{_FIELD}{pattern}{_FIELD}{fallback}{_CLOSE}"


def user(user_id: str) -> str:
    """A mention of one person."""
    return f"{_USER}{user_id}{_CLOSE}"


def link(url: str, label: str) -> str:
    """A link; `url` must be http or https without white space."""
    return f"{_LINK}{one_line(url)}{_FIELD}{one_line(label)}{_CLOSE}"


def parse(markup: str) -> tuple[Span, ...]:
    """Read a template's text. White space of the template itself counts as one space."""
    spans: list[Span] = []
    bold = code = False
    for match in _PIECE.finditer(markup):
        piece = match[0]
        if piece == "*" and not code:
            bold = not bold
        elif piece == "`":
            code = not code
        elif piece[0] in (_OPEN, _DATE, _USER, _LINK):
            spans.append(replace(_special(piece), bold=bold, code=code))
        else:
            text = "\n" if piece == "<br>" else _SPACE.sub(" ", piece)
            spans.append(Span(text, bold=bold, code=code))
    return _tidy(spans)


def _special(piece: str) -> Span:
    fields = piece[1:-1].split(_FIELD)
    if piece[0] == _OPEN:
        return Span(fields[0], foreign=True)
    if piece[0] == _USER:
        return Span("@" + fields[0], kind="user", value=fields[0])
    if piece[0] == _LINK:
        return Span(fields[1], kind="link", value=fields[0], foreign=True)
    return Span(fields[2], kind="date", value=f"{fields[0]}{_FIELD}{fields[1]}")


def _tidy(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Without empty runs, doubled spaces between runs, and space at the ends and around line breaks."""
    tidy: list[Span] = []
    for span in spans:
        text = span.text
        last = tidy[-1].text[-1:] if tidy else "\n"
        if not span.foreign and last in (" ", "\n"):
            text = text.lstrip(" ")
        if text.startswith("\n") and tidy and not tidy[-1].foreign:
            tidy[-1] = replace(tidy[-1], text=tidy[-1].text.rstrip(" "))
            if not tidy[-1].text:
                tidy.pop()
        if not text or (text == "\n" and not tidy):
            continue
        if tidy and tidy[-1].kind == span.kind == "text" and _style(tidy[-1]) == _style(span):
            tidy[-1] = replace(tidy[-1], text=tidy[-1].text + text)
        else:
            tidy.append(replace(span, text=text))
    while tidy and not tidy[-1].foreign:
        tidy[-1] = replace(tidy[-1], text=tidy[-1].text.rstrip(" \n"))
        if tidy[-1].text:
            break
        tidy.pop()
    return tuple(tidy)


def _style(span: Span) -> tuple[bool, bool, bool]:
    return span.bold, span.code, span.foreign


def shorten(spans: tuple[Span, ...], limit: int) -> tuple[Span, ...]:
    """At most `limit` UTF-16 units of shown text; dates, mentions and links are kept whole or left out."""
    if length(spans) <= limit:
        return spans
    kept: list[Span] = []
    left = limit - 1
    for span in spans:
        size = units(span.text)
        if size <= left:
            kept.append(span)
            left -= size
            continue
        if span.kind == "text" and left > 0:
            kept.append(replace(span, text=take(span.text, left).rstrip()))
        break
    return (*(s for s in kept if s.text), Span(ELLIPSIS))


def length(spans: Iterable[Span]) -> int:
    """UTF-16 units of shown text."""
    return sum(units(span.text) for span in spans)


def to_elements(spans: Iterable[Span]) -> list[dict[str, Any]]:
    """Elements of a rich_text_section. Slack parses nothing in their text."""
    elements: list[dict[str, Any]] = []
    for span in spans:
        element = _element(span)
        if (
            elements
            and element["type"] == elements[-1]["type"] == "text"
            and element.get("style") == elements[-1].get("style")
        ):
            elements[-1]["text"] += element["text"]
        elif span.text:
            elements.append(element)
    return elements


def _element(span: Span) -> dict[str, Any]:
    element: dict[str, Any]
    style = {name: True for name, on in (("bold", span.bold), ("code", span.code)) if on}
    if span.kind == "user":
        return {"type": "user", "user_id": span.value}
    if span.kind == "date":
        seconds, pattern = span.value.split(_FIELD)
        element = {"type": "date", "timestamp": int(seconds), "format": pattern, "fallback": span.text}
        style.pop("code", None)
    elif span.kind == "link":
        element = {"type": "link", "url": span.value, "text": span.text}
    else:
        element = {"type": "text", "text": span.text}
    return element | ({"style": style} if style else {})


def to_mrkdwn(spans: Iterable[Span]) -> str:
    """For context blocks, which take no rich text. Formatting characters in foreign text are broken up."""
    return "".join(_mrkdwn(span) for span in spans)


def _mrkdwn(span: Span) -> str:
    if span.kind == "user":
        return f"<@{span.value}>"
    if span.kind == "date":
        seconds, pattern = span.value.split(_FIELD)
        return f"<!date^{seconds}^{pattern}|{escape(span.text)}>"
    text = escape(span.text.replace("`", "ˋ") if span.code else span.text)
    if span.foreign and not span.code:
        text = _FORMATTING.sub("\u200b", text)
    if span.kind == "link":
        return f"<{escape(span.value)}|{text.replace('|', '¦')}>"
    mark = "`" if span.code else "*" if span.bold else ""
    head, tail = _edges(text) if mark else ("", "")
    return f"{head}{mark}{text.strip()}{mark}{tail}" if mark and text.strip() else text


def _edges(text: str) -> tuple[str, str]:
    return text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]


def to_plain(spans: Iterable[Span]) -> str:
    """The words alone."""
    return "".join(span.text for span in spans)


def is_plain(spans: Iterable[Span]) -> bool:
    """Whether nothing but unstyled text is in it."""
    return all(span.kind == "text" and not span.bold and not span.code for span in spans)
