"""What makes a number doubtful."""

from typing import Any

import pytest

from bot.core.domain.measurement import Workload
from bot.core.measuring.fairness import doubts
from bot.core.measuring.result import measurement_from
from tests.unit.core.measuring.records import CARD, NOON, counters, level_record, result_record

WORKLOAD = Workload()


def kinds(record: dict[str, Any], workload: Workload = WORKLOAD) -> list[str]:
    return [d.kind for d in doubts(record, workload, counters)]


def gpu(*cards: dict[str, str], apps: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """Looks during the run at these cards, one each."""
    samples = [{"at_s": 3.0 * i, "phase": "during", "gpus": [{**CARD, **c}]} for i, c in enumerate(cards or ({},))]
    return {"samples": samples, "apps": apps or [], "error": None}


def app(pid: int, server: bool | None, **more: Any) -> dict[str, Any]:
    return {"phase": "before", "gpu_uuid": "GPU-a", "pid": pid, "mib": "127358", "name": "/srv/venv/bin/python3",
            "user": "bob", "server": server, **more}  # fmt: skip


def test_a_calm_measurement_has_none() -> None:
    calm = level_record(metrics_before="generation_tokens=100", metrics_after="generation_tokens=2148")
    idle = {"metrics": ["generation_tokens=100", "generation_tokens=100"], "seconds": 1.0, "slots": 0}
    assert kinds(result_record(calm, gpu=gpu(apps=[app(1, True)]), idle=idle)) == []


def test_tokens_of_others_show_in_the_counter() -> None:
    busy = level_record(metrics_before="generation_tokens=0", metrics_after="generation_tokens=4096")
    (doubt,) = doubts(result_record(busy), WORKLOAD, counters)
    assert doubt.kind == "shared"
    assert "50 %" in doubt.text


def test_a_few_tokens_more_are_cut_off_drafts() -> None:
    drafts = level_record(metrics_before="generation_tokens=0", metrics_after="generation_tokens=2090")
    assert kinds(result_record(drafts)) == []


def test_tokens_of_our_own_failed_requests_are_not_others() -> None:
    failed = level_record(
        metrics_before="generation_tokens=0", metrics_after="generation_tokens=2300", failed=2,
        errors=[{"at_s": 1.0, "error": "HTTP 503: full"}],
    )  # fmt: skip
    assert kinds(result_record(failed)) == ["failures"]


def test_a_counter_that_grew_less_than_what_came_is_said() -> None:
    odd = level_record(metrics_before="generation_tokens=0", metrics_after="generation_tokens=1000")
    assert kinds(result_record(odd)) == ["counters"]


def test_a_server_that_is_busy_before_the_first_request() -> None:
    idle = {"metrics": ["generation_tokens=100", "generation_tokens=180"], "seconds": 2.0, "slots": None}
    (doubt,) = doubts(result_record(idle=idle), WORKLOAD, counters)
    assert doubt.kind == "shared"
    assert "40 tok/s" in doubt.text
    assert kinds(result_record(idle={"metrics": [None], "seconds": 1.0, "slots": 2})) == ["shared"]


def test_another_process_on_the_servers_card() -> None:
    (doubt,) = doubts(result_record(gpu=gpu(apps=[app(1, True), app(7, False), app(7, False)])), WORKLOAD, None)
    assert doubt.kind == "foreign_gpu"
    assert doubt.text == "another process of bob was on GPU 0: python3, pid 7, 127358 MiB"


@pytest.mark.parametrize(
    "apps",
    [
        [app(1, None), app(7, None)],
        [app(1, True), app(7, False, gpu_uuid="GPU-b")],
        [app(1, True), app(2, True)],
        [],
    ],
    ids=["whose is unknown", "on another card", "the server's own", "none"],
)
def test_no_foreign_process(apps: list[dict[str, Any]]) -> None:
    assert kinds(result_record(gpu=gpu(apps=apps))) == []


@pytest.mark.parametrize(
    ("reasons", "kind"),
    [
        ("0x0000000000000008", "throttled"),
        ("0x0000000000000020", "throttled"),
        ("0x0000000000000040", "throttled"),
        ("0x0000000000000080", "throttled"),
        ("0x0000000000000004", "power_cap"),
    ],
)
def test_throttled_clocks(reasons: str, kind: str) -> None:
    card = {"reasons": reasons, "sm_mhz": "1200"}
    (doubt,) = doubts(result_record(gpu=gpu(card, card)), WORKLOAD, None)
    assert doubt.kind == kind
    assert "1200 of 1980 MHz" in doubt.text


@pytest.mark.parametrize("reasons", ["0x0000000000000001", "0x0000000000000000", "[N/A]", "Not Active"])
def test_clocks_that_are_not_throttled(reasons: str) -> None:
    assert kinds(result_record(gpu=gpu({"reasons": reasons}))) == []


def test_a_power_cap_seen_once_of_many_looks_is_not_said() -> None:
    assert kinds(result_record(gpu=gpu({"reasons": "0x4"}, {}, {}, {}))) == []


def test_throttling_of_a_card_that_is_not_the_servers() -> None:
    other = {"uuid": "GPU-b", "index": "1", "reasons": "0x40"}
    assert kinds(result_record(gpu=gpu(other, apps=[app(1, True)]))) == []


def test_prefix_cache() -> None:
    assert kinds(result_record(level_record(cached_tokens=900, cached_of=1024))) == ["cached"]
    assert kinds(result_record(level_record(cached_tokens=100, cached_of=1024))) == []
    assert kinds(result_record(level_record(cached_tokens=900)), Workload(reuse_prompts=True)) == []


def test_prefix_cache_from_counters_where_usage_does_not_tell() -> None:
    untold = level_record(
        cached_tokens=None, cached_of=None, metrics_before="generation_tokens=0 cached_prompt_tokens=5",
        metrics_after="generation_tokens=2048 cached_prompt_tokens=805",
    )  # fmt: skip
    assert kinds(result_record(untold)) == ["cached"]


def test_failures_short_answers_and_chunks() -> None:
    bad = level_record(failed=2, errors=[{"at_s": 1.0, "error": "HTTP 503: full"}], short=3, counted_from="chunks")
    found = doubts(result_record(bad), WORKLOAD, None)
    assert [d.kind for d in found] == ["failures", "uncounted", "short"]
    assert found[0].text == "at 1 2 of 10 requests failed: HTTP 503: full"


def test_a_script_that_could_not_keep_up() -> None:
    assert kinds(result_record(level_record(client_busy=0.95))) == ["script_busy"]


def test_a_first_answer_that_waited_for_kernels() -> None:
    rows = [{"ttft_ms": 6000.0}] + [{"ttft_ms": 80.0}] * 5
    assert kinds(result_record(level_record(per_request=rows))) == ["cold"]
    assert kinds(result_record(level_record(per_request=[{"ttft_ms": 200.0}, *rows[1:]]))) == []


def test_slow_warm_up_and_dropped_answers_are_notes_not_doubts() -> None:
    warm = {"requests": 2, "failed": 0, "seconds": 60.0, "slowest_ttft_ms": 51000.0, "tokens": 512}
    measurement = measurement_from(
        result_record(level_record(warmup=warm, dropped=4)), workload=WORKLOAD, measured_at=NOON, read=counters
    )
    assert measurement.caveats == ()
    assert "51.0 s" in measurement.notes[0]
    assert "first 4 answers" in measurement.notes[1]
