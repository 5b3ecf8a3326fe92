"""Launches as people write them, against the engines' own --help as it was recorded."""

from pathlib import Path

import pytest

from bot.core.domain.finding import Finding, Judgement
from tests.unit.core.planning.launches import CHECKS, situation

HELP = Path(__file__).parents[3] / "cases" / "facts" / "help"
SGLANG = "/opt/env/bin/python3 -m sglang.launch_server --model-path /models/a --port 30000"
VLLM = "/opt/env/bin/vllm serve /models/a --port 8000"
LLAMA = "/opt/llama/llama-server -m /models/a.gguf --port 8080"
INSTALLED = {
    "sglang_0.5.11": "wanted sglang\npython /opt/env/bin/python3\npython_version 3.12.3\npackage sglang 0.5.11\n",
    "vllm_0.32": "wanted vllm\npython /opt/env/bin/python3\npython_version 3.12.3\npackage vllm 0.32.0\n",
    "llama_cpp_b11434": "binary /opt/llama/llama-server\nversion: 11434 (abc)\n",
}


def judged(command: str, recorded: str) -> tuple[Finding, ...]:
    facts = {"engine_help": (HELP / f"{recorded}.txt").read_text(), "engine_version": INSTALLED[recorded]}
    return CHECKS["flags"].judge(situation({"command": command, "facts": facts}))


@pytest.mark.parametrize(
    ("command", "recorded"),
    [
        (f"{SGLANG} --tp 2 --mem-fraction-static 0.85 --context-length 32768 --trust-remote-code", "sglang_0.5.11"),
        (
            f"{SGLANG} --speculative-algorithm NEXTN --speculative-num-steps 3 --speculative-eagle-topk 1 "
            "--speculative-num-draft-tokens 4 --tool-call-parser qwen25 --reasoning-parser qwen3 --kv-cache-dtype auto",
            "sglang_0.5.11",
        ),
        (f"{VLLM} -tp 2 --max-model-len 32k --gpu-memory-utilization 0.9 --no-enable-prefix-caching", "vllm_0.32"),
        (f"{VLLM} --speculative-config.method mtp --speculative_config.num_speculative_tokens 3", "vllm_0.32"),
        (f"{VLLM} --enable-auto-tool-choice --tool-call-parser my_own_parser --kv-cache-dtype fp8_e4m3", "vllm_0.32"),
        (f"{LLAMA} -ngl 99 -c 32768 -fa on --split-mode row -np 4 --jinja", "llama_cpp_b11434"),
    ],
)
def test_right_ones_are_right(command: str, recorded: str) -> None:
    (one,) = judged(command, recorded)
    assert (one.judgement, one.evidence) == (Judgement.OK, ()), one
    assert "its own --help" in one.summary


@pytest.mark.parametrize(
    ("command", "recorded", "summary", "remedy"),
    [
        (f"{SGLANG} --max-model-len 4096", "sglang_0.5.11", "no flag --max-model-len", "--context-length"),
        (
            f"{SGLANG} --mem-fraction-statik 0.8",
            "sglang_0.5.11",
            "no flag --mem-fraction-statik",
            "--mem-fraction-static",
        ),
        (f"{SGLANG} --kv-cache-dtype fp8_e5m3", "sglang_0.5.11", "does not take fp8_e5m3", "fp8_e5m2"),
        (f"{VLLM} --max-model-length 4096", "vllm_0.32", "no flag --max-model-length", "--max-model-len"),
        (f"{VLLM} --context-length 4096", "vllm_0.32", "no flag --context-length", "--max-model-len"),
        (f"{VLLM} --dtype bf16", "vllm_0.32", "does not take bf16", "bfloat16"),
        (f"{LLAMA} --split-mode rows", "llama_cpp_b11434", "does not take rows", "row"),
        (f"{LLAMA} --no-mmap", "llama_cpp_b11434", "no flag --no-mmap", "--load-mode"),
        # llama-server takes no beginnings of flags
        (f"{LLAMA} --threads-batc 3", "llama_cpp_b11434", "no flag --threads-batc", "--threads-batch"),
        (f"{LLAMA} --n-gpu-layer 99", "llama_cpp_b11434", "no flag --n-gpu-layer", "--n-gpu-layers"),
    ],
)
def test_wrong_ones_are_refused_with_the_nearest_right_one(
    command: str, recorded: str, summary: str, remedy: str
) -> None:
    (one,) = judged(command, recorded)
    assert one.judgement is Judgement.REFUSE
    assert summary in one.summary
    assert remedy in one.remedy, one
