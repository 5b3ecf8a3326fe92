"""Our numbers against others' on real engines on the CPU: the server's own counters, `vllm bench serve`, guidellm.

usage: bench_measure.py [--seconds 10]     engines: tests/engines/install
For vLLM and llama-server (alone and with a draft model), at 1 and 4 streams:
  tokens    what the load script counted against the growth of the server's counter. Must agree within 2 %
  tok/s     our aggregate against that growth over the script's own time: shows that window and whole run agree, no
            more, since both use the script's clock
  growth    bounds of the counter's growth as this program polled it, by this program's clock: independent of it,
            but of a slightly other time, and coarse where a server counts only when an answer ends
The other tools run after us. On a machine that others use, too, speeds wander from minute to minute: then only their
token counts mean something, and the load average is printed for that reason.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bot.adapters.local_python import SubprocessPython
from bot.core.domain.engine import EngineMetrics
from bot.core.engines.llama_cpp import ENGINE as LLAMA
from bot.core.engines.vllm import ENGINE as VLLM
from bot.core.measuring.script import final, parse_line
from bot.core.measuring.speculation import speculation
from bot.workflows.measure import lines_of
from tests.engines.servers import INSTALL, VLLM_ENV, Engines, engines, running
from tests.rig.sshd import free_port

ROOT = Path(__file__).resolve().parents[2]
PROMPT, OUTPUT, WIDTHS, LIMIT_PCT = 100, 128, (1, 4), 2.0
Read = Callable[[str], EngineMetrics]


@dataclass(frozen=True, slots=True)
class Tool:
    """What another tool said of one run, and by how much the server's counter grew meanwhile."""

    name: str
    tokens: float
    tok_s: float
    ttft_ms: float
    counted: float


def page(url: str) -> str:
    """The server's /metrics."""
    with urllib.request.urlopen(f"{url}/metrics", timeout=10) as reply:
        text: str = reply.read().decode()
    return text


class Poller:
    """Reads the server's token counter four times a second. A sample: asked at, answered at, counter; it was
    read somewhere between the two, which may lie far apart on a busy machine."""

    def __init__(self, url: str, read: Read) -> None:
        self.samples: list[tuple[float, float, float]] = []
        self._url, self._read = url, read
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._poll, daemon=True)
        self._thread.start()

    def _poll(self) -> None:
        while not self._stop.wait(0.25):
            asked = time.perf_counter()
            with contextlib.suppress(OSError):
                text = page(self._url)
                answered = time.perf_counter()
                self.samples.append((asked, answered, self._read(text).generation_tokens_total or 0.0))

    def stop(self) -> None:
        """No more polling."""
        self._stop.set()
        self._thread.join(15)

    def bounds(self, began: float, ended: float) -> tuple[float, float] | None:
        """Between which rates the counter grew in this time, tok/s; None with fewer than four samples."""
        inside = [(asked, answered, v) for asked, answered, v in self.samples if began <= asked and answered <= ended]
        if len(inside) < 4:
            return None
        (asked0, answered0, v0), (asked1, answered1, v1) = inside[0], inside[-1]
        return (v1 - v0) / (answered1 - asked0), (v1 - v0) / (asked1 - answered0)


def ours(url: str, seconds: float, read: Read) -> tuple[Mapping[str, Any], dict[int, tuple[float, float] | None]]:
    """The load script's final record, and the bounds of the counter's slope at each concurrency."""
    config = {
        "url": url,
        "model": "tiny",
        "concurrency": list(WIDTHS),
        "prompt_tokens": PROMPT,
        "output_tokens": OUTPUT,
        "max_level_s": seconds,
        "spread_pct": 0.0,
        "gpu": False,
    }
    script = (ROOT / "templates/scripts/load.py").read_bytes()
    poller, began, result = Poller(url, read), dict[int, float](), None
    try:
        with SubprocessPython().stream(script, json.dumps(config)) as chunks:
            for line in lines_of(chunks):
                record = parse_line(line) or {"type": ""}
                if record["type"] == "progress" and record["phase"] == "measure":
                    began.setdefault(record["concurrency"], time.perf_counter())
                result = result or final(record)
    finally:
        poller.stop()
    if result is None:
        raise SystemExit("the load script gave no result")
    # up to the time limit requests were running without a pause
    slopes = {width: poller.bounds(start, start + seconds) for width, start in began.items()}
    return result, slopes


def vllm_bench(at: Engines, url: str, width: int, requests: int, folder: Path) -> tuple[float, float, float]:
    """Tokens, tok/s and median TTFT of `vllm bench serve`."""
    command = [
        str(at.vllm),
        "bench",
        "serve",
        "--backend",
        "openai-chat",
        "--base-url",
        url,
        "--endpoint",
        "/v1/chat/completions",
        "--model",
        "tiny",
        "--tokenizer",
        str(at.models() / "qwen3"),
        "--dataset-name",
        "random",
        "--random-input-len",
        str(PROMPT - 10),
        "--random-output-len",
        str(OUTPUT),
        "--num-prompts",
        str(requests),
        "--max-concurrency",
        str(width),
        "--ignore-eos",
        "--temperature",
        "0",
        "--save-result",
        "--result-dir",
        str(folder),
        "--result-filename",
        "bench.json",
    ]
    quiet(command)
    said = json.loads((folder / "bench.json").read_text())
    return said["total_output_tokens"], said["output_throughput"], said["median_ttft_ms"]


def guidellm(at: Engines, url: str, width: int, requests: int, folder: Path) -> tuple[float, float, float]:
    """Tokens, tok/s and median TTFT of guidellm."""
    report = folder / "guidellm.json"
    command = [
        str(at.guidellm),
        "run",
        "--backend",
        f"kind=openai_http,target={url},model=tiny",
        "--profile",
        f"kind=concurrent,streams={width}",
        "--constraint",
        f"kind=max_requests,count={requests}",
        "--tokenizer",
        f"kind=hf_auto,model={at.models() / 'qwen3'}",
        "--data",
        f"kind=synthetic_text,prompt_tokens={PROMPT - 10},output_tokens={OUTPUT}",
        "--output",
        f"kind=json,path={report}",
        "--disable-console",
    ]
    quiet(command)
    run = json.loads(report.read_text())["benchmarks"][0]
    tokens = sum(r["output_tokens"] for r in run["requests"]["successful"])
    return tokens, tokens / run["duration"], run["metrics"]["time_to_first_token_ms"]["successful"]["median"]


def quiet(command: list[str]) -> None:
    """Run a tool; its words only when it fails."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        raise SystemExit(f"{command[0]} failed:\n{(done.stdout + done.stderr)[-3000:]}")


def others(at: Engines, url: str, width: int, read: Read, requests: int) -> list[Tool]:
    """The other tools, one after the other."""
    found = []
    for name, tool in (("vllm bench serve", vllm_bench), ("guidellm", guidellm)):
        with tempfile.TemporaryDirectory() as folder:
            before = read(page(url)).generation_tokens_total or 0.0
            tokens, tok_s, ttft = tool(at, url, width, requests, Path(folder))
            counted = (read(page(url)).generation_tokens_total or 0.0) - before
            found.append(Tool(name, tokens, tok_s, ttft, counted))
    return found


def report(name: str, at: Engines, url: str, read: Read, seconds: float) -> bool:
    """Measure one server and print; whether we agree with its counters."""
    result, slopes = ours(url, seconds, read)
    load = os.getloadavg()[0]
    print(f"\n{name}: prompts of {PROMPT}, answers of {OUTPUT} tokens; load average {load:.1f}")
    print(f"  {'':24}{'tok/s':>9}{'TTFT ms':>9}{'tokens':>9}{'server':>9}{'tokens off':>12}{'tok/s off':>11}")
    agreed = True
    for level in result["levels"]:
        width = level["concurrency"]
        before, after = read(level["metrics_before"]), read(level["metrics_after"])
        counted = (after.generation_tokens_total or 0.0) - (before.generation_tokens_total or 0.0)
        rate = counted / level["whole_s"]
        tokens_off, rate_off = pct(level["tokens"], counted), pct(level["aggregate_tok_s"], rate)
        agreed = agreed and abs(tokens_off) <= LIMIT_PCT and abs(rate_off) <= LIMIT_PCT
        row(
            f"relaunch, {width} at once",
            level["aggregate_tok_s"],
            level["ttft_ms"]["p50"],
            level["tokens"],
            counted,
            rate_off,
        )
        if level["dropped"]:
            print(f"    {level['dropped']} answers of a cold start are in the counter and not in our aggregate")
        if (slope := slopes.get(width)) is not None:
            print(f"    its counter grew at {slope[0]:.0f} to {slope[1]:.0f} tok/s, by our poller's clock")
        for tool in others(at, url, width, read, max(8, min(60, level["requests"]))):
            row(f"{tool.name}, {width}", tool.tok_s, tool.ttft_ms, tool.tokens, tool.counted, None)
    spec = speculation(result, read)
    if spec:
        positions = " ".join(f"{p:.2f}" for p in spec.per_position)
        print(f"  accept length {spec.accept_length:.2f} from {spec.source}, {spec.drafts:.0f} drafts, at {positions}")
    return agreed


def row(name: str, tok_s: float, ttft: float | None, tokens: float, counted: float, rate_off: float | None) -> None:
    """One line of the table."""
    wait = f"{ttft:>9.1f}" if ttft is not None else f"{'':>9}"
    off = f"{rate_off:>+10.2f}%" if rate_off is not None else ""
    print(
        f"  {name:24}{tok_s:>9.1f}{wait}{tokens:>9.0f}{counted:>9.0f}{pct(tokens, counted):>+11.2f}%{off}", flush=True
    )


def pct(value: float, reference: float) -> float:
    """Difference in per cent."""
    return 100 * (value / reference - 1) if reference else float("inf")


def main() -> int:
    """Run everything; 1 when we disagree with a server's counter."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10.0, help="measuring time for each concurrency")
    seconds = parser.parse_args().seconds
    at = engines()
    if at.missing():
        print(f"not installed: {', '.join(at.missing())}; {INSTALL}", file=sys.stderr)
        return 2
    agreed = True
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        port = free_port()
        with running(at.vllm_argv(port), port, log, VLLM_ENV) as url:
            agreed &= report("vLLM 0.32 (CPU)", at, url, VLLM.parse_metrics, seconds)
        for name, draft in (("llama-server b11434", False), ("llama-server b11434 with a draft model", True)):
            port = free_port()
            with running(at.llama_argv(port, draft=draft), port, log) as url:
                agreed &= report(name, at, url, LLAMA.parse_metrics, seconds)
    verdict = "within" if agreed else "NOT within"
    print(f"\nour aggregates are {verdict} {LIMIT_PCT:g} % of the servers' own token counters")
    return 0 if agreed else 1


if __name__ == "__main__":
    sys.exit(main())
