"""Settings in words, pasted flags, environment, rhythms."""

from typing import Any

import pytest

from tests.unit.core.language.fleet import read


@pytest.mark.parametrize(
    ("words", "overrides"),
    [
        ("64k context", {"context_length": 65536}),
        ("ctx=8k", {"context_length": 8192}),
        ("a context window of 32768", {"context_length": 32768}),
        ("65,536 tokens of context", {"context_length": 65536}),
        ("tp2", {"tensor_parallel": 2}),
        ("tensor parallelism 4", {"tensor_parallel": 4}),
        ("on 2 gpus", {"tensor_parallel": 2}),
        ("gpus 4-7", {"gpus": "4,5,6,7"}),
        ("on gpus 0 and 1", {"gpus": "0,1"}),
        ("port 9000", {"port": 9000}),
        ("85% of the vram", {"memory_fraction": 0.85}),
        ("mem fraction .8", {"memory_fraction": 0.8}),
        ("at most 16 concurrent requests", {"max_running_requests": 16}),
        ("max-num-seqs 64", {"max_running_requests": 64}),
        ("16 seqs max", {"max_running_requests": 16}),
        ("kv cache in fp8_e5m2", {"kv_cache_dtype": "fp8_e5m2"}),
        ("attention backend fa3", {"attention_backend": "fa3"}),
        ("in bf16", {"dtype": "bfloat16"}),
        ("cuda graphs off", {"cuda_graphs": False}),
        ("in eager mode", {"cuda_graphs": False}),
        ("served as demo", {"served_name": "demo"}),
        ("--max-model-len 16k", {"context_length": 16384}),
        ("--gpu-memory-utilization=0.9 --enforce-eager", {"memory_fraction": 0.9, "cuda_graphs": False}),
        ("--mem-fraction-static 0.8", {"memory_fraction": 0.8}),
        ("NCCL_DEBUG=INFO", {"env": {"NCCL_DEBUG": "INFO"}}),
    ],
)
def test_settings_are_read(words: str, overrides: dict[str, Any]) -> None:
    command = read(f"start gemma on node8 with {words}")
    assert dict(command.overrides) == overrides
    assert (command.config, command.ask) == ("gemma-3-27b", False)


@pytest.mark.parametrize(
    ("words", "overrides"),
    [
        ("three steps and four draft tokens", {"speculative_steps": 3, "speculative_draft_tokens": 4}),
        ("steps 2 draft tokens 3", {"speculative_steps": 2, "speculative_draft_tokens": 3}),
        (
            "topk 2, 4 steps and 8 draft tokens",
            {"speculative_topk": 2, "speculative_steps": 4, "speculative_draft_tokens": 8},
        ),
    ],
)
def test_speculative_settings_are_read(words: str, overrides: dict[str, Any]) -> None:
    assert dict(read(f"start kimi with {words}").overrides) == overrides


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("--port 99999", "bad_value"),
        ("port 123456", "bad_value"),
        ("--tensor-parallel-size banana", "bad_value"),
        ("tp 0", "bad_value"),
        ("tp 2 tp 4", "contradiction"),
        ("LD_PRELOAD=/tmp/x.so", "unsafe_environment"),
        ("PATH=/tmp", "unsafe_environment"),
        ("PYTHONPATH=/tmp", "unsafe_environment"),
        ("HF_TOKEN=hf_x", "unsafe_text"),
        ("--api-key abc", "unsafe_text"),
        ("--no-such-flag 3", "unknown_flag"),
        ("--model /models/other", "identity_flag"),
    ],
)
def test_settings_that_cannot_be_used_are_asked_about(words: str, code: str) -> None:
    command = read(f"start gemma on node8 {words}")
    assert command.ask
    assert command.question is not None
    assert command.question.code == code


def test_a_flag_without_a_neutral_name_is_kept_by_engine() -> None:
    command = read("start kimi --chunked-prefill-size 4096")
    assert command.flags["sglang"] == {"chunked-prefill-size": "4096"}
    assert not command.ask


def test_speculative_settings_for_a_config_without_speculation_are_asked_about() -> None:
    command = read("start deepseek-r1-plain with 3 steps")
    assert command.question is not None
    assert command.question.code == "contradiction"


@pytest.mark.parametrize(
    ("words", "every", "cron"),
    [
        ("every 30 minutes", "PT30M", None),
        ("every 2h", "PT2H", None),
        ("every half hour", "PT30M", None),
        ("every other hour", "PT2H", None),
        ("hourly", "PT1H", None),
        ("daily at 08:30", None, "30 8 * * *"),
        ("every day at 6pm", None, "0 18 * * *"),
        ("every weekday at 9", None, "0 9 * * 1-5"),
        ("every monday and thursday at 7:15", None, "15 7 * * 1,4"),
        ("every day at noon", None, "0 12 * * *"),
        ("every morning", None, "0 8 * * *"),
    ],
)
def test_rhythms_are_read(words: str, every: str | None, cron: str | None) -> None:
    command = read(f"post health {words}")
    assert (command.intent.value, command.every, command.cron) == ("schedule", every, cron)
