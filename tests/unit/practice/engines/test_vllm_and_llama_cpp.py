"""The practice vLLM and llama-server take the real flags, and print, serve, fail and stop as the real ones."""

import json
from pathlib import Path

import pytest

from bot.core.domain.launch import Phase
from bot.core.engines import llama_cpp, vllm
from tests.unit.practice.engines.conftest import Place, serving

SPEC = '{"method":"mtp","num_speculative_tokens":2}'


def serve(place: Place, *flags: str) -> list[str]:
    return [str(place.folder / "env/bin/vllm"), "serve", place.model, "--host", "127.0.0.1", "-tp", "2", *flags]


def test_vllm_start_serve_stop(place: Place) -> None:
    with serving(place, *serve(place, "--max-model-len", "16k", "--speculative-config", SPEC)) as server:
        model = json.loads(server.get("/v1/models")[1])["data"][0]
        assert (model["id"], model["max_model_len"]) == (place.model, 16000)
        body = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 40, "ignore_eos": True}
        assert json.loads(server.get("/v1/chat/completions", body)[1])["usage"]["completion_tokens"] == 40
        metrics = vllm.ENGINE.parse_metrics(server.get("/metrics")[1])
        assert metrics.generation_tokens_total == 40
        assert metrics.drafts_total
        assert 2.3 < 1 + (metrics.accepted_tokens_total or 0) / metrics.drafts_total < 2.9
        assert len(metrics.accepted_per_position_total) == 2
        assert server.get("/v1/completions", {"model": "other", "prompt": "x"})[0] == 404
        assert server.stop() == 0
        phases = {m.phase for m in map(vllm.ENGINE.milestone, server.log.split("\n")) if m}
    assert {Phase.WEIGHTS, Phase.KV_CACHE, Phase.GRAPHS, Phase.LISTENING, Phase.READY} < phases
    assert "(EngineCore pid=" in server.log


VLLM_FAILURES = [
    (["--max-running-requests", "4"], 2, "vllm: error: unrecognized arguments: --max-running-requests 4"),
    (["--max-model-len", "999999"], 1, "is greater than the derived max_model_len"),
    (["--speculative-config", '{"method":"mtp"}'], 1, "num_speculative_tokens must be provided"),
    (["-tp", "4"], 1, "Engine core initialization failed. See root cause above."),
    (["--gpu-memory-utilization", "0.2"], 1, "out of memory"),
]


@pytest.mark.parametrize(("flags", "status", "words"), VLLM_FAILURES, ids=[w[-30:] for _, _, w in VLLM_FAILURES])
def test_vllm_failures(place: Place, flags: list[str], status: int, words: str) -> None:
    got, text = place.fails(*serve(place, "--port", "1", *flags))
    assert words in text
    assert got == status


def test_llama_server_start_serve_stop(place: Place) -> None:
    program, model = str(place.folder / "llama/bin/llama-server"), str(place.folder / "models/small.gguf")
    with serving(place, program, "-m", model, "-a", "small", "-c", "4096", "--metrics") as server:
        words = Path(f"/proc/{server.process.pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
        assert words[:3] == [program.encode(), b"-m", model.encode()]
        body = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 8, "model": "anything"}
        answer = json.loads(server.get("/v1/chat/completions", body)[1])
        assert answer["timings"]["predicted_n"] == answer["usage"]["completion_tokens"] == 8
        assert llama_cpp.ENGINE.parse_metrics(server.get("/metrics")[1]).generation_tokens_total == 8
        assert server.stop() == 0
        phases = {m.phase for m in map(llama_cpp.ENGINE.milestone, server.log.split("\n")) if m}
    assert Phase.READY in phases
    assert server.log.endswith("cleaning up before exit...\n")


LLAMA_FAILURES = [
    (["--no-mmap"], "error: invalid argument: --no-mmap\n"),
    (["--ctx-size=4"], "error: invalid argument: --ctx-size=4\n"),
    (["-c", "x"], 'error while handling argument "--ctx-size": stoi'),
    (["-m", "/nowhere.gguf"], "failed to open GGUF file '/nowhere.gguf' (No such file or directory)"),
]


@pytest.mark.parametrize(("flags", "words"), LLAMA_FAILURES)
def test_llama_server_failures(place: Place, flags: list[str], words: str) -> None:
    status, text = place.fails(str(place.folder / "llama/bin/llama-server"), "--port", "0", *flags)
    assert words in text
    assert status == 1
