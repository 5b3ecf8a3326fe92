"""Sentences as ten different people type them, labelled before they were tried (tests/cases/language/*.jsonl;
each folder below it holds another fleet with its own sentences).

A label holds what must be understood: `intent` may be a list (any is right); `ask: true` means that nothing may be done
yet; a slot that is not labelled is not looked at, except that an action invents no settings."""

import json
from pathlib import Path
from typing import Any

import pytest

from bot.core.domain.command import ACTIONS
from bot.core.language.answer import answer, context_from_json
from tests.unit.core.language.fleet import CASES, read


def _fleet_of(file: Path) -> str:
    """The folder of a file of cases, "" for the first fleet."""
    return "" if file.parent == CASES else file.parent.name


ROWS = [
    pytest.param(json.loads(line), _fleet_of(file), id=f"{_fleet_of(file)}{file.stem}:{number}")
    for file in sorted(CASES.rglob("*.jsonl"))
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
]
SPECULATIVE = {"speculative_steps", "speculative_draft_tokens", "speculative_topk"}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _held_back(got: dict[str, Any]) -> bool:
    return bool(got["ask"]) or got["intent"] in ("none", "help")


@pytest.mark.parametrize(("row", "fleet"), ROWS)
def test_sentence_is_understood_as_labelled(row: dict[str, Any], fleet: str) -> None:
    want = row["expect"]
    got = answer(read(row["text"], context_from_json(row.get("context")), name=fleet))
    if want.get("ask"):
        assert _held_back(got)
    else:
        assert got["intent"] in _listed(want["intent"])
        assert not (got["ask"] and {"config", "host", "hosts", "model"} & set(want))
    if want.get("ask") and got["intent"] in ("none", "help"):
        return
    for key, value in want.items():
        if key in ("intent", "ask", "overrides") or (
            want.get("ask") and key in ("config", "configs", "hosts", "model")
        ):
            continue
        if key in ("hosts", "configs", "topics", "unknown"):
            assert all(any(w.lower() in str(g).lower() for g in got[key]) for w in _listed(value)), key
        else:
            assert got[key] in _listed(value), key
    if not want.get("ask"):
        _settings_match(want.get("overrides", {}), got)


def _settings_match(want: dict[str, Any], got: dict[str, Any]) -> None:
    for key, value in want.items():
        assert got["overrides"].get(key) == value
    allowed = set(want) | (SPECULATIVE if SPECULATIVE & set(want) else set())
    assert got["intent"] not in ACTIONS or set(got["overrides"]) <= allowed


@pytest.mark.parametrize(("row", "fleet"), [r for r in ROWS if r.values[0]["tier"] in ("mustnot", "hostile")])
def test_what_must_not_act_never_acts(row: dict[str, Any], fleet: str) -> None:
    got = answer(read(row["text"], context_from_json(row.get("context")), name=fleet))
    assert got["intent"] not in ACTIONS or got["ask"]
