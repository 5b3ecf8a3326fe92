"""Measuring on a real GPU: SGLang without speculation, with three steps and with one: measured, compared, explained.

usage: story.py --model FOLDER --out FOLDER [--python PYTHON] [--seconds 20]
Run by hand on a machine with an NVIDIA GPU, from the root of a checkout; see README.md beside this file. It needs
SGLang 0.5.11 and, of the bot's dependencies, scipy and matplotlib. It writes story.json, one JSON file a measurement,
pictures and the servers' logs, and prints what happened. The measuring part alone: no Slack, no database, no SSH.

Checks, each printed as ok or FAILED, exit status 1 with any failure:
  our tokens are the server's counter's within 2 %; three steps faster than one; one step not faster than none and said
  to cost more than it brings; the same launch measured twice is not called different; a foreign process on the card is
  noticed; after each stop the card's memory is back.
"""

import argparse
import contextlib
import json
import os
import platform
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

# ruff: noqa: E402  # the checkout is not installed on that machine
from bot.adapters.local_python import SubprocessPython
from bot.adapters.plots.history import history_plot
from bot.adapters.plots.levels import levels_plot
from bot.core.domain.measurement import Measurement, Verdict, VerdictKind, Workload
from bot.core.domain.picture import LaunchPoint
from bot.core.engines.sglang import ENGINE
from bot.core.measuring.encoding import measurement_to_json, verdict_to_json
from bot.core.measuring.explain import Observed, explain, speculation_cost
from bot.core.measuring.verdict import compare_measurements
from bot.workflows.measure import bench_url

PORT = 30000
COMMON = [
    "--attention-backend",
    "triton",
    "--sampling-backend",
    "pytorch",
    "--grammar-backend",
    "none",
    "--mem-fraction-static",
    "0.5",
    "--cuda-graph-max-bs",
    "16",
    "--enable-metrics",
    "--trust-remote-code",
]
SPECULATION: dict[str, dict[str, str]] = {
    "none": {},
    "three": {"speculative_steps": "3", "speculative_topk": "1", "speculative_draft_tokens": "4"},
    "one": {"speculative_steps": "1", "speculative_topk": "1", "speculative_draft_tokens": "2"},
}
FLAGS = {"speculative_steps": "--speculative-num-steps", "speculative_topk": "--speculative-eagle-topk",
         "speculative_draft_tokens": "--speculative-num-draft-tokens"}  # fmt: skip
START_LIMIT_S = 300
AGREEMENT = 0.02
#: the driver keeps a little for itself
MEMORY_LEFT_MIB = 1500


class WallClock:
    """Clock of this machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic_s(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class Story:
    """Runs the launches and keeps what came out."""

    def __init__(self, model: Path, out: Path, python: str, seconds: float) -> None:
        self.model, self.out, self.python = model, out, python
        self.workload = Workload(concurrency=(1, 8), prompt_tokens=128, output_tokens=512, max_level_s=seconds)
        self.observed: list[Observed] = []
        self.failed: list[str] = []
        self.said: list[str] = []
        self.starts: dict[str, float] = {}

    def say(self, text: str) -> None:
        self.said.append(text)
        print(text, flush=True)

    def check(self, name: str, ok: bool) -> None:
        self.say(f"{'ok    ' if ok else 'FAILED'} {name}")
        if not ok:
            self.failed.append(name)

    @contextlib.contextmanager
    def server(self, name: str) -> Iterator[str]:
        """SGLang with one of the speculations; ended with proof that the memory came back."""
        before, began = memory_mib(), time.monotonic()
        argv = [
            self.python,
            "-m",
            "sglang.launch_server",
            "--model-path",
            str(self.model),
            "--port",
            str(PORT),
            *COMMON,
        ]
        if SPECULATION[name]:
            argv += ["--speculative-algorithm", "NEXTN"]
            argv += [word for key, value in SPECULATION[name].items() for word in (FLAGS[key], value)]
        log = self.out / f"server_{name}.log"
        with log.open("ab") as file:
            process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True)
        url = f"http://127.0.0.1:{PORT}"
        try:
            wait_ready(process, url, log)
            self.starts[name] = time.monotonic() - began
            self.say(f"{name}: ready after {self.starts[name]:.0f} s")
            yield url
        finally:
            end(process)
            left = wait_memory(before)
            self.check(
                f"{name}: stopped, {left} MiB in use on the card ({before} before)", left <= before + MEMORY_LEFT_MIB
            )

    def measure(self, name: str, url: str, label: str = "") -> Observed:
        """Measure, print and keep."""
        measurement = bench_url(
            url, self.workload, script=(ROOT / "templates/scripts/load.py").read_bytes(), local=SubprocessPython(),
            engines=[ENGINE], clock=WallClock(), gpu=True,
        )  # fmt: skip
        # one machine, one model: what compares these launches is known
        measurement = replace(measurement, facts={**measurement.facts, "host": platform.node()})
        seen = Observed(
            number=len(self.observed) + 1, host="gpu", model=self.model.name, settings=SPECULATION[name],
            measurement=measurement,
        )  # fmt: skip
        label = label or name
        (self.out / f"measurement_{label}.json").write_text(json.dumps(measurement_to_json(measurement), indent=1))
        for level in measurement.levels:
            self.say(
                f"{label}: at {level.concurrency} {level.decode_tok_s} tok/s a stream, {level.aggregate_tok_s} "
                f"together, first token {level.ttft_ms_p50} ms, n={level.requests}, spread {level.spread_pct} %, "
                f"{level.stopped_because}"
            )
        self.say(f"{label}: accept length {measurement.accept_length}; doubts {list(measurement.caveats)}")
        for level in measurement.levels:
            counted = level.counted_tokens
            close = counted is not None and counted > 0 and abs(level.tokens / counted - 1) <= AGREEMENT
            # a neighbour on the card makes no tokens, so this holds then, too
            self.check(
                f"{label}: at {level.concurrency} {level.tokens} tokens came, the server counted {counted}", close
            )
        self.observed.append(seen)
        return seen

    def verdict(self, name: str, old: Observed, new: Observed) -> Verdict:
        """Compare and print."""
        found = compare_measurements(old.measurement, new.measurement)
        self.say(
            f"{name}: {found.kind.value}, {found.change_pct} % ({found.low_pct} to {found.high_pct}); {found.method}"
        )
        (self.out / f"verdict_{name.replace(' ', '_')}.json").write_text(json.dumps(verdict_to_json(found), indent=1))
        return found

    def run(self) -> None:
        """The story in order."""
        with self.server("none") as url:
            none = self.measure("none", url)
        with self.server("three") as url:
            three = self.measure("three", url)
            again = self.measure("three", url, "three_again")
            self.foreign(url)
        with self.server("one") as url:
            one = self.measure("one", url)
        self.judge(none, three, again, one)
        self.draw(none, three, one)

    def foreign(self, url: str) -> None:
        """A second process takes memory on the card: the measurement must say so."""
        hog = subprocess.Popen(
            [self.python, "-c", "import torch, time; x = torch.empty(4 << 30, dtype=torch.uint8, device='cuda'); "
             "print('held', flush=True); time.sleep(900)"], stdout=subprocess.PIPE,
        )  # fmt: skip
        try:
            assert hog.stdout
            hog.stdout.readline()
            seen = self.measure("three", url, "three_with_neighbour")
            self.observed.remove(seen)
            self.check("a foreign process on the card is noticed", "foreign_gpu" in seen.measurement.doubts)
        finally:
            hog.kill()
            hog.wait()

    def judge(self, none: Observed, three: Observed, again: Observed, one: Observed) -> None:
        """Verdicts and reasons."""
        same = self.verdict("three again", three, again)
        self.check("measured twice, not called different", same.kind not in (VerdictKind.FASTER, VerdictKind.SLOWER))
        self.check(
            "one step is slower than three", self.verdict("one after three", three, one).kind is VerdictKind.SLOWER
        )
        self.verdict("one after none", none, one)
        cost = speculation_cost(self.observed, one)
        self.say(f"speculation cost of one step: {cost}")
        self.check("one step is said to cost more than it brings", cost is not None)
        self.check("three steps are not said to", speculation_cost(self.observed, three) is None)
        for difference in explain(one, three, self.observed):
            self.say(f"why: {difference}")

    def draw(self, none: Observed, three: Observed, one: Observed) -> None:
        """Both pictures."""
        points = [point(none, "no speculation"), point(three, "none → 3 steps"), point(one, "3 → 1 steps")]
        base = three.measurement.level(1)
        picture = history_plot("mimo", "gpu", points, baseline_tok_s=base.decode_tok_s if base else None, noise_pct=3.5)
        (self.out / "history.png").write_bytes(picture.png)
        both: Sequence[tuple[str, Measurement]] = (("3 steps", three.measurement), ("1 step", one.measurement))
        overlaid = levels_plot("mimo: 1 step against 3 steps", both)
        (self.out / "levels.png").write_bytes(overlaid.png)
        self.say(picture.alt_text)
        self.say(overlaid.alt_text)


def point(seen: Observed, change: str) -> LaunchPoint:
    """A launch in the history picture."""
    level = seen.measurement.levels[0]
    ordered = sorted(level.samples)
    return LaunchPoint(
        number=seen.number,
        measured_at=seen.measurement.measured_at,
        decode_tok_s=level.decode_tok_s or 0.0,
        low=ordered[len(ordered) // 4] if ordered else None,
        high=ordered[3 * len(ordered) // 4] if ordered else None,
        change=change,
        doubtful=bool(seen.measurement.doubts),
    )


def memory_mib() -> int:
    """Memory in use on the first card."""
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    return int(subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0])


def wait_ready(process: "subprocess.Popen[bytes]", url: str, log: Path) -> None:
    """Until /health is 200. Raises RuntimeError with the log's tail."""
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/health", timeout=25) as reply:
            if reply.status == 200:
                return
        time.sleep(1)
    raise RuntimeError(f"not ready (exit {process.poll()}):\n{log.read_text(errors='replace')[-3000:]}")


def end(process: "subprocess.Popen[bytes]") -> None:
    """SIGTERM to the launcher, then SIGKILL to its group: SGLang ends its own group by SIGKILL, exit 137 is normal."""
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(30)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(10)


def wait_memory(before: int) -> int:
    """Memory in use once it is back, or after 15 s."""
    deadline = time.monotonic() + 15
    while (used := memory_mib()) > before + MEMORY_LEFT_MIB and time.monotonic() < deadline:
        time.sleep(0.5)
    return used


def main() -> int:
    """Run the story; 1 when a check failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--python", default=sys.executable, help="Python that has SGLang")
    parser.add_argument("--seconds", type=float, default=20.0, help="measuring time at each concurrency")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    story = Story(given.model, given.out, given.python, given.seconds)
    try:
        story.run()
    finally:
        summary = {"said": story.said, "failed": story.failed, "starts_s": story.starts, "machine": platform.platform()}
        (given.out / "story.json").write_text(json.dumps(summary, indent=1))
    return 1 if story.failed else 0


if __name__ == "__main__":
    sys.exit(main())
