"""Rewrite what a person types as Slack does before an app sees it: entities, mentions, links, emoji names."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from bot.practice.workspace.state import State

_READY = re.compile(
    r"<(?:@[UWB][A-Z0-9]+(?:\|[^>]*)?|#C[A-Z0-9]+(?:\|[^>]*)?|!(?:here|channel|everyone|subteam\^S[A-Z0-9]+)[^>]*)>"
)
_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
_URL = re.compile(r"https?://[^\s<>|]+[^\s<>|.,;:!?)\"']")
_EMAIL = re.compile(r"(?<![\w.])[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b")
#: Slack links bare names that end in a well-known top-level domain
_BARE = re.compile(
    r"(?<![\w@/.:-])((?:[a-z0-9-]+\.)+(?:com|org|net|io|ai|dev|co|de|eu))(?![\w-])(/[^\s<>|]*)?", re.IGNORECASE
)
_AT = re.compile(r"(?<![\w<])@([A-Za-z][\w.-]*)")
_HASH = re.compile(r"(?<![\w<&])#([a-z0-9][\w-]*)")
_EMOJI: Mapping[str, str] = {
    "🚀": ":rocket:",
    "👍": ":+1:",
    "🔥": ":fire:",
    "🙏": ":pray:",
    "✅": ":white_check_mark:",
    "❌": ":x:",
    "😀": ":grinning:",
    "🎉": ":tada:",
    "👀": ":eyes:",
    "⚠️": ":warning:",
}
_TOKEN = re.compile(r"<([^<>]+)>|(```.*?```)|`([^`\n]+)`|:([a-z0-9_+-]+):", re.DOTALL)


def as_slack_sends(text: str, state: State) -> str:
    """The `text` of the event for what was typed. Tokens that already are Slack's (`<@U0ANA>`) stay as they are."""
    kept: list[str] = []

    def keep(value: str) -> str:
        kept.append(value)
        return f"\x00{len(kept) - 1}\x01"

    text = _READY.sub(lambda m: keep(m.group()), text)
    text = _CODE.sub(lambda m: keep(escape(m.group())), text)
    text = _URL.sub(lambda m: keep(f"<{escape(m.group())}>"), text)
    text = _EMAIL.sub(lambda m: keep(f"<mailto:{m.group()}|{m.group()}>"), text)
    text = _BARE.sub(lambda m: keep(f"<http://{m.group()}|{m.group()}>"), text)
    text = _AT.sub(_mention(state, keep), text)
    text = _HASH.sub(_channel(state, keep), text)
    text = escape(text)
    for symbol, name in _EMOJI.items():
        text = text.replace(symbol, name)
    while "\x00" in text:
        text = re.sub("\x00(\\d+)\x01", lambda m: kept[int(m.group(1))], text)
    return text


def escape(text: str) -> str:
    """Slack's three entities."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescape(text: str) -> str:
    """Undo `escape`."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _mention(state: State, keep: Callable[[str], str]) -> Callable[[re.Match[str]], str]:
    names = {}
    for user in state.users.values():
        names[user.name.lower()] = names[user.real_name.lower()] = f"<@{user.id}>"
    for group in state.groups.values():
        names[group.handle] = f"<!subteam^{group.id}|@{group.handle}>"
    for word in ("here", "channel", "everyone"):
        names[word] = f"<!{word}>"

    def replace(found: re.Match[str]) -> str:
        word = found.group(1)
        stem = word.rstrip(".-")
        token = names.get(stem.lower())
        return keep(token) + word[len(stem) :] if token else found.group()

    return replace


def _channel(state: State, keep: Callable[[str], str]) -> Callable[[re.Match[str]], str]:
    def replace(found: re.Match[str]) -> str:
        channel = state.channel_named(found.group(1))
        return keep(f"<#{channel.id}|{channel.name}>") if channel and channel.kind != "im" else found.group()

    return replace


def rich_text(text: str) -> dict[str, Any]:
    """The rich_text block that Slack's composer sends along with a message's text."""
    elements: list[dict[str, Any]] = []
    position = 0

    def plain(until: int) -> None:
        if until > position:
            elements.append({"type": "text", "text": unescape(text[position:until])})

    for token in _TOKEN.finditer(text):
        plain(token.start())
        elements.append(_element(token))
        position = token.end()
    plain(len(text))
    return {"type": "rich_text", "block_id": "typed", "elements": [{"type": "rich_text_section", "elements": elements}]}


def _element(token: re.Match[str]) -> dict[str, Any]:
    angled, fenced, code, emoji = token.groups()
    if emoji:
        return {"type": "emoji", "name": emoji}
    if fenced:
        return {"type": "text", "text": unescape(fenced.strip("`")), "style": {"code": True}}
    if code:
        return {"type": "text", "text": unescape(code), "style": {"code": True}}
    target, _, label = angled.partition("|")
    if target.startswith("@"):
        return {"type": "user", "user_id": target[1:]}
    if target.startswith("#"):
        return {"type": "channel", "channel_id": target[1:]}
    if target.startswith("!subteam^"):
        return {"type": "usergroup", "usergroup_id": target.removeprefix("!subteam^")}
    if target.startswith("!"):
        return {"type": "broadcast", "range": target[1:]}
    return {"type": "link", "url": unescape(target), **({"text": unescape(label)} if label else {})}
