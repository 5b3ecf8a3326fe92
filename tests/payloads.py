"""Render every message template with every case: `python tests/payloads.py build/payloads`.

Cases are tests/cases/templates/<template>/<case>.json, each a context. From each, two more are made: "hostile" puts
text that would break a careless template into every free text, "long" makes every free text and list very long.
"""

import json
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader

from bot.core.domain.message import Message, Payload
from bot.core.rendering import environment, names, render

ROOT = Path(__file__).resolve().parents[1]
CASES = ROOT / "tests" / "cases" / "templates"
TEMPLATES = ROOT / "templates" / "slack"
#: views of the App Home, not messages
HOME = frozenset(("home",))

#: fields whose values are words of ours: the template chooses by them, people never type them
CHOSEN = frozenset(
    [
        "state",
        "judgement",
        "kind",
        "confidence",
        "next",
        "action",
        "style",
        "may",
        "verb",
        "outcome",
        "group",
        "change",
        "what",
        "why_not",
        "said",
    ]
)
HOSTILE = (
    "```` `x` *b* _i_ ~s~ <!channel> <@U0EVIL> <!here|x> @channel &amp; & < > \"q\" 'a' \\ \\n {{ 7*7 }} {% if %}"
    "\r\n\ttab "
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x00\x07 :fire: \u202eright to left\u202c \u200b \ud83d lone \U0001f680 "
    "<http://evil.example|ok> hf_AbCdEfGhIjKlMnOp [link](http://evil.example) שלום \ue000\ue001\ue002"
)
LONG = "qwertyuiop " * 455


def load() -> Environment:
    """The environment over templates/slack."""
    return environment(FileSystemLoader(TEMPLATES))


def templates() -> tuple[str, ...]:
    """Every message template's name."""
    return names(load())


def cases(template: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """(case name, context) of one template: the files, and what is made from them."""
    for path in sorted((CASES / template).glob("*.json")):
        context = json.loads(path.read_text())
        yield path.stem, context
        yield f"{path.stem}-hostile", changed(context, HOSTILE, 1)
        yield f"{path.stem}-long", changed(context, LONG, 60)


def changed(value: Any, text: str, repeat: int, key: str = "") -> Any:
    """The context with `text` in place of every free text and lists `repeat` times as long, lists in lists 3 times."""
    if isinstance(value, dict):
        return {name: changed(item, text, repeat, name) for name, item in value.items()}
    if isinstance(value, list):
        # pairs are records: their length means something
        if key == "env":
            return [[text, text] for _ in value] * repeat
        return [changed(item, text, min(repeat, 3)) for item in value] * repeat
    if isinstance(value, str) and key not in CHOSEN and not key.endswith("at") and key != "by":
        return text
    return value


def document(template: str, payload: Payload) -> dict[str, Any]:
    """What Slack's API gets."""
    if template in HOME:
        return {"type": "home", "blocks": payload.blocks}
    return {"text": payload.text, "blocks": payload.blocks}


def render_all(out_dir: Path, only: Collection[str] = ()) -> int:
    """Write <template>.<case>.json for all cases (of these templates, if any are named); gives how many."""
    out_dir.mkdir(parents=True, exist_ok=True)
    for old in out_dir.glob("*.json"):
        old.unlink()
    made, count = load(), 0
    for template in only or names(made):
        for case, context in cases(template):
            payload = render(Message(template=template, context=context), made)
            text = json.dumps(document(template, payload), ensure_ascii=False, indent=1)
            (out_dir / f"{template}.{case}.json").write_text(text, encoding="utf-8")
            count += 1
    return count


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "payloads")
    print(f"{render_all(target)} payloads in {target}")
