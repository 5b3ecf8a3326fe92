"""Which measurement to compare with."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from bot.core.domain.measurement import Workload
from bot.core.measuring.baseline import Candidate, choose_baseline, normal
from tests.unit.core.measuring.records import NOON, level, measured

WORKLOAD = Workload()


def candidate(number: int, tok_s: float, *, revision: str = "r1", host: str = "gpu1", **more: Any) -> Candidate:
    pinned = more.pop("pinned", False)
    measurement = replace(measured(tok_s, seed=number, **more), measured_at=NOON + timedelta(hours=number))
    return Candidate(
        launch=f"l{number}", number=number, revision=revision, host=host, measurement=measurement, pinned=pinned
    )


def test_a_pinned_one_wins_over_a_faster_one() -> None:
    choice = choose_baseline([candidate(1, 60, pinned=True), candidate(2, 70)], host="gpu1", workload=WORKLOAD)
    assert choice.baseline
    assert (choice.baseline.number, choice.why) == (1, "pinned")


def test_the_best_proven_of_the_config_or_of_one_revision() -> None:
    all_of_them = [candidate(1, 70), candidate(2, 40, revision="r2"), candidate(3, 41, revision="r2")]
    best = choose_baseline(all_of_them, host="gpu1", workload=WORKLOAD, exclude="l3")
    own = choose_baseline(all_of_them, host="gpu1", workload=WORKLOAD, exclude="l3", revision="r2")
    assert best.baseline
    assert own.baseline
    assert (best.baseline.number, own.baseline.number) == (1, 2)


def test_a_disturbed_one_only_where_there_is_no_other() -> None:
    disturbed = candidate(1, 80, doubts=("shared",), caveats=("others",))
    assert choose_baseline([disturbed, candidate(2, 60)], host="gpu1", workload=WORKLOAD).baseline == candidate(2, 60)
    alone = choose_baseline([disturbed], host="gpu1", workload=WORKLOAD)
    assert alone.baseline == disturbed
    assert "disturbed" in alone.why


def test_a_lucky_short_run_is_not_the_best() -> None:
    lucky = candidate(1, 70, levels=(level(1, [78.0, 55.0, 74.0], spread_pct=31.0),))
    steady = candidate(2, 72)
    chosen = choose_baseline([lucky, steady], host="gpu1", workload=WORKLOAD)
    assert chosen.baseline == steady


def test_says_why_there_is_none() -> None:
    def why(*candidates: Candidate, **more: Any) -> str:
        choice = choose_baseline(candidates, host="gpu1", workload=WORKLOAD, **more)
        assert choice.baseline is None
        return choice.why

    assert why() == "nothing was measured before"
    assert "gpu2 only" in why(candidate(1, 70, host="gpu2"))
    assert "other prompt" in why(candidate(1, 70, workload=Workload(prompt_tokens=4000)))
    assert "this revision" in why(candidate(1, 70), revision="r9")


def test_what_is_normal() -> None:
    found = normal(
        [candidate(1, 70), candidate(2, 66), candidate(3, 20, doubts=("shared",))], host="gpu1", concurrency=1
    )
    assert found
    assert found.launches == 2
    assert 64 < found.low < found.typical < found.high < 72
    assert normal([candidate(1, 70)], host="gpu2", concurrency=1) is None
