"""What must not be said: a confident cause without grounds."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.core.diagnosis import diagnose, split_command

FOLDER = Path(__file__).parents[3] / "cases" / "diagnosis"
HEALTHY_START = """\
[2026-01-01 00:00:00] server_args=ServerArgs(model_path='/srv/models/alpha', watchdog_timeout=300)
[2026-01-01 00:00:00] Tokenizer loaded as generic TokenizersBackend for /srv/models/alpha, retrying with use_fast=False
[2026-01-01 00:00:01] Fail to set RLIMIT_NOFILE: current limit exceeds maximum limit
[2026-01-01 00:00:03] Ignore import error when loading sglang.srt.models.odd: Can not import FA3 in sgl_kernel.
[2026-01-01 00:00:05 TP0] Init torch distributed begin.
[2026-01-01 00:00:06 TP0] Init torch distributed ends. elapsed=0.90 s, mem usage=0.10 GB
[2026-01-01 00:00:06 TP0] Load weight begin. avail mem=78.10 GB
Loading safetensors checkpoint shards:  50% Completed | 2/4 [00:01<00:01,  1.9it/s]
[2026-01-01 00:00:09 TP0] Load weight end. type=AlphaForCausalLM, dtype=torch.bfloat16, avail mem=41.70 GB
[2026-01-01 00:00:10 TP0] KV Cache is allocated. #tokens: 219865, K size: 15.1 GB, V size: 15.1 GB
[2026-01-01 00:00:10 TP0] Capture cuda graph begin. This can take up to several minutes. avail mem=9.11 GB
[2026-01-01 00:00:30 TP0] Capture cuda graph end. Time elapsed: 20.1 s
[2026-01-01 00:00:31] Can not initialize OpenAIServingResponses, error: Traceback (most recent call last):
ModuleNotFoundError: No module named 'openai_harmony'
[2026-01-01 00:00:32] INFO:     Application startup complete.
[2026-01-01 00:00:33] The server is fired up and ready to roll!
"""


@pytest.mark.parametrize("count", range(1, HEALTHY_START.count("\n") + 1))
def test_a_healthy_start_cut_anywhere_gives_no_confident_cause(count: int) -> None:
    text = "\n".join(HEALTHY_START.split("\n")[:count])
    diagnosis = diagnose(text, engine="sglang")
    assert diagnosis.kind in ("unknown", "benign_warning") or diagnosis.confidence == "low"


@pytest.mark.parametrize("part", ["first half", "second half"])
def test_half_a_log_is_not_confidently_wrong(part: str) -> None:
    """Half of the lines may hide the cause; then the answer may be wrong, but not sure."""
    wrong = []
    for case in _failures():
        lines = case["log"].split("\n")
        middle = max(1, len(lines) // 2)
        half = "\n".join(lines[:middle] if part == "first half" else lines[middle:])
        diagnosis = diagnose(
            half,
            engine=case.get("engine"),
            argv=split_command(case.get("command")),
            kernel_log=case.get("kernel_log", ()),
        )
        if diagnosis.kind not in (case["kind"], "unknown") and diagnosis.confidence == "high":
            wrong.append((case["name"], case["kind"], diagnosis.kind))
    assert wrong == []


def test_without_command_and_engine_nothing_is_confidently_wrong() -> None:
    wrong = []
    for case in _failures():
        diagnosis = diagnose(case["log"], kernel_log=case.get("kernel_log", ()))
        if diagnosis.kind not in (case["kind"], "unknown") and diagnosis.confidence == "high":
            wrong.append((case["name"], case["kind"], diagnosis.kind))
    assert wrong == []


def test_exit_137_is_no_out_of_memory_without_a_kernel_record() -> None:
    log = "Loading safetensors checkpoint shards:  40% Completed | 12/30 [00:31<00:47,  2.63s/it]\n[x] Exit code: -9\n"
    assert diagnose(log, engine="sglang", exit_status=137).confidence == "low"
    record = "kernel: Out of memory: Killed process 41231 (python3) total-vm:190211212kB"
    sure = diagnose(log, engine="sglang", exit_status=137, kernel_log=[record])
    assert (sure.kind, sure.confidence, sure.evidence[0].number) == ("host_oom", "high", 0)


def test_start_up_and_run_time_out_of_memory_move_in_opposite_directions() -> None:
    argv = ["python3", "-m", "sglang.launch_server", "--mem-fraction-static", "0.85"]
    start = "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.\n"
    run = (
        "The server is fired up and ready to roll!\n  in event_loop_overlap\ntorch.OutOfMemoryError: CUDA out of mem\n"
    )
    assert diagnose(start, engine="sglang", argv=argv).overrides == {"memory_fraction": 0.9}
    assert diagnose(run, engine="sglang", argv=argv).overrides == {"memory_fraction": 0.8}


def test_an_error_of_an_earlier_try_does_not_outlive_a_good_start() -> None:
    log = "ImportError: libnuma.so.1: cannot open shared object file: No such file or directory\n" + HEALTHY_START
    assert diagnose(log, engine="sglang").confidence == "low"


def _failures() -> list[dict[str, Any]]:
    cases = [case for path in sorted(FOLDER.glob("*.yaml")) for case in yaml.safe_load(path.read_text())]
    return [case for case in cases if case["kind"] not in ("unknown", "benign_warning")]


NOTES = {
    "sglang": """\
[2026-01-01 00:00:03] Ignore import error when loading sglang.srt.models.odd: Can not import FA3 in sgl_kernel.
[2026-01-01 00:00:05] Attention backend not explicitly specified. Use fa3 backend by default.
""",
    "vllm": """\
INFO 05-05 10:00:00 [api_server.py:1900] vLLM API server version 0.22.1
WARNING 05-05 10:00:01 [arg_utils.py:1775] Chunked prefill is not supported for this model; falling back.
INFO 05-05 10:00:02 [cuda.py:282] Cannot use FlashAttention-2 backend for head size 40; using FlexAttention backend.
""",
}
NOISE_OF_THE_END = """
[rank0]:[W1107 08:09:15.8 ProcessGroupNCCL.cpp:1538] Warning: destroy_process_group() was not called before exit
/usr/lib/python3.12/multiprocessing/resource_tracker.py:254: UserWarning: resource_tracker: There appear to be 1 leaked
  warnings.warn('resource_tracker: There appear to be %d '
"""


@pytest.mark.parametrize("engine", sorted(NOTES))
@pytest.mark.parametrize("where", ["before", "after"])
def test_notes_before_and_noise_after_a_failure_change_no_answer(engine: str, where: str) -> None:
    changed = []
    for case in _failures():
        if case.get("engine") != engine:
            continue
        log = NOTES[engine] + case["log"] if where == "before" else case["log"] + NOISE_OF_THE_END
        diagnosis = diagnose(
            log,
            engine=engine,
            argv=split_command(case.get("command")),
            exit_status=case.get("exit_status"),
            signal=case.get("signal"),
            kernel_log=case.get("kernel_log", ()),
            slow=case.get("slow"),
        )
        if diagnosis.kind != case["kind"]:
            changed.append((case["name"], case["kind"], diagnosis.kind))
    assert changed == []
