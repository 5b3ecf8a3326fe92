"""Accept length of one run."""

import pytest

from bot.core.measuring.speculation import speculation
from tests.unit.core.measuring.records import counters, level_record, result_record


def test_from_counter_differences_over_all_levels() -> None:
    first = level_record(
        metrics_before="drafts=100 accepted_tokens=10 accepted_per_position=8,2",
        metrics_after="drafts=200 accepted_tokens=210 accepted_per_position=98,62",
    )
    second = level_record(
        metrics_before="drafts=200 accepted_tokens=210 accepted_per_position=98,62",
        metrics_after="drafts=300 accepted_tokens=370 accepted_per_position=168,122",
    )
    found = speculation(result_record(first, second), counters)
    assert found
    assert found.accept_length == pytest.approx(1 + 360 / 200)
    assert found.drafts == 200
    assert found.per_position == pytest.approx((0.8, 0.6))
    assert found.source == "counters"


def test_gauges_and_totals_of_earlier_runs_do_not_count() -> None:
    same = "drafts=900 accepted_tokens=2000"
    assert speculation(result_record(level_record(metrics_before=same, metrics_after=same)), counters) is None


def test_from_the_timings_of_each_answer() -> None:
    # of 100 tokens of each of 2 answers one comes from the prompt; 60 were drafted: 39 steps
    drafted = {"requests": 2, "proposed": 300, "accepted": 120, "tokens": 200}
    found = speculation(result_record(level_record(drafted=drafted)), None)
    assert found
    assert found.accept_length == pytest.approx(1 + 120 / 78)


def test_from_meta_info() -> None:
    native = {
        "requests": 3,
        "tokens": 1536,
        "steps": 512,
        "accepted": 1024,
        "proposed": 1536,
        "histogram": [0, 128, 256, 128],
    }
    found = speculation(result_record(native=native), None)
    assert found
    assert found.accept_length == 3.0
    assert found.per_position == pytest.approx((1.0, 0.75, 0.25))
    assert "3 requests" in found.source


def test_none_without_speculation() -> None:
    assert speculation(result_record(), counters) is None
