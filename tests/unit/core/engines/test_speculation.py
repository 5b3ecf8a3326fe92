"""Speculative flags judged against each other and the model."""

import shlex
from typing import Any

import pytest

from tests.unit.core.engines.cases import ENGINES, rows


@pytest.mark.parametrize(("module", "row"), rows("speculation"))
def test_speculation(module: str, row: dict[str, Any]) -> None:
    engine = ENGINES[module]
    found = engine.check_speculation(engine.parse(shlex.split(row["flags"])), row.get("config"))
    assert len(found) == len(row["expect"]), [one.summary for one in found]
    for one, (judgement, words) in zip(found, row["expect"], strict=True):
        assert one.judgement == judgement
        assert words in one.summary
        assert one.remedy or one.judgement in ("ok", "unknown")
    if "remedy" in row:
        assert row["remedy"] in found[0].remedy
