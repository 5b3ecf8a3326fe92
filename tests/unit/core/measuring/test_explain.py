"""Why a launch is slower."""

from typing import Any

import pytest

from bot.core.measuring.explain import Observed, explain, revert, speculation_cost
from tests.unit.core.measuring.records import measured

THREE = {"speculative_steps": "3", "speculative_topk": "1", "speculative_draft_tokens": "4"}
ONE = {"speculative_steps": "1", "speculative_topk": "1", "speculative_draft_tokens": "2"}


def launch(number: int, tok_s: float, settings: dict[str, str] | None = None, **more: Any) -> Observed:
    host, environment = more.pop("host", "gpu1"), more.pop("environment", {})
    return Observed(
        number=number, host=host, model="m", settings=settings or {}, environment=environment,
        measurement=measured(tok_s, seed=number, **more),
    )  # fmt: skip


def test_one_step_that_is_slower_than_none_is_said_from_the_launches_at_hand() -> None:
    none, three, one = (
        launch(1, 362),
        launch(2, 524, THREE, accept_length=3.05),
        launch(3, 345, ONE, accept_length=1.87),
    )
    cost = speculation_cost([none, three, one], one)
    assert cost
    assert (cost.steps, cost.without, cost.accept_length) == ("1", 1, 1.87)
    assert cost.change_pct == pytest.approx(-4.7, abs=1)
    assert cost.better
    assert cost.better[0] == "3"
    assert speculation_cost([none, three, one], three) is None


@pytest.mark.parametrize(
    "others",
    [
        [],
        [launch(1, 362, host="gpu2")],
        [launch(1, 362, {"context_length": "4096"})],
        [launch(1, 300)],
        [launch(1, 346)],
    ],
    ids=["alone", "other host", "launched otherwise", "none is slower", "within the noise"],
)
def test_no_word_on_speculation_without_grounds(others: list[Observed]) -> None:
    one = launch(3, 345, ONE)
    assert speculation_cost([*others, one], one) is None


def test_a_difference_is_worth_what_earlier_launches_say() -> None:
    baseline = launch(5, 70, {**THREE, "cuda_graphs": "true", "port": "30000"})
    current = launch(6, 40, {**ONE, "cuda_graphs": "true", "port": "30001"})
    others = [launch(1, 70, THREE), launch(2, 42, ONE), launch(3, 69, {**THREE, "port": "30001"})]
    found = explain(current, baseline, others)
    assert (found[0].kind, found[0].before, found[0].after) == ("speculation", "3", "1")
    assert found[0].worth_pct == pytest.approx(-40, abs=2)
    assert "#1 and #2" in found[0].grounds
    port = next(d for d in found if d.name == "port")
    assert port.worth_pct is None
    assert "no two launches" in port.grounds


def test_accept_length_is_taken_apart_from_the_pace() -> None:
    baseline, current = launch(1, 517, THREE, accept_length=3.05), launch(2, 340, ONE, accept_length=1.87)
    length = next(d for d in explain(current, baseline) if d.kind == "accept_length")
    assert length.worth_pct == pytest.approx(-38.7, abs=0.1)
    assert "steps per second changed by +7 %" in length.grounds


def test_neighbours_come_first_and_versions_are_named() -> None:
    baseline = launch(1, 70, facts={"engine_version": "0.5.10", "sm_mhz": "1980", "gpu": "A6000"})
    current = launch(
        2, 50, {"max_running_requests": "8"}, doubts=("foreign_gpu",), caveats=("another process was on GPU 0",),
        facts={"engine_version": "0.5.11", "sm_mhz": "1960", "gpu": "A6000"},
    )  # fmt: skip
    found = explain(current, baseline)
    assert found[0].kind == "foreign_gpu"
    assert found[0].after == "another process was on GPU 0"
    assert {d.kind for d in found} == {"foreign_gpu", "flag", "engine_version"}  # 1 % of the clock is nothing


def test_a_changed_environment_and_lower_clocks_count() -> None:
    baseline = launch(1, 70, environment={"NCCL_P2P_DISABLE": "0"}, facts={"sm_mhz": "1980"})
    current = launch(2, 60, environment={"NCCL_P2P_DISABLE": "1"}, facts={"sm_mhz": "1200"})
    assert {(d.kind, d.name) for d in explain(current, baseline)} == {
        ("peer_traffic", "env.NCCL_P2P_DISABLE"),
        ("clocks", "sm mhz"),
    }


def test_reverting_takes_the_whole_speculation_and_leaves_what_does_not_matter() -> None:
    baseline = launch(1, 70, {**THREE, "speculative_algorithm": "NEXTN", "port": "30000", "context_length": "8192"})
    current = launch(2, 40, {**ONE, "speculative_algorithm": "NEXTN", "port": "30001", "context_length": "4096"})
    assert revert(explain(current, baseline)) == {
        "speculative_algorithm": "NEXTN",
        "speculative_steps": 3,
        "speculative_topk": 1,
        "speculative_draft_tokens": 4,
    }


def test_graphs_that_were_switched_off_are_switched_on_again() -> None:
    found = explain(launch(2, 40, {"cuda_graphs": "False"}), launch(1, 70))
    assert [(d.kind, d.overrides) for d in found] == [("graphs", {"cuda_graphs": True})]


def test_speculation_that_was_added_is_taken_away() -> None:
    assert revert(explain(launch(2, 40, ONE), launch(1, 70))) == {"speculative_steps": 0}


def test_a_setting_that_made_it_faster_does_not_explain_and_is_kept() -> None:
    others = [launch(1, 40, {"attention_backend": "triton"}), launch(2, 60, {"attention_backend": "fa3"})]
    baseline = launch(3, 70, {"attention_backend": "triton", "dtype": "bfloat16"})
    current = launch(4, 50, {"attention_backend": "fa3", "dtype": "float32"})
    found = explain(current, baseline, others)
    assert [d.name for d in found] == ["dtype", "attention_backend"]
    assert revert(found) == {"dtype": "bfloat16"}


def test_drafts_of_which_none_is_accepted_lead_without_a_comparison() -> None:
    found = explain(launch(2, 40, THREE, accept_length=1.02), launch(1, 70))
    assert [d.kind for d in found] == ["accept_length", "speculation"]
    assert (found[0].before, found[0].worth_pct) == ("not known", None)


def test_throttled_clocks_lead_a_power_limit_and_peer_traffic() -> None:
    baseline = launch(1, 70, facts={"sm_mhz": "1980", "power_limit_w": "350"})
    current = launch(
        2, 30, environment={"NCCL_P2P_DISABLE": "1"}, facts={"sm_mhz": "800", "power_limit_w": "200"},
        doubts=("power_cap",), caveats=("GPU 0 ran into its power limit",),
    )  # fmt: skip
    assert [d.kind for d in explain(current, baseline)] == ["clocks", "power_cap", "power_limit", "peer_traffic"]


def test_a_neighbour_of_the_faster_launch_explains_nothing() -> None:
    baseline = launch(1, 70, doubts=("shared",), caveats=("two requests of others",))
    current = launch(2, 50, {"dtype": "float32"})
    assert [d.kind for d in explain(current, baseline)] == ["flag", "shared"]


def test_nothing_differs() -> None:
    assert explain(launch(1, 70, THREE), launch(2, 71, THREE)) == ()
