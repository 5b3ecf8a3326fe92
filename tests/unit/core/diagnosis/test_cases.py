"""Every case in tests/cases/diagnosis: one launch log, and what has to be said about it."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.core.diagnosis import answer, diagnose, split_command
from bot.core.diagnosis.kinds import KINDS

FOLDER = Path(__file__).parents[3] / "cases" / "diagnosis"


CASES: list[tuple[str, dict[str, Any]]] = [
    (f"{path.stem}-{case['name'].replace(' ', '-')}", case)
    for path in sorted(FOLDER.glob("*.yaml"))
    for case in yaml.safe_load(path.read_text())
]


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in CASES])
def test_case_is_diagnosed(case: dict[str, Any]) -> None:
    diagnosis = diagnose(
        case["log"],
        engine=case.get("engine"),
        argv=split_command(case.get("command")),
        exit_status=case.get("exit_status"),
        signal=case.get("signal"),
        kernel_log=case.get("kernel_log", ()),
        slow=case.get("slow"),
    )
    assert diagnosis.kind == case["kind"]
    assert diagnosis.cause
    assert diagnosis.fix
    assert diagnosis.confidence == case.get("confidence", diagnosis.confidence)
    assert dict(diagnosis.overrides) == case.get("overrides", dict(diagnosis.overrides))
    numbers = [line.number for line in diagnosis.evidence]
    assert case.get("evidence", numbers[0] if numbers else None) in [*numbers, None]


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"unknown"}))
def test_every_kind_has_at_least_two_cases(kind: str) -> None:
    assert sum(case["kind"] == kind for _, case in CASES) >= 2


def test_answer_is_plain_json() -> None:
    given = answer(diagnose("OSError: [Errno 98] Address already in use\n", engine="vllm"))
    assert given["kind"] == "port_in_use"
    assert given["evidence"] == [1]
    assert set(given) == {"kind", "cause", "fix", "evidence", "lines", "overrides", "confidence", "alternatives"}
