"""Every preflight check: ok, warn or refuse, and unknown, from raw text of the host to its findings."""

import json
from typing import Any

import pytest

from bot.core.domain.finding import Judgement
from tests.unit.core.planning.launches import CASES, CHECKS, FACTS, situation


def rows() -> list[Any]:
    return [
        pytest.param(name, row, id=f"{name}-{row['name']}")
        for name in CHECKS
        for row in json.loads((CASES / "checks" / f"{name}.json").read_text())
    ]


def test_every_check_has_cases_of_each_outcome() -> None:
    assert {path.stem for path in (CASES / "checks").glob("*.json")} == set(CHECKS)
    for name, check in CHECKS.items():
        outcomes = [row["expect"] for row in json.loads((CASES / "checks" / f"{name}.json").read_text())]
        seen = {judgement for expect in outcomes for judgement, _ in expect}
        assert seen & {"warn", "refuse"}, name
        assert "ok" in seen or [] in outcomes, name
        assert "unknown" in seen or not check.needs, name


def test_checks_need_facts_that_exist() -> None:
    assert {need for check in CHECKS.values() for need in check.needs} <= set(FACTS)


@pytest.mark.parametrize(("name", "row"), rows())
def test_check(name: str, row: dict[str, Any]) -> None:
    found = CHECKS[name].judge(situation(row))
    assert [one.judgement for one in found] == [judgement for judgement, _ in row["expect"]], found
    for one, (_, words) in zip(found, row["expect"], strict=True):
        assert words in one.summary
        assert one.check == name
        assert one.remedy or one.judgement in (Judgement.OK, Judgement.UNKNOWN)
        assert one.evidence or one.judgement is not Judgement.UNKNOWN or name == "speculation"
    if "evidence" in row:
        assert any(row["evidence"] in line for one in found for line in one.evidence), found
    if "remedy" in row:
        assert row["remedy"] in found[0].remedy


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_a_host_that_answers_nothing_is_never_ok(name: str) -> None:
    nothing: dict[str, Any] = {"unknown": dict.fromkeys(FACTS, "no answer")}
    if name in ("container", "container_gpu"):
        nothing["container"] = {"image": "a:1", "options": ["--network=host", "--gpus=all"]}
    judged = CHECKS[name].judge(situation(nothing))
    if CHECKS[name].needs and name not in ("speculation",):
        assert [one.judgement for one in judged] == [Judgement.UNKNOWN]


def test_estimates_never_refuse() -> None:
    texts = (CASES / "checks" / "memory_estimate.json").read_text()
    assert '"refuse"' not in texts
