"""Every fact's parser on what hosts print, through the frames of the probe."""

import json
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any, cast

import pytest

import bot.core.facts
from bot import plugins
from bot.core.domain.reading import Known, Unknown
from bot.core.facts import Fact, ProbeTarget, parse_probe

CASES = Path(__file__).parents[3] / "cases" / "facts"
FACTS = cast(dict[str, Fact[Any]], plugins.load(bot.core.facts, "FACT"))
TARGET = ProbeTarget(
    program=("/opt/env/bin/python3", "-m", "engine"),
    distribution="engine",
    packages=("engine",),
    help_words=(("--help",),),
    model="/models/a",
    unit_words=("engine",),
    unit="q.service",
    image="vllm/vllm-openai:v0.10.2",
)


def rows() -> list[Any]:
    return [
        pytest.param(name, row, id=f"{name}-{row['name']}")
        for name in FACTS
        for row in json.loads((CASES / f"{name}.json").read_text())
    ]


def plain(value: Any) -> Any:
    """A reading's value as JSON has it."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, frozenset):
        return sorted(value)
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value


def framed(name: str, row: dict[str, Any]) -> str:
    out = row["output"]
    return (
        f"==n== begin {name}\n{out}\n==n== complaints {name}\n{row.get('complaints', '')}\n"
        f"==n== end {name} {row.get('status', 0)} {len(out.encode())}\n"
    )


def test_every_fact_has_cases_of_known_and_unknown() -> None:
    for name in FACTS:
        found = json.loads((CASES / f"{name}.json").read_text())
        assert {"known", "unknown"} <= {key for row in found for key in row}, name
    assert {path.stem for path in CASES.glob("*.json")} == set(FACTS)


def test_facts_are_named_as_their_modules() -> None:
    assert {name: fact.name for name, fact in FACTS.items()} == {name: name for name in FACTS}


@pytest.mark.parametrize(("name", "row"), rows())
def test_fact(name: str, row: dict[str, Any]) -> None:
    reading = parse_probe(framed(name, row), [FACTS[name]], TARGET, "n").reading(FACTS[name])
    if "unknown" in row:
        assert isinstance(reading, Unknown)
        assert row["unknown"] in reading.reason
    else:
        assert isinstance(reading, Known)
        assert plain(reading.value) == row["known"]


@pytest.mark.parametrize("cut", [0, 20, 60, 150])
def test_a_cut_answer_is_unknown_never_empty(cut: int) -> None:
    text = framed("memory", {"output": "MemTotal: 1 kB\nMemAvailable: 1 kB\n" * 5})
    reading = parse_probe(text[:cut], [FACTS["memory"]], TARGET, "n").reading(FACTS["memory"])
    assert reading == Unknown("the probe ended before it answered")


def test_a_login_that_runs_nothing_is_quoted() -> None:
    found = parse_probe("This account is currently not available.\n", [FACTS["memory"]], TARGET, "n")
    reading = found.reading(FACTS["memory"])
    assert reading == Unknown("the login ran nothing, it said: This account is currently not available.")


def test_an_answer_too_long_is_unknown() -> None:
    text = framed("memory", {"output": "x"}).replace(" 0 1\n", " 0 999999999\n")
    reading = parse_probe(text, [FACTS["memory"]], TARGET, "n").reading(FACTS["memory"])
    assert isinstance(reading, Unknown)
    assert "longer" in reading.reason


def test_frames_of_another_probe_are_not_believed() -> None:
    text = framed("memory", {"output": "MemTotal: 1 kB\nMemAvailable: 1 kB\n"})
    reading = parse_probe(text, [FACTS["memory"]], TARGET, "other").reading(FACTS["memory"])
    assert isinstance(reading, Unknown)


def test_what_the_launch_does_not_name_is_not_asked() -> None:
    reading = parse_probe("", [FACTS["model_files"]], ProbeTarget(), "n").reading(FACTS["model_files"])
    assert isinstance(reading, Unknown)
    assert "not asked" in reading.reason
