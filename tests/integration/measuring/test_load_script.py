"""The load script, as hosts run it, against a server of known behaviour."""

import importlib.util
import json
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from statistics import fmean
from types import SimpleNamespace
from typing import Any

import pytest

from tests.integration.measuring.conftest import SCRIPT, FakeOpenAI

Start = Callable[..., FakeOpenAI]
QUICK = {"output_tokens": 32, "max_level_s": 1.0, "min_level_s": 0.2, "idle_s": 0.1, "gpu": False}


def run(server: FakeOpenAI, *, python: str = sys.executable, key: str = "", **settings: Any) -> list[dict[str, Any]]:
    """Records that the script printed."""
    config = {"url": server.url, **QUICK, **settings}
    text = (f"RELAUNCH_API_KEY = {key!r}\n".encode() if key else b"") + SCRIPT.read_bytes()
    done = subprocess.run([python, "-", json.dumps(config)], input=text, capture_output=True, timeout=60, check=False)
    records = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert records, done.stderr.decode()
    assert done.returncode == (0 if records[-1]["type"] == "result" else 1), done.stderr.decode()
    return records


def levels(server: FakeOpenAI, **settings: Any) -> list[dict[str, Any]]:
    final = run(server, **settings)[-1]
    assert final["type"] == "result", final
    found: list[dict[str, Any]] = final["levels"]
    return found


def test_counts_tokens_and_times_of_each_request(openai: Start) -> None:
    (level,) = levels(openai(interval_ms=5, ttft_ms=30), concurrency=[1])
    assert level["requests"] == len(level["samples"]) >= 4
    assert level["tokens"] == 32 * level["requests"]
    assert level["counted_from"] == "usage"
    # the server waits before each first token, never less than it was told
    assert level["ttft_ms"]["p50"] >= 30
    assert level["ttft_ms"]["p50"] <= level["ttft_ms"]["p95"] <= level["ttft_ms"]["p99"]
    row = level["per_request"][0]
    assert row["tokens"] == 32
    assert row["ttft_ms"] >= 30
    assert row["itl_ms"] == pytest.approx(1000 / row["decode_tok_s"], rel=0.02)
    # a request takes its wait and 31 intervals, so the aggregate lies below the decode speed
    assert level["aggregate_tok_s"] < level["decode_tok_s"]


def test_several_tokens_in_a_chunk_are_counted_as_tokens(openai: Start) -> None:
    (level,) = levels(openai(interval_ms=20, tokens_per_chunk=4), concurrency=[1], output_tokens=64)
    assert level["tokens"] == 64 * level["requests"]
    assert level["tokens_per_chunk"] == 4
    row = level["per_request"][0]
    assert row["itl_ms"] == pytest.approx(1000 / row["decode_tok_s"], rel=0.02)  # of tokens, not of chunks


def test_keeps_the_concurrency_that_is_asked_for(openai: Start) -> None:
    server = openai()
    found = levels(server, concurrency=[1, 6])
    assert [level["concurrency"] for level in found] == [1, 6]
    assert server.seen()["max_running"] == 6
    assert found[1]["warmup"]["requests"] >= 6


def test_own_tokens_are_what_the_server_counted(openai: Start) -> None:
    (level,) = levels(openai(), concurrency=[4])

    def total(page: str) -> float:
        return next(float(x.split()[-1]) for x in page.splitlines() if x.startswith("vllm:generation_tokens_total"))

    assert total(level["metrics_after"]) - total(level["metrics_before"]) == level["tokens"]
    assert "_bucket" not in level["metrics_after"]


def test_prompts_have_the_length_and_differ_from_their_first_word(openai: Start) -> None:
    server = openai()
    (level,) = levels(server, concurrency=[2], prompt_tokens=200)
    prompts = server.seen()["prompts"]
    assert len({p.split()[0] for p in prompts}) == len(prompts)
    assert level["prompt_tokens"] == pytest.approx(200, abs=4)
    again = levels(server, concurrency=[1])
    assert again
    assert len(set(server.seen()["prompts"])) == len(server.seen()["prompts"])


def test_reused_prompts_are_all_the_same_and_may_be_cached(openai: Start) -> None:
    server = openai()
    levels(server, concurrency=[2], reuse_prompts=True)
    assert len(set(server.seen()["prompts"])) == 1
    assert "cache_prompt" not in server.seen()["bodies"][-1]


def test_asks_for_a_fixed_length_and_no_prefix_cache(openai: Start) -> None:
    server = openai()
    levels(server, concurrency=[1])
    body = server.seen()["bodies"][-1]
    assert (body["ignore_eos"], body["cache_prompt"], body["max_tokens"]) == (True, False, 32)
    assert body["stream_options"] == {"include_usage": True}
    assert "min_tokens" not in body


def test_takes_the_next_way_where_a_server_refuses_a_field(openai: Start) -> None:
    server = openai(reject=["cache_prompt", "ignore_eos"], chat=False)
    (level,) = levels(server, concurrency=[1])
    assert server.seen()["bodies"][-1]["min_tokens"] == 32
    assert "prompt" in server.seen()["bodies"][-1]
    assert level["failed"] == 0


def test_every_failed_request_is_told_with_its_error(openai: Start) -> None:
    server = openai(fail_every=4, break_every=7, cut_every=5)
    (level,) = levels(server, concurrency=[3], max_level_s=2.5, spread_pct=0.0)
    said = {e["error"] for e in level["errors"]}
    assert level["failed"] == len(level["errors"])
    assert {
        "HTTP 503: the queue is full",
        "in the stream: CUDA out of memory",
        "the connection closed before the answer was complete",
    } <= said
    assert level["requests"] > 0


def test_stops_when_every_request_fails(openai: Start) -> None:
    (level,) = levels(openai(fail_every=1), concurrency=[2], max_level_s=20)
    assert level["stopped_because"] == "every request failed"
    assert level["aggregate_tok_s"] is None
    assert level["decode_tok_s"] is None


def test_says_why_it_stopped(openai: Start) -> None:
    server = openai()
    assert levels(server, concurrency=[1], spread_pct=0.0, max_level_s=0.6)[0]["stopped_because"] == "time up"
    found = levels(server, concurrency=[1], spread_pct=90.0, max_level_s=30)
    assert found[0]["stopped_because"] == "spread small enough"


def test_a_slow_first_answer_is_left_to_the_warm_up(openai: Start) -> None:
    (level,) = levels(openai(first_ttft_ms=900), concurrency=[1])
    assert level["warmup"]["slowest_ttft_ms"] >= 900
    assert all(row["ttft_ms"] != level["warmup"]["slowest_ttft_ms"] for row in level["per_request"])


def test_a_cold_first_wave_is_taken_out_of_requests_and_time() -> None:
    level = cold_level()
    assert level.drop_cold_start() == 2
    assert [stream.decode_tok_s for stream in level.good] == [100.0, 101.0, 99.0, 100.0, 101.0, 100.0]
    assert level.began == 7.0  # when the last of the cold wave ended


def script_module() -> Any:
    """The script as a module, to ask its rules; hosts get it as text."""
    spec = importlib.util.spec_from_file_location("load_script", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cold_start_rule() -> Callable[[list[float], int], bool]:
    rule: Callable[[list[float], int], bool] = script_module().is_cold_start
    return rule


def cold_level() -> Any:
    """A level of two streams whose first wave was cold."""
    level = script_module().Level({"endpoint": "chat"}, None, None, {}, 2, (1, 1))
    speeds = (60.0, 61.0, 100.0, 101.0, 99.0, 100.0, 101.0, 100.0)
    ends = (6.5, 7.0, 9.0, 9.1, 11.0, 11.1, 13.0, 13.1)
    level.good = [SimpleNamespace(decode_tok_s=v, ended_at=t) for v, t in zip(speeds, ends, strict=True)]
    return level


def test_a_cold_start_is_told_from_noise() -> None:
    rule = cold_start_rule()
    assert rule([60, 100, 101, 99, 100], 1)
    assert rule([60, 61, 100, 101, 99, 100, 101, 100], 2)
    assert not rule([60, 100, 101], 1)  # too few to say what is usual
    assert not rule([60, 100, 75, 110, 95], 1)  # the others scatter as much
    assert not rule([140, 100, 101, 99, 100], 1)
    assert not rule([], 4)


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("noise", [0.02, 0.1, 0.3, 0.6])
def test_noise_alone_does_not_make_a_server_look_faster(width: int, noise: float) -> None:
    rule, source = cold_start_rule(), random.Random(1)
    lifted = []
    for _ in range(500):
        waves = [max(0.05, source.gauss(1, noise)) for _ in range(6)]
        rates = [wave * source.gauss(1, 0.02) for wave in waves for _ in range(width)]
        kept = rates[width:] if rule(rates, width) else rates
        lifted.append(fmean(kept) / fmean(rates) - 1)
    assert fmean(lifted) < 0.002


def test_answers_that_end_early_are_counted(openai: Start) -> None:
    (level,) = levels(openai(stop_after=10), concurrency=[1])
    assert level["short"] == level["requests"] > 0


def test_without_usage_chunks_are_counted_and_that_is_said(openai: Start) -> None:
    (level,) = levels(openai(usage=False), concurrency=[1])
    assert level["counted_from"] == "chunks"
    assert level["tokens"] == 32 * level["requests"]


def test_cached_prompt_tokens_are_told(openai: Start) -> None:
    (level,) = levels(openai(cached_share=0.9), concurrency=[1])
    assert level["cached_tokens"] / level["cached_of"] == pytest.approx(0.9, abs=0.02)


def test_speculation_of_single_requests(openai: Start) -> None:
    final = run(openai(accept_steps=2.0, timings=True), concurrency=[1])[-1]
    native, drafted = final["native"], final["levels"][0]["drafted"]
    assert native["tokens"] / native["steps"] == 2.0
    assert native["histogram"] == [0, 0, 48]
    assert drafted["accepted"] == 16 * drafted["requests"]
    assert drafted["proposed"] == 48 * drafted["requests"]


def test_the_key_comes_over_stdin_and_a_missing_one_is_said(openai: Start) -> None:
    server = openai(api_key="sk-secret")
    refused = run(server, concurrency=[1])[-1]
    assert refused["type"] == "failed"
    assert "401" in refused["error"]
    assert "Invalid API key" in refused["error"]
    assert run(server, key="sk-secret", concurrency=[1])[-1]["type"] == "result"


def test_progress_comes_while_it_runs(openai: Start) -> None:
    records = run(openai(), concurrency=[1, 2], max_level_s=1.5, spread_pct=0.0)
    steps = [r for r in records if r["type"] == "progress"]
    assert {(s["concurrency"], s["phase"]) for s in steps} >= {(1, "measure"), (2, "measure")}
    assert [r["concurrency"] for r in records if r["type"] == "level"] == [1, 2]
    assert records[-1]["type"] == "result"


def test_a_dead_port_is_an_error_in_words(openai: Start) -> None:
    server = openai()
    server.process.kill()
    server.process.wait()
    assert "Connection refused" in run(server)[-1]["error"]


def test_ends_soon_after_its_reader_went_away(openai: Start) -> None:
    config = {"url": openai().url, **QUICK, "max_level_s": 60, "spread_pct": 0.0}
    script = subprocess.Popen(
        [sys.executable, "-", json.dumps(config)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert script.stdin
    assert script.stdout
    assert script.stderr
    script.stdin.write(SCRIPT.read_bytes())
    script.stdin.close()
    script.stdout.readline()
    script.stdout.close()
    try:
        assert script.wait(15) == 1
    finally:
        script.stderr.close()
        if script.poll() is None:
            script.send_signal(signal.SIGKILL)
            script.wait()


@pytest.mark.skipif(not shutil.which("python3.8"), reason="no Python 3.8 here")
def test_runs_on_the_oldest_python_that_it_promises(openai: Start) -> None:
    old = shutil.which("python3.8") or ""
    if subprocess.run([old, "-c", ""], capture_output=True, check=False).returncode:
        pytest.skip("python3.8 does not start here")
    final = run(openai(), python=old, concurrency=[1])[-1]
    assert final["python"].startswith("3.8")
