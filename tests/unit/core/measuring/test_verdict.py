"""Verdicts: how often they are wrong on simulated pairs, and what they say."""

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from bot.core.domain.measurement import VerdictKind, Workload
from bot.core.measuring.verdict import RUN_NOISE_PCT, compare, compare_measurements, run_noise, wave_medians
from tests.unit.core.measuring.records import around, level, measured, pair

PAIRS = 150
#: concurrencies, waves at each, scatter within a run, scatter between launches
SITUATIONS = [((1,), 8, 0.03, 0.01), ((1,), 12, 0.04, 0.0125), ((1, 4), 6, 0.03, 0.0125), ((8,), 5, 0.04, 0.0)]


@pytest.mark.parametrize("situation", SITUATIONS)
def test_two_runs_of_the_same_launch_are_seldom_called_different(
    situation: tuple[tuple[int, ...], int, float, float],
) -> None:
    widths, n, within, between = situation
    source = random.Random(7)
    kinds = Counter(
        compare(*pair(source, 0.0, widths=widths, n=n, within=within, between=between)).kind for _ in range(PAIRS)
    )
    wrong = kinds[VerdictKind.FASTER] + kinds[VerdictKind.SLOWER]
    # 5 % are allowed; of 150 pairs more than 15 would come up about once in 500 runs
    assert wrong <= 15, kinds


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize(("change", "kind"), [(-0.1, VerdictKind.SLOWER), (0.1, VerdictKind.FASTER)])
def test_ten_per_cent_are_found(
    situation: tuple[tuple[int, ...], int, float, float], change: float, kind: VerdictKind
) -> None:
    widths, n, within, between = situation
    source = random.Random(8)
    kinds = Counter(
        compare(*pair(source, change, widths=widths, n=n, within=within, between=between)).kind for _ in range(PAIRS)
    )
    assert kinds[kind] >= 0.92 * PAIRS, kinds
    other = {VerdictKind.SLOWER: VerdictKind.FASTER, VerdictKind.FASTER: VerdictKind.SLOWER}[kind]
    assert kinds[other] == 0


def test_says_change_interval_and_method() -> None:
    verdict = compare([level(1, around(70, seed=1))], [level(1, around(40.7, seed=2))])
    assert verdict.kind is VerdictKind.SLOWER
    assert verdict.change_pct == pytest.approx(-41.9, abs=1)
    low, change, high = verdict.low_pct or 0.0, verdict.change_pct or 0.0, verdict.high_pct or 0.0
    assert low < change < high < -35
    assert "Welch" in verdict.method
    assert f"{RUN_NOISE_PCT} % between launches" in verdict.method


def test_identical_samples_are_the_same() -> None:
    verdict = compare([level(1, [50.0] * 8)], [level(1, [50.0] * 8)])
    assert verdict.kind is VerdictKind.SAME
    assert verdict.change_pct == 0.0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ([level(1, around(50))], [level(4, around(50, 16))]),
        ([level(1, [50.0, 51.0])], [level(1, around(30))]),
        ([], [level(1, around(30))]),
        ([level(1, [])], [level(1, [])]),
    ],
    ids=["no common concurrency", "two answers", "nothing before", "every request failed"],
)
def test_without_grounds_it_cannot_tell(old: list[object], new: list[object]) -> None:
    verdict = compare(old, new)  # type: ignore[arg-type]  # lists of Level, typed loosely for parametrize
    assert verdict.kind is VerdictKind.CANNOT_TELL
    assert verdict.change_pct is None
    assert verdict.notes


def test_too_scattered_answers_cannot_tell_rather_than_be_the_same() -> None:
    verdict = compare([level(1, around(50, 6, 25, seed=1))], [level(1, around(52, 6, 25, seed=2))])
    assert verdict.kind is VerdictKind.CANNOT_TELL
    assert "too few or too scattered" in verdict.notes[0]


def test_one_stalled_answer_does_not_make_a_launch_slower() -> None:
    stalled = around(50, 10, seed=2)
    stalled[3] = 12.0
    assert compare([level(1, around(50, 10, seed=1))], [level(1, stalled)]).kind is VerdictKind.SAME


def test_faster_alone_and_slower_in_company_is_said() -> None:
    verdict = compare(
        [level(1, around(50, 10, seed=1)), level(8, around(30, 64, seed=2))],
        [level(1, around(70, 10, seed=3)), level(8, around(22, 64, seed=4))],
    )
    assert verdict.kind is VerdictKind.CANNOT_TELL
    assert verdict.notes[0] == "faster at one concurrency and slower at another"
    assert any(note.startswith("at 8: -2") for note in verdict.notes)


def test_answers_of_one_wave_count_once() -> None:
    waves = [50.0] * 4 + [52.0] * 4 + [54.0] * 3 + [12.0] + [56.0] * 4
    assert wave_medians(waves, 4) == (50.0, 52.0, 54.0, 56.0)
    assert len(wave_medians(around(50, 64), 8)) == 8
    # too few waves: smaller groups
    assert len(wave_medians(around(50, 16), 16)) == 4
    assert wave_medians([1.0, 2.0, 3.0], 16) == (1.0, 2.0, 3.0)


def test_other_versions_and_machines_are_compared_and_said() -> None:
    old = measured(50, seed=1, facts={"host": "a", "engine_version": "0.5.10", "driver": "580", "sm_mhz": "1900"})
    new = measured(40, seed=2, facts={"host": "a", "engine_version": "0.5.11", "driver": "580", "sm_mhz": "1980"})
    verdict = compare_measurements(old, new)
    assert verdict.kind is VerdictKind.SLOWER
    assert "engine version: 0.5.10 → 0.5.11" in verdict.notes
    assert not any("mhz" in note or "driver" in note for note in verdict.notes)
    moved = replace(new, facts={**new.facts, "host": "b"})
    elsewhere = compare_measurements(old, moved)
    assert "another machine" in elsewhere.notes[0]
    assert elsewhere.low_pct is not None
    assert verdict.low_pct is not None
    assert elsewhere.low_pct < verdict.low_pct


def test_machines_of_one_kind_may_differ_by_seven_per_cent() -> None:
    old, new = measured(524, seed=1, facts={"host": "a"}), measured(556, seed=2, facts={"host": "b"})
    assert compare_measurements(old, new).kind is not VerdictKind.FASTER
    assert compare_measurements(old, replace(new, facts={"host": "a"})).kind is VerdictKind.FASTER


def test_other_lengths_are_no_comparison() -> None:
    verdict = compare_measurements(measured(50), measured(40, workload=Workload(prompt_tokens=4096)))
    assert verdict.kind is VerdictKind.CANNOT_TELL
    assert "another workload: prompts of 128 and of 4096 tokens" in verdict.notes


def test_a_disturbed_measurement_gives_no_verdict_that_the_disturbance_explains() -> None:
    calm = measured(50, seed=1)
    said: dict[str, Any] = {"doubts": ("foreign_gpu",), "caveats": ("another process was on GPU 0",)}
    slow, fast = measured(40, seed=2, **said), measured(60, seed=2, **said)
    assert compare_measurements(calm, slow).kind is VerdictKind.CANNOT_TELL
    assert "measure again" in compare_measurements(calm, slow).notes[0]
    # faster in spite of it is faster; and with the same company on both sides it is a fair comparison
    assert compare_measurements(calm, fast).kind is VerdictKind.FASTER
    assert compare_measurements(measured(50, seed=1, **said), slow).kind is VerdictKind.SLOWER
    assert compare_measurements(slow, calm).kind is VerdictKind.CANNOT_TELL
    assert "now: another process was on GPU 0" in compare_measurements(calm, fast).notes


def test_noise_between_launches_is_learned_from_five_on() -> None:
    few = [measured(v, seed=i) for i, v in enumerate((50, 52, 48))]
    assert run_noise(few, 1) == RUN_NOISE_PCT
    many = [measured(v, seed=i) for i, v in enumerate((50, 53, 47, 55, 45, 50))]
    assert 5 < run_noise(many, 1) < 12
    steady = [measured(50, seed=1)] * 6
    assert run_noise(steady, 1) == RUN_NOISE_PCT / 2
