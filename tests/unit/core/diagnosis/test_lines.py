"""Reading logs of any size, from any kind of chunks."""

import tracemalloc
from collections.abc import Iterator

import pytest

from bot.core.diagnosis import diagnose
from bot.core.diagnosis.lines import read_log

MIB = 1024 * 1024


def _decode_line(number: int) -> str:
    return (
        f"[2026-01-01 {number % 24:02d}:{number % 60:02d}:{number % 59:02d} TP{number % 8}] Decode batch, "
        f"#running-req: {number % 9}, #token: {number * 37 % 99999}, token usage: 0.{number % 100:02d}, "
        f"cuda graph: True, gen throughput (token/s): {number % 97}.{number % 100:02d}, #queue-req: 0\n"
    )


def _big_log(cause: str, before_mib: int, after_mib: int) -> Iterator[bytes]:
    """A log of about before + after MiB with the cause in between, a block at a time."""
    block = "".join(_decode_line(n) for n in range(5000)).encode()
    access = b'[2026-01-01 00:00:00] INFO:     10.0.0.9:4711 - "POST /v1/completions HTTP/1.1" 200 OK\n'
    for _ in range(before_mib * MIB // len(block)):
        yield block
        yield access
    yield cause.encode()
    for _ in range(after_mib * MIB // len(block)):
        yield block


def test_a_cause_in_the_middle_of_100_mb_is_found_with_little_memory() -> None:
    cause = (
        "[2026-01-01 11:20:01 TP0] Scheduler hit an exception: Traceback (most recent call last):\n"
        '  File "/opt/venv/sglang/srt/managers/scheduler.py", line 901, in event_loop_overlap\n'
        "    result = self.run_batch(batch)\n"
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.10 GiB.\n"
    )
    tracemalloc.start()
    try:
        diagnosis = diagnose(_big_log(cause, 60, 40), engine="sglang")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert diagnosis.kind == "gpu_oom_runtime"
    assert diagnosis.evidence[0].text.startswith("torch.OutOfMemoryError")
    assert peak < 100 * MIB


def test_line_numbers_are_those_of_the_file() -> None:
    lines = [_decode_line(n) for n in range(20_000)]
    lines[12_344] = "OSError: [Errno 28] No space left on device: '/root/.cache/x'\n"
    diagnosis = diagnose(lines, engine="vllm")
    assert [line.number for line in diagnosis.evidence] == [12_345]


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_any_cut_into_chunks_gives_the_same_lines(size: int) -> None:
    text = "one\r\ntwo\n\nOSError: [Errno 98] Address already in use\nlast ä"
    data = text.encode()
    chunks = [data[i : i + size] for i in range(0, len(data), size)]
    assert read_log(chunks) == read_log(text)
    assert [line.text for line in read_log(text).lines] == [
        "one",
        "two",
        "",
        "OSError: [Errno 98] Address already in use",
        "last ä",
    ]


def test_progress_bars_are_reduced_and_what_follows_on_the_same_line_is_kept() -> None:
    text = "Loading:   0%|    | 0/4\rLoading:  25%|#   | 1/4\rRuntimeError: boom\nend\n"
    assert [(line.number, line.text) for line in read_log(text).lines] == [(1, "RuntimeError: boom"), (2, "end")]


def test_escapes_are_stripped() -> None:
    assert read_log("\x1b[31mERROR\x1b[0m red\n").lines[0].text == "ERROR red"


def test_one_endless_line_without_newline_is_read_with_little_memory() -> None:
    tracemalloc.start()
    try:
        log = read_log(b"Loading: 1%|#| 1/99\r" * 5000 for _ in range(400))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert log.total_lines == 1
    assert peak < 40 * MIB


def test_an_empty_log_is_unknown() -> None:
    assert diagnose("").kind == "unknown"
    assert diagnose([], engine="vllm", exit_status=1).kind == "unknown"


def test_the_cause_of_another_rank_far_above_wins_over_the_last_line() -> None:
    filler = "".join(f"frame #{n}: c10::something + 0x{n:x} (0x7f in /opt/libc10.so)\n" for n in range(8000))
    text = (
        "(Worker_TP3 pid=9) ERROR 01-01 00:00:00 [multiproc_executor.py:1] Traceback (most recent call last):\n"
        "(Worker_TP3 pid=9) ERROR 01-01 00:00:00 [multiproc_executor.py:1] ImportError: libnuma.so.1: cannot open "
        "shared object file: No such file or directory\n"
        f"{filler}"
        "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}\n"
    )
    diagnosis = diagnose(text, engine="vllm")
    assert (diagnosis.kind, diagnosis.evidence[0].number) == ("missing_shared_library", 2)
