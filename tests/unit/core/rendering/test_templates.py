"""Every template, with every case and its hostile and long variants, stays within Slack's limits and leaks nothing."""

import functools
import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.core.domain.button import ButtonValue
from bot.core.domain.message import Message, Payload
from bot.core.rendering import render, render_terminal

_SPEC = importlib.util.spec_from_file_location("payloads", Path(__file__).parents[3] / "payloads.py")
assert _SPEC is not None
assert _SPEC.loader is not None
payloads = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(payloads)

ENVIRONMENT = payloads.load()
CONTEXTS = {(t, case): context for t in payloads.templates() for case, context in payloads.cases(t)}
CASES = [pytest.param(t, case, id=f"{t}-{case}") for t, case in CONTEXTS]
#: Slack's limits on the texts and counts of each kind of object
TEXT_LIMITS = {"header": 150, "button": 75, "context": 3000}


@functools.cache
def rendered(template: str, case: str) -> Payload:
    return render(Message(template=template, context=CONTEXTS[template, case]), ENVIRONMENT)


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def walk(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from walk(item)
    elif isinstance(value, list):
        for item in value:
            yield from walk(item)


@pytest.mark.parametrize(("template", "case"), CASES)
def test_renders_within_slacks_limits(template: str, case: str):
    payload = rendered(template, case)
    assert payload.text.strip()
    assert units(payload.text) <= 4000
    assert 1 <= len(payload.blocks) <= 50
    sent = json.dumps(payload.blocks, ensure_ascii=False)
    sent.encode()
    shown = sum(units(item["text"]) for item in walk(payload.blocks) if isinstance(item.get("text"), str))
    assert shown <= 13_000
    for item in walk(payload.blocks):
        if item.get("type") == "button":
            assert units(item["text"]["text"]) <= 75
            assert len(item["value"]) <= 2000
            assert ButtonValue.decode(item["value"]).action
        if item.get("type") == "text":
            assert item["text"]
        for kind, limit in TEXT_LIMITS.items():
            if item.get("type") == kind and isinstance(item.get("text"), dict):
                assert units(item["text"]["text"]) <= limit
        if item.get("type") == "actions":
            names = [element["action_id"] for element in item["elements"]]
            assert len(names) == len(set(names)) <= 25


@pytest.mark.parametrize(("template", "case"), CASES)
def test_foreign_text_is_never_markup_nor_secret_nor_control(template: str, case: str):
    payload = rendered(template, case)
    # a button's value is data for us, shown to nobody
    shown = [{k: v for k, v in item.items() if isinstance(v, str) and k != "value"} for item in walk(payload.blocks)]
    sent = json.dumps([payload.text, shown], ensure_ascii=False)
    assert "hf_AbCd" not in sent
    assert "\x1b" not in sent
    assert "\\u001b" not in sent
    assert not re.search("[\ud800-\udfff\u202e\ue000-\ue00f]", sent)
    assert "&#" not in sent
    for item in walk(payload.blocks):
        if item.get("type") == "mrkdwn":
            assert item["verbatim"] is True
            assert not re.search(r"<!(?!date\^)|<@U0EVIL|<http", item["text"])
        if item.get("type") in ("broadcast", "usergroup", "channel"):
            pytest.fail(f"{template} mentions {item}")
        if item.get("type") == "plain_text":
            assert item["emoji"] is False
    assert not re.search(r"<[!@#]", payload.text)
    assert not re.search(r"@(here|channel|everyone)\b", payload.text)


@pytest.mark.parametrize("template", payloads.templates())
def test_every_template_has_a_case_and_says_what_it_needs(template: str):
    assert (payloads.CASES / template).is_dir(), "no case folder"
    assert list((payloads.CASES / template).glob("*.json"))
    source = (payloads.TEMPLATES / f"{template}.json.j2").read_text()
    assert source.startswith("{#-\n"), "no leading comment on the context"


def test_every_case_folder_has_a_template():
    assert {path.name for path in payloads.CASES.iterdir()} == set(payloads.templates())


@pytest.mark.parametrize("template", payloads.templates())
def test_terminal_text_says_what_the_message_says(template: str):
    for name, case in CONTEXTS:
        if name != template or case.endswith(("-hostile", "-long")):
            continue
        payload = rendered(template, case)
        text = render_terminal(payload)
        assert text.strip()
        for item in walk(payload.blocks):
            if item.get("type") == "button":
                assert f"[{item['text']['text']}]" in text


def test_payload_files_are_written(tmp_path: Path):
    count = payloads.render_all(tmp_path, only=("home", "error"))
    files = list(tmp_path.glob("*.json"))
    assert len(files) == count > 2
    assert json.loads((tmp_path / "home.normal.json").read_text())["type"] == "home"
