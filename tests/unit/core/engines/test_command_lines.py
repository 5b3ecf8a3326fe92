"""Reading and editing command lines."""

import shlex
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.domain.catalog import SecretRef
from bot.errors import BadInputError
from tests.unit.core.engines.cases import CASES, ENGINES, rows

SGLANG, VLLM, LLAMA = (ENGINES[name] for name in ("sglang", "vllm", "llama_cpp"))


def test_every_engine_has_cases() -> None:
    for module in ENGINES:
        for kind in ("parse", "apply", "speculation"):
            assert (CASES / module / f"{kind}.json").is_file(), f"{module} has no {kind}.json"


@pytest.mark.parametrize(("module", "row"), rows("parse"))
def test_a_command_line_is_read(module: str, row: dict[str, Any]) -> None:
    line = ENGINES[module].parse(shlex.split(row["command"]))
    assert (line.model, line.flags, list(line.stray)) == (row["model"], row["flags"], row.get("stray", []))
    assert line.port == row.get("port")


@pytest.mark.parametrize(("module", "row"), rows("apply"))
def test_overrides_change_only_what_they_name(module: str, row: dict[str, Any]) -> None:
    assert ENGINES[module].apply(row["argv"], row["overrides"]) == tuple(row["expect"])


@pytest.mark.parametrize(("module", "row"), rows("parse"))
def test_without_overrides_argv_is_the_same_word_for_word(module: str, row: dict[str, Any]) -> None:
    argv = tuple(shlex.split(row["command"]))
    assert ENGINES[module].apply(argv, {}) == argv


@given(st.lists(st.text(min_size=1, max_size=12).map(lambda t: t if t[0] != "-" else "-" + t), max_size=12))
def test_no_words_are_too_odd_to_be_kept(words: list[str]) -> None:
    for engine in ENGINES.values():
        assert engine.apply(tuple(words), {}) == tuple(words)
        engine.parse(words)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "tensor_parallel": st.integers(1, 64),
            "context_length": st.integers(256, 2**21),
            "port": st.integers(1, 65535),
            "memory_fraction": st.sampled_from([0.5, 0.85, 0.9]),
            "max_running_requests": st.integers(2, 512),
            "dtype": st.sampled_from(["bfloat16", "float16"]),
        },
    )
)
def test_what_was_applied_is_read_back(overrides: dict[str, Any]) -> None:
    for engine, argv in ((SGLANG, ["sglang", "serve", "--tp", "3"]), (VLLM, ["vllm", "serve", "m", "-tp=3"])):
        flags = engine.parse(engine.apply(argv, overrides)).flags
        read = engine.flags_to_overrides(flags)
        assert {name: read[name] for name in overrides} == overrides


def test_secrets_pass_through() -> None:
    secret = SecretRef("unit file")
    argv = ("vllm", "serve", "m", "--api-key", secret, "--port", "8000")
    assert VLLM.apply(argv, {"port": 9000}) == ("vllm", "serve", "m", "--api-key", secret, "--port", "9000")


@pytest.mark.parametrize(
    ("command", "recognised"),
    [
        ("python3 -m sglang.launch_server --tp 2", "sglang"),
        ("/x/bin/python3.12 -u -m vllm.entrypoints.openai.api_server", "vllm"),
        ("/x/bin/python /x/bin/vllm serve m", "vllm"),
        ("vllm bench serve", None),
        ("sglang serve --model m", "sglang"),
        ("./llama-server -m a", "llama_cpp"),
        ("vim launch_server.py", None),
        ("tail -f llama-server.log", None),
        ("python train.py -m sglang.launch_server", None),
        ("python -c 'import vllm' serve", None),
        ("", None),
    ],
)
def test_only_servers_are_recognised(command: str, recognised: str | None) -> None:
    argv = shlex.split(command)
    assert [name for name, engine in ENGINES.items() if engine.recognises(argv)] == ([recognised] if recognised else [])


@pytest.mark.parametrize(
    ("engine", "flag", "version", "best"),
    [
        (SGLANG, "--mem-fraction-statik", None, "--mem-fraction-static"),
        (SGLANG, "--cuda-graph-max-bs", "0.5.21", "--cuda-graph-max-bs-decode"),
        (SGLANG, "--max-model-len", None, "--context-length"),
        (SGLANG, "--gpu-memory-utilization", None, "--mem-fraction-static"),
        (VLLM, "--tensor-paralel-size", None, "--tensor-parallel-size"),
        (VLLM, "--guided-decoding-backend", "0.20.2", "--structured-outputs-config.backend"),
        (VLLM, "--tp-size", None, "--tensor-parallel-size"),
        (LLAMA, "--draft-max", "b11434", "--spec-draft-n-max"),
        (LLAMA, "--ctx-sise", None, "--ctx-size"),
    ],
)
def test_a_wrong_flag_gets_the_right_one_offered(engine: Any, flag: str, version: str | None, best: str) -> None:
    assert engine.nearest(flag, version)[0] == best


def test_nonsense_gets_no_offer() -> None:
    assert all(engine.nearest("--qqqqzzzz") == () for engine in ENGINES.values())


def test_versions_know_their_flags() -> None:
    assert SGLANG.version_has("cuda-graph-max-bs", "0.5.11") is True
    assert SGLANG.version_has("cuda-graph-max-bs", "0.5.20") is False
    assert SGLANG.version_has("bf16-gemm-backend", "0.5.11") is False
    assert SGLANG.version_has("bf16-gemm-backend", "0.5.15.post1") is True
    assert SGLANG.version_has("no-such", "0.5.11") is None
    assert VLLM.version_has("swap-space", "0.18.1") is False
    assert VLLM.version_has("speculative-config.method", "0.18.1") is True
    assert LLAMA.version_has("no-mmap", "b11434") is False
    assert LLAMA.version_has("no-mmap", "not a version") is None


@pytest.mark.parametrize(
    ("engine", "overrides"),
    [
        (LLAMA, {"tensor_parallel": 2}),
        (LLAMA, {"dtype": "float16"}),
        (LLAMA, {"attention_backend": "fa3"}),
        (VLLM, {"speculative_topk": 4}),
        (VLLM, {"speculative_draft_tokens": 4}),
        (VLLM, {"speculative_steps": 3}),
        (SGLANG, {"colour": "red"}),
    ],
)
def test_a_setting_that_the_engine_lacks_is_refused_and_never_guessed(engine: Any, overrides: dict[str, Any]) -> None:
    with pytest.raises(BadInputError):
        engine.apply(["--model", "m"], overrides)


def test_gpus_and_env_become_the_environment() -> None:
    for engine in ENGINES.values():
        found = engine.environment({"gpus": [2, 3], "env": {"NCCL_DEBUG": "INFO", "OLD": None}})
        assert found == {"CUDA_VISIBLE_DEVICES": "2,3", "NCCL_DEBUG": "INFO", "OLD": None}
    assert LLAMA.environment({"cuda_graphs": False}) == {"GGML_CUDA_DISABLE_GRAPHS": "1"}


@pytest.mark.parametrize(
    ("engine", "command", "needed"),
    [
        (SGLANG, "sglang serve --tp 4 --pp-size 2", 8),
        (SGLANG, "sglang serve --tp 4 --dp-size 2", 8),
        (SGLANG, "sglang serve --tp 4 --dp-size 4 --enable-dp-attention", 4),
        (SGLANG, "sglang serve --tp 16 --nnodes 2", 8),
        (VLLM, "vllm serve m -tp 2 -dp 2", 4),
        (VLLM, "vllm serve m", 1),
        (LLAMA, "llama-server -m a", None),
        (LLAMA, "llama-server -m a -ngl 0", 0),
        (LLAMA, "llama-server -m a -dev CUDA0,CUDA1", 2),
    ],
)
def test_gpus_needed(engine: Any, command: str, needed: int | None) -> None:
    assert engine.gpus_needed(engine.parse(command.split())) == needed


def test_memory_budget_means_another_thing_for_each_engine() -> None:
    sglang = SGLANG.memory_budget(SGLANG.parse(["sglang", "serve", "--mem-fraction-static", "0.8"]), 100_000, 50_000)
    vllm = VLLM.memory_budget(VLLM.parse(["vllm", "serve", "m"]), 100_000, 50_000)
    llama = LLAMA.memory_budget(LLAMA.parse(["llama-server"]), 100_000, 50_000)
    assert (sglang[0], vllm[0], llama[0]) == (40_000, 90_000, 48_976)


def test_groups_of_flags_that_people_ask_about() -> None:
    expected = {
        SGLANG: "speculative-num-steps speculative, mem-fraction-static memory, context-length memory, "
        "tp-size parallelism, attention-backend kernels, disable-cuda-graph kernels, port serving",
        VLLM: "speculative-config.method speculative, gpu-memory-utilization memory, max-model-len memory, "
        "tensor-parallel-size parallelism, enforce-eager kernels, api-key serving, quantization model",
        LLAMA: "model-draft speculative, spec-type speculative, ctx-size memory, n-gpu-layers memory, "
        "split-mode parallelism, flash-attn kernels, port serving",
    }
    for engine, text in expected.items():
        pairs = dict(pair.split() for pair in text.split(", "))
        assert {name: engine.group(name) for name in pairs} == pairs
