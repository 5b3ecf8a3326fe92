"""How long a 100 MB log takes: python tests/benchmarks/bench_diagnose.py. Prints seconds and the peak resident size."""

import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bot.core.diagnosis import diagnose

TARGET_BYTES = 100_000_000
CAUSE = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.10 GiB.\n"


def _steady(number: int, dice: random.Random) -> str:
    if number % 3 == 0:
        return (
            f'INFO:     10.0.0.9:{number % 9999} - "POST /v1/completions HTTP/1.1" 200 OK id={dice.getrandbits(64):x}\n'
        )
    return (
        f"[2026-01-01 00:{number % 60:02d}:00 TP{number % 8}] Decode batch, #running-req: {number % 9}, "
        f"#token: {number}, accept len: {dice.uniform(1, 4):.2f}, cuda graph: True, "
        f"gen throughput (token/s): {dice.uniform(1, 99):.2f}\n"
    )


def _prose(number: int, dice: random.Random) -> str:
    """A log in which no two lines are alike, as when prompts are logged."""
    return (
        "INFO prompt: "
        + " ".join(f"{dice.choice('ghijklmnop')}{dice.choice('qrstuvwxyz')}{number % 89}" for _ in range(20))
        + "\n"
    )


def measure(name: str, line: Callable[[int, random.Random], str]) -> None:
    """Write a log of this shape, diagnose it, print the time."""
    dice = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        with path.open("w") as out:
            written = number = 0
            while written < TARGET_BYTES:
                written += out.write(line(number, dice))
                number += 1
                if number == 200_000:
                    out.write(CAUSE)
        begun = time.perf_counter()
        with path.open("rb") as lines:
            diagnosis = diagnose(lines, engine="sglang")
        took = time.perf_counter() - begun
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{name}: {written / 1e6:.0f} MB, {number} lines, {took:.2f} s, peak {peak_mib:.0f} MiB, {diagnosis.kind}")


if __name__ == "__main__":
    measure("steady state", _steady)
    measure("no two lines alike", _prose)
    sys.exit(0)
