"""The practice SGLang takes the real flags, and prints, serves, fails and stops as the real one."""

import json
import re
from pathlib import Path

import pytest

from bot.core.domain.launch import Phase
from bot.core.engines import sglang
from bot.practice.engines.program.speed import speed_of, tokens_of_step
from tests.unit.practice.engines.conftest import Place, serving

MTP = ["--speculative-algorithm", "NEXTN", "--speculative-num-steps", "3", "--speculative-eagle-topk", "1"]
MTP += ["--speculative-num-draft-tokens", "4"]


def launch(place: Place, *flags: str) -> list[str]:
    return [place.python, "-m", "sglang.launch_server", "--model-path", place.model, "--tp", "2", *flags]


def test_start_serve_stop(place: Place) -> None:
    with serving(place, *launch(place, "--served-model-name", "qwen", "--enable-metrics", *MTP)) as server:
        assert json.loads(server.get("/v1/models")[1])["data"][0]["id"] == "qwen"
        body = {"model": "qwen", "prompt": "a b c", "max_tokens": 60, "ignore_eos": True, "stream": True}
        body["stream_options"] = {"include_usage": True}
        events = [e for e in server.get("/v1/completions", body)[1].split("\n\n") if e]
        assert events[-1] == "data: [DONE]"
        assert json.loads(events[-2][6:])["usage"]["completion_tokens"] == 60
        assert 15 <= len(events) <= 25, "several tokens per chunk"
        native = server.get("/generate", {"text": "x", "sampling_params": {"max_new_tokens": 68}})[1]
        meta = json.loads(native)["meta_info"]
        assert meta["completion_tokens"] / meta["spec_verify_ct"] == pytest.approx(3.3, abs=0.3)
        metrics = sglang.ENGINE.parse_metrics(server.get("/metrics")[1])
        assert metrics.generation_tokens_total == 128
        cards = sorted((place.folder / "gpu").glob("[0-9]*.json"))
        assert [h["name"] for h in map(json.loads, map(Path.read_text, cards[-2:]))] == [
            "sglang::scheduler_TP0",
            "sglang::scheduler_TP1",
        ]
        assert server.stop() == -9, "SGLang ends itself with SIGKILL"
        phases = [m.phase for m in map(sglang.ENGINE.milestone, server.log.split("\n")) if m]
    assert phases.count(Phase.READY) == 1
    assert {Phase.ARGUMENTS, Phase.WEIGHTS, Phase.KV_CACHE, Phase.GRAPHS, Phase.LISTENING} < set(phases)
    assert "type=Qwen3_5MTP" in server.log, "the draft is loaded as well"
    assert "\r" in server.log


def test_speed_follows_the_flags() -> None:
    speeds = {drafts: speed_of(27.0, drafts, True, 1.0) for drafts in (0, 1, 3)}
    assert [round(s.tok_s) for s in speeds.values()] == [27, 37, 70]
    assert [s.accept_length for s in speeds.values()] == [1.0, 1.75, 3.4]
    assert speed_of(27.0, 0, False, 1.0).tok_s < 20, "no graphs"
    steps = [tokens_of_step(speeds[3], seed) for seed in range(2000)]
    assert sum(steps) / len(steps) == pytest.approx(3.4, abs=0.05)


FAILURES = [
    (["--no-such-flag"], 2, "sglang serve: error: unrecognized arguments: --no-such-flag"),
    (["--tp", "two"], 2, "invalid int value: 'two'"),
    (MTP[:4], 1, "TypeError: '>' not supported between instances of 'NoneType' and 'int'"),
    ([*MTP[:2], *MTP[4:6]], 1, "\nAssertionError"),
    (["--mem-fraction-static", "0.97"], -9, "Capture cuda graph failed: CUDA out of memory"),
    (["--mem-fraction-static", "0.4"], -9, "Not enough memory. Please try to increase --mem-fraction-static"),
    (["--context-length", "9000000"], 1, "is greater than the derived context_length"),
    (["--model-path", "/nowhere/model"], 1, "HFValidationError: Repo id must be in the form"),
]


@pytest.mark.parametrize(("flags", "status", "words"), FAILURES, ids=[w[-30:] for _, _, w in FAILURES])
def test_failures(place: Place, flags: list[str], status: int, words: str) -> None:
    got, text = place.fails(*launch(place, *flags, "--port", "1"))
    assert words in text
    assert got == status


def test_a_missing_library_fails_every_start(place: Place) -> None:
    status, text = place.fails(*launch(place), PRACTICE_MISSING_LIBRARY="libavutil.so.58")
    assert status == 1
    assert text.endswith("ImportError: libavutil.so.58: cannot open shared object file: No such file or directory\n")


def test_a_taken_port_shows_only_at_the_end(place: Place) -> None:
    with serving(place, *launch(place)) as server:
        pass_on = ["--port", str(server.port), "--mem-fraction-static", "0.88"]
        other = place.folder / "gpu-2"
        other.mkdir()
        (other / "gpus.json").write_text((place.folder / "gpu/gpus.json").read_text())
        status, text = place.fails(*launch(place, *pass_on), PRACTICE_GPU_DIR=str(other))
    assert status == 1
    assert re.search(r"Load weight end.*\[Errno 98\] error while attempting to bind", text, re.DOTALL)


def test_memory_of_another_server_is_seen(place: Place) -> None:
    with serving(place, *launch(place)):
        status, text = place.fails(*launch(place, "--port", "1"))
    assert status == -9
    assert "out of memory" in text.lower()
