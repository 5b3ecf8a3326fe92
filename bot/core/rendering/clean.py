"""Make foreign text fit to be shown: no terminal codes, no control characters, no stray surrogates, no mass mentions.

Lengths are UTF-16 code units: Slack does not say what it counts, and this is never fewer than its count.
"""

import re

#: CSI, OSC (ended by BEL or ST), other two-character escapes; 8-bit CSI
_ANSI = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\-_=>()][0-9A-B]?|\x9b[0-?]*[ -/]*[@-~]"
)
#: C0 without tab and newline, DEL, C1, zero-width and direction controls (they reorder what a person reads),
#: lone surrogates, the private-use marks of spans.py, noncharacters
_CONTROL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_MARKS = re.compile("[\ue000-\ue00f]")
_MASS_MENTION = re.compile(r"@(?=(?:here|channel|everyone|group)\b)", re.IGNORECASE)
_SPACE = re.compile(r"\s+")

ELLIPSIS = "…"


def clean(text: str) -> str:
    """Text of several lines without what a terminal or Slack would act on. `\\r` progress lines keep their end."""
    text = _ANSI.sub("", text)
    text = text.replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n"))
    text = _SURROGATE.sub("\ufffd", text)
    text = _MARKS.sub("\ufffd", text)
    return _CONTROL.sub("", text)


def one_line(text: str) -> str:
    """Cleaned text with every run of white space made one space, and bare mass mentions broken."""
    return _MASS_MENTION.sub("@\u200b", _SPACE.sub(" ", clean(text.replace("\r", " "))).strip())


def units(text: str) -> int:
    """Length in UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut(text: str, limit: int) -> str:
    """At most `limit` UTF-16 units, ending in an ellipsis when something was left out."""
    if units(text) <= limit:
        return text
    return take(text, max(limit - 1, 0)).rstrip() + ELLIPSIS if limit > 0 else ""


def take(text: str, limit: int) -> str:
    """The longest head of at most `limit` UTF-16 units; never half a character, nor a dangling joiner."""
    if text.isascii():
        return text[:limit]
    used = 0
    for index, character in enumerate(text):
        used += 2 if character > "\uffff" else 1
        if used > limit:
            return text[:index].rstrip("\u200d")
    return text


def take_end(text: str, limit: int) -> str:
    """The longest tail of at most `limit` UTF-16 units."""
    return take(text[::-1], limit)[::-1]


def escape(text: str) -> str:
    """Escape & < > for mrkdwn, and nothing else."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
