"""Watching a start, and reading /metrics, on captured output of real servers."""

import pytest

from bot.core.domain.launch import Milestone, Phase
from bot.core.engines import LogPosition, follow
from tests.unit.core.engines.cases import ENGINES, log


def followed(module: str, text: str, size: int | None = None) -> list[Milestone]:
    position, found = LogPosition(), []
    pieces = [text] if size is None else [text[i : i + size] for i in range(0, len(text), size)]
    for piece in pieces:
        milestones, position = follow(ENGINES[module], piece, position)
        found.extend(milestones)
    return found


def test_sglang_with_speculation_loads_twice() -> None:
    found = followed("sglang", log("sglang", "start_3steps.log"))
    texts = [(one.phase, one.draft, one.text) for one in found if one.fraction in (None, 1)]
    assert texts == [
        (Phase.ARGUMENTS, False, "arguments read"),
        (Phase.DISTRIBUTED, False, "connecting the ranks"),
        (Phase.DISTRIBUTED, False, "ranks connected in 0.28 s"),
        (Phase.WEIGHTS, False, "loading weights, 139.13 GB free"),
        (Phase.WEIGHTS, False, "weights 15/15"),
        (Phase.WEIGHTS, False, "weights loaded, 6.07 GB"),
        (Phase.KV_CACHE, False, "KV cache 519865 tokens"),
        (Phase.GRAPHS, False, "capturing graphs"),
        (Phase.GRAPHS, False, "graphs 12/12"),
        (Phase.GRAPHS, False, "graphs captured in 57.52 s"),
        (Phase.GRAPHS, False, "capturing piecewise graphs"),
        (Phase.GRAPHS, False, "compiling 58/58"),
        (Phase.GRAPHS, False, "graphs 58/58"),
        (Phase.GRAPHS, False, "piecewise graphs captured in 25.13 s"),
        (Phase.DISTRIBUTED, True, "connecting the ranks"),
        (Phase.DISTRIBUTED, True, "ranks connected in 0.00 s"),
        (Phase.WEIGHTS, True, "loading weights, 68.39 GB free"),
        (Phase.WEIGHTS, True, "weights 15/15"),
        (Phase.WEIGHTS, True, "weights loaded, 0.27 GB"),
        (Phase.KV_CACHE, True, "KV cache 519865 tokens"),
        (Phase.GRAPHS, True, "capturing draft graphs"),
        (Phase.GRAPHS, True, "graphs 12/12"),
        (Phase.GRAPHS, True, "draft graphs captured in 11.28 s"),
        (Phase.GRAPHS, True, "capturing draft extend graphs"),
        (Phase.GRAPHS, True, "graphs 12/12"),
        (Phase.GRAPHS, True, "draft extend graphs captured in 1.71 s"),
        (Phase.WARMUP, False, "room for 519865 tokens, 48 requests at a time"),
        (Phase.LISTENING, False, "listening on http://127.0.0.1:30000"),
        (Phase.READY, False, "ready"),
    ]


def test_progress_bars_come_out_of_one_physical_line() -> None:
    counts = [
        one.text for one in followed("sglang", log("sglang", "start_3steps.log")) if one.text.startswith("weights ")
    ]
    assert {"weights 0/15", "weights 1/15", "weights 15/15"} <= set(counts)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_pieces_of_any_size_give_the_same(size: int) -> None:
    text = log("sglang", "start_3steps.log")
    assert followed("sglang", text, size) == followed("sglang", text)


def test_vllm_on_the_cpu() -> None:
    found = [one.text for one in followed("vllm", log("vllm", "start_cpu.log"))]
    assert found == [
        "arguments read",
        "connecting 1 ranks",
        "1 ranks connected",
        "loading weights",
        "weights 0/1",
        "weights 1/1",
        "weights read in 0.02 s",
        "KV cache 2,097,152 tokens",
        "engine set up in 2.99 s",
        "listening on http://127.0.0.1:8000",
        "ready",
    ]


@pytest.mark.parametrize("name", ["startup_ok.log", "startup_verbose.log", "speculative_draft_mtp.log"])
def test_llama_cpp_is_ready_when_it_says_where_it_listens(name: str) -> None:
    found = followed("llama_cpp", log("llama_cpp", name))
    assert [one.phase for one in found if one.phase is Phase.READY] == [Phase.READY]
    assert any(one.phase is Phase.KV_CACHE and "slots of" in one.text for one in found)


@pytest.mark.parametrize(
    ("module", "line"),
    [
        (
            "sglang",
            "[2026-12-02 06:40:54 TP1] Load weight end. elapsed=1.29 s, type=A, avail mem=1 GB, mem usage=6 GB.",
        ),
        ("vllm", "(Worker_TP1 pid=7) INFO 12-01 06:38:17 [x.py:1] Starting to load model a..."),
        ("sglang", "Ignore import error when loading sglang.srt.models.mimo_v2: Can not import FA3"),
        ("vllm", 'INFO:     127.0.0.1:33880 - "GET /health HTTP/1.1" 200 OK'),
        ("llama_cpp", "0.00.002.478 I cmn  common_param: verbosity = 3"),
    ],
)
def test_other_ranks_and_noise_are_silent(module: str, line: str) -> None:
    assert ENGINES[module].milestone(line) is None


def test_first_ranks_speak() -> None:
    assert ENGINES["sglang"].milestone("[2026-12-02 06:40:54 DP0 TP0] Load weight begin. avail mem=3.1 GB")
    assert ENGINES["vllm"].milestone("(Worker_TP0 pid=7) INFO 12-01 06:38:17 [x.py:1] Starting to load model a...")


def test_sglang_metrics() -> None:
    found = ENGINES["sglang"].parse_metrics(log("sglang", "metrics.txt"))
    assert (found.generation_tokens_total, found.prompt_tokens_total) == (11912, 331)
    assert (found.running_requests, found.waiting_requests, found.accept_length) == (8, 0, 3.15)
    assert found.generation_tok_s == pytest.approx(3156.73, abs=0.01)
    assert found.other["is_cuda_graph"] == 0
    assert found.drafts_total is None


def test_vllm_metrics() -> None:
    found = ENGINES["vllm"].parse_metrics(log("vllm", "metrics.txt"))
    assert (found.generation_tokens_total, found.prompt_tokens_total, found.accept_length) == (1200, 64, None)
    counted = ENGINES["vllm"].parse_metrics(log("vllm", "metrics_speculation.txt"))
    assert (counted.drafts_total, counted.draft_tokens_total, counted.accepted_tokens_total) == (120, 300, 210)
    assert counted.accepted_per_position_total == (100, 70, 50)
    assert counted.running_requests is None


def test_llama_cpp_metrics() -> None:
    found = ENGINES["llama_cpp"].parse_metrics(log("llama_cpp", "metrics.txt"))
    assert (found.running_requests, found.waiting_requests, found.drafts_total) == (2, 2, 0)
    assert found.accepted_per_position_total == (57, 54)


@pytest.mark.parametrize(
    ("engine", "page", "tokens"),
    [
        (
            "sglang",
            'sglang:cached_tokens_total{source="device"} 300\nsglang:cached_tokens_total{source="host"} 20\n',
            320,
        ),
        ("vllm", 'vllm:prefix_cache_hits_total{engine="0"} 64.0\nvllm:prefix_cache_hits_total{engine="1"} 16.0\n', 80),
        ("llama_cpp", "llamacpp:prompt_tokens_cached_total 58\n", 58),
    ],
)
def test_prompt_tokens_from_the_cache_are_counted(engine: str, page: str, tokens: float) -> None:
    assert ENGINES[engine].parse_metrics(page).cached_prompt_tokens_total == tokens
    assert ENGINES[engine].parse_metrics("other 1\n").cached_prompt_tokens_total is None


def test_a_page_that_is_none_gives_nothing() -> None:
    for engine in ENGINES.values():
        assert engine.parse_metrics("<html>404</html>\n").generation_tokens_total is None
