"""Ranking the differences between a slow launch and the best one."""

from bot.core.diagnosis.slow import best_revert, explain_slower
from bot.core.domain.diagnosis import PastPair, Sighting

THREE_STEPS = {
    "speculative_algorithm": "NEXTN",
    "speculative_steps": 3,
    "speculative_topk": 1,
    "speculative_draft_tokens": 4,
}
ONE_STEP = {
    "speculative_algorithm": "NEXTN",
    "speculative_steps": 1,
    "speculative_topk": 1,
    "speculative_draft_tokens": 2,
}


def test_fewer_steps_and_a_short_accept_length_lead_and_the_relaunch_takes_all_three() -> None:
    best = Sighting(settings={**THREE_STEPS, "port": 30000}, accept_length=3.2, decode_tok_s=70)
    current = Sighting(settings={**ONE_STEP, "port": 30001}, accept_length=1.75, decode_tok_s=40)
    found = explain_slower(current, best)
    assert [d.what for d in found] == ["accept_length", "speculative_steps", "speculative_draft_tokens"]
    assert found[0].factor is not None
    assert round(found[0].factor, 2) == 1.83
    assert best_revert(found) == THREE_STEPS


def test_history_says_what_a_setting_is_worth() -> None:
    pair = PastPair(setting="attention_backend", before="fa3", after="triton", factor=0.5)
    current = Sighting(settings={"attention_backend": "triton", "context_length": 8192})
    best = Sighting(settings={"attention_backend": "fa3", "context_length": 4096})
    first = explain_slower(current, best, [pair])[0]
    assert (first.what, first.factor, first.basis) == ("attention_backend", 2.0, "history")


def test_graphs_off_clocks_tenants_and_peer_traffic_are_seen() -> None:
    current = Sighting(
        cuda_graphs=False,
        sm_clock_mhz=800,
        max_sm_clock_mhz=2400,
        throttle_reasons=("SW power cap",),
        power_limit_w=200,
        p2p=False,
        tenants=("python train.py",),
        warm=False,
    )
    best = Sighting(cuda_graphs=True, power_limit_w=350, p2p=True, warm=True)
    found = {d.what: d for d in explain_slower(current, best)}
    assert set(found) == {"cuda_graphs", "sm_clock_mhz", "throttle_reasons", "power_limit_w", "p2p", "tenants", "warm"}
    assert found["cuda_graphs"].overrides == {"cuda_graphs": True}
    assert found["sm_clock_mhz"].factor == 3.0


def test_unknown_is_no_difference() -> None:
    assert explain_slower(Sighting(), Sighting(cuda_graphs=True, p2p=True, accept_length=3.0)) == ()


def test_versions_differ_only_where_both_are_known() -> None:
    current = Sighting(versions={"engine": "0.5.11", "driver": "580.1"})
    best = Sighting(versions={"engine": "0.5.9", "torch": "2.9"})
    assert [d.what for d in explain_slower(current, best)] == ["engine"]
