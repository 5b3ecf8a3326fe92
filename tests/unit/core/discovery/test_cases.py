"""Recorded artefacts: raw text in, candidates out (tests/cases/discovery)."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.core.discovery.artefact import artefact_from_row
from bot.core.discovery.candidate import Json, answer
from bot.core.discovery.discover import discover
from bot.core.domain.engine import Engine

FOLDER = Path(__file__).resolve().parents[3] / "cases" / "discovery"
CASES = [case for file in sorted(FOLDER.glob("*.yaml")) for case in yaml.safe_load(file.read_text())]
#: compared where a case states them; the others always
STATED = ("cwd", "user", "runner", "unit", "container", "image", "executable", "port", "status")


def test_there_are_enough_cases_with_names_of_their_own() -> None:
    assert len(CASES) >= 60
    assert len({case["id"] for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case: dict[str, Any], engines: Mapping[str, Engine]) -> None:
    found = answer(discover([artefact_from_row(row) for row in case["artefacts"]], engines=engines))
    said = json.dumps(found, ensure_ascii=False)
    assert not [secret for secret in case.get("secrets", []) if secret in said]
    candidates: Any = found["candidates"]
    expected = sorted(case["expect"], key=_key)
    assert [_key(one) for one in sorted(candidates, key=_key)] == [_key(one) for one in expected]
    for wanted, got in zip(expected, sorted(candidates, key=_key), strict=True):
        _compare(wanted, got, engines)
    if "contradictions" in case:
        assert {one["field"] for one in candidates[0]["contradictions"]} == set(case["contradictions"])


def _key(one: Mapping[str, Any]) -> tuple[str, str, str]:
    return str(one["engine"]), str(one["model"]), str(one.get("port"))


def _compare(wanted: Mapping[str, Any], got: Mapping[str, Any], engines: Mapping[str, Engine]) -> None:
    for name in STATED:
        if name in wanted:
            assert got[name] == wanted[name], name
    if "wrappers" in wanted:
        assert got["wrappers"] == wanted["wrappers"]
    if "gpus" in wanted:
        assert got["gpus"] == wanted["gpus"]
    kinds = {one["kind"] for one in got["evidence"]}
    assert kinds == set(wanted["evidence"])
    engine = next(one for one in engines.values() if one.name == wanted["engine"])
    words = ["<secret>" if isinstance(word, dict) else word for word in got["argv"]]
    line = engine.parse(words)
    assert not line.stray
    _same_table(wanted.get("flags", {}), dict(line.flags), exact=kinds != {"log"})
    live = bool(kinds & {"proc", "inspect"})
    _same_table(wanted.get("env", {}), {name: _plain(value) for name, value in got["env"].items()}, exact=not live)


def _plain(value: Json) -> Any:
    return "<secret>" if value == {"secret": True} else value


def _same_table(wanted: Mapping[str, Any], got: Mapping[str, Any], *, exact: bool) -> None:
    for name, value in wanted.items():
        if isinstance(value, dict) and (value.get("optional") or value.get("any")):
            assert value.get("optional") or name in got, name
            continue
        expected = [_plain(one) for one in value] if isinstance(value, list) else _plain(value)
        assert _value(got.get(name)) == _value(expected), name
    if exact:
        assert set(got) <= set(wanted), sorted(set(got) - set(wanted))


def _value(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in "{[":
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value
