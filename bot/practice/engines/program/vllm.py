"""A practice vLLM 0.32: start-up log, failures, HTTP and stop in the shape of a real one."""

# ruff: noqa: B905, E501, UP031 - words of the engines are kept as they print them

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import Any

from . import console, host
from . import vllm_failures as failures
from .flags import Value, VllmParser, WrongUse
from .generation import Generator
from .http import WORDS, Answer, Api, Server, as_json
from .processes import Children, on_term
from .speed import Speed, speed_of
from .vllm_metrics import page

VERSION = "0.32.0"
_UNITS = {"k": 1000, "K": 1024, "m": 10**6, "M": 2**20, "g": 10**9, "G": 2**30}


def length(text: str) -> int:
    """`--max-model-len`: 16k is 16000, 16K is 16384."""
    unit = _UNITS.get(text[-1:])
    return int(float(text[:-1]) * unit) if unit else int(text)


class Launch:
    """One launch, with its flags read."""

    def __init__(self, flags: dict[str, Value], model: str, environ: dict[str, str]) -> None:
        self.flags = flags
        self.environ = environ
        self.settings = host.settings(environ)
        self.path = model
        self.tp = int(self.text("tensor-parallel-size", "1"))
        self.port = int(self.text("port", "8000"))
        self.host = self.text("host", "0.0.0.0")
        self.fraction = float(self.text("gpu-memory-utilization", "0.92"))
        self.eager = bool(flags.get("enforce-eager"))
        self.speculation: dict[str, Any] = json.loads(self.text("speculative-config") or "{}")

    def text(self, name: str, default: str = "") -> str:
        value = self.flags.get(name, default)
        return value[0] if isinstance(value, list) else value if isinstance(value, str) else default

    @property
    def drafts(self) -> int:
        """Tokens drafted per step."""
        return int(self.speculation.get("num_speculative_tokens") or 0) if self.speculation else 0

    def speed(self, model: host.Model) -> Speed:
        """How fast this launch will be."""
        ngram = str(self.speculation.get("method", "")) == "ngram"
        return speed_of(model.tok_s, min(self.drafts, 6), not self.eager, self.settings.speed, 1.3 if ngram else 0.0)


class VllmApi(Api):
    """vLLM's own paths beside OpenAI's."""

    owner = "vllm"

    def get(self, path: str) -> Answer | None:
        if path == "/metrics":
            return 200, "text/plain; version=0.0.4; charset=utf-8", page(self.generator, self.served).encode()
        if path == "/version":
            return as_json({"version": VERSION})
        if path == "/ping":
            return 200, "text/plain", b""
        if path == "/load":
            return as_json({"server_load": self.generator.counters.running})
        return super().get(path)


def main(arguments: list[str], environ: dict[str, str]) -> int:
    """Run a launch to its end; gives the exit status."""
    began = time.monotonic()
    settings = host.settings(environ)
    if settings.missing_library:
        return failures.missing_library(settings.missing_library)
    parser = VllmParser()
    if arguments[:1] == ["--version"]:
        print(VERSION)
        return 0
    if any(a in ("-h", "--help") or a.startswith("--help=") for a in arguments):
        print(parser.help())
        return 0
    try:
        launch = _read(parser, arguments, environ)
    except WrongUse as wrong:
        console.write(wrong.text)
        return wrong.status
    return _Run(launch, began).run()


def _read(parser: VllmParser, arguments: list[str], environ: dict[str, str]) -> Launch:
    flags, stray = parser.read(arguments)
    model = stray[0] if stray else flags.get("model", "Qwen/Qwen3-0.6B")
    if stray[1:]:
        parser.fail("unrecognized arguments: " + " ".join(stray[1:]), short=True)
    config = flags.get("speculative-config")
    if isinstance(config, str) and not _is_object(config):
        parser.fail(f"argument --speculative-config/-sc: Value {config} cannot be converted to <function loads>.")
    return Launch(flags, str(model), environ)


class _Run:
    """The life of one server."""

    def __init__(self, launch: Launch, began: float) -> None:
        self.launch = launch
        self.began = began
        self.out = console.Vllm()
        self.children = Children()
        self.ended = threading.Event()
        self.me = os.getpid()

    def at(self, share: float) -> None:
        """Wait until this share of the start-up time has passed, or the end."""
        left = self.began + self.launch.settings.start_s * share - time.monotonic()
        if left > 0:
            self.ended.wait(left)
        if self.ended.is_set():
            self.children.kill()
            raise SystemExit(0)

    def api_line(self, where: str, text: str, level: str = "INFO") -> None:
        self.out.line("APIServer", self.me, where, text, level)

    def run(self) -> int:
        """Start, serve, stop."""
        launch = self.launch
        on_term(lambda _number: self.ended.set())
        self.banner()
        try:
            server = Server(
                launch.host, launch.port, VllmApi(Generator(speed_of(1, 0, True, 1), 1), "", "", 0), listen=False
            )
        except OSError as error:
            return failures.port_taken(error)
        model = host.read_model(launch.path)
        if model is None:
            return failures.no_model(launch.path)
        context = length(launch.text("max-model-len") or str(model.context))
        if context > model.context and launch.environ.get("VLLM_ALLOW_LONG_MAX_MODEL_LEN") != "1":
            return failures.context_too_long(context, model.context)
        self.at(0.1)
        self.api_line("model.py:733", f"Resolved architecture: {model.architecture}")
        self.api_line("model.py:2152", "Using max model len %d" % context)
        if launch.speculation and not self.speculation_fits(model):
            return 1
        if launch.eager:
            self.api_line(
                "vllm.py:1703",
                "Enforce eager set, disabling torch.compile, CUDAGraphs, and JIT kernel warmup.",
                "WARNING",
            )
        return self.load(server, model, context)

    def banner(self) -> None:
        """The logo and the arguments that are not at their defaults."""
        launch = self.launch
        rows = ["", "       █     █     █▄   ▄█", " ▄▄ ▄█ █     █     █ ▀▄▀ █  version " + VERSION]
        rows += ["  █▄█▀ █     █     █     █  model   " + launch.path, "   ▀▀  ▀▀▀▀▀ ▀▀▀▀▀ ▀     ▀", ""]
        for row in rows:
            self.api_line("api_utils.py:347", row)
        given: dict[str, Any] = {"model_tag": launch.path, "model": launch.path}
        for name, value in launch.flags.items():
            given[name.replace("-", "_")] = _shown(name, value)
        if launch.speculation:
            given["speculative_config"] = launch.speculation
        self.api_line("api_utils.py:286", f"non-default args: {given!r}")

    def speculation_fits(self, model: host.Model) -> bool:
        """Refuse a speculative config that the model cannot do, in vLLM's words."""
        method = str(self.launch.speculation.get("method", ""))
        if not self.launch.drafts and method != "draft_model":
            failures.validation(
                "SpeculativeConfig",
                "Value error, num_speculative_tokens must be provided with speculative model unless the draft model config contains an n_predict parameter.",
            )
            return False
        if method.endswith("mtp") and not model.mtp_layers:
            failures.validation(
                "SpeculativeConfig",
                f"Value error, Speculative tokens were requested with method 'mtp', but {model.architecture} has no MTP layer (n_predict is None).",
            )
            return False
        return True

    def load(self, server: Server, model: host.Model, context: int) -> int:
        """Engine core and workers, weights, compile, KV cache, graphs."""
        launch, out = self.launch, self.out
        cards = host.visible(host.gpus(launch.settings.gpu_dir), launch.environ, launch.tp)
        core = self.children.start("VLLM::EngineCore")
        workers = [core] if launch.tp == 1 else [self.children.start("VLLM::Worker_TP%d" % r) for r in range(launch.tp)]
        names = ["VLLM::EngineCore"] if launch.tp == 1 else ["VLLM::Worker_TP%d" % r for r in range(launch.tp)]
        who = ("EngineCore", core) if launch.tp == 1 else ("Worker_TP0", workers[0])
        self.at(0.16)
        out.line(
            "EngineCore",
            core,
            "core.py:133",
            "Initializing a V1 LLM engine (v%s) with config: model='%s', speculative_config=%r, tokenizer='%s', tensor_parallel_size=%d"
            % (VERSION, launch.path, launch.speculation or None, launch.path, launch.tp),
        )
        if len(cards) < launch.tp:
            return self.crash(who, core, "RuntimeError: CUDA error: invalid device ordinal")
        for card in cards:
            free, total = card.free / 1024.0, card.total / 1024.0
            if free < launch.fraction * total:
                return self.crash(who, core, failures.memory_held(card.number, free, total, launch.fraction))
        out.line(
            *who,
            "parallel_state.py:1906",
            "world_size=%d rank=0 local_rank=0 distributed_init_method=tcp://127.0.0.1:51234 backend=nccl" % launch.tp,
        )
        out.line(
            *who,
            "parallel_state.py:2350",
            "rank 0 in world size %d is assigned as DP rank 0, PP rank 0, PCP rank 0, TP rank 0, EP rank N/A, EPLB rank N/A"
            % launch.tp,
        )
        self.at(0.2)
        out.line(*who, "gpu_model_runner.py:4102", f"Starting to load model {launch.path}...")
        gone = host.missing_shards(model)
        if gone:
            return self.crash(who, core, f'FileNotFoundError: No such file or directory: "{launch.path}/{gone[0]}"')
        weights = model.weights_mib / 1024.0 / launch.tp
        budget = launch.fraction * cards[0].total / 1024.0
        if weights > budget:
            return self.crash(who, core, failures.oom(cards[0].number, cards[0].total / 1024.0))
        self.shards(model.shards, who, 0.22, 0.5)
        took = launch.settings.start_s * 0.28
        self.hold(workers, names, cards, weights)
        out.line(*who, "default_loader.py:501", f"Loading weights took {took:.2f} seconds")
        if launch.speculation.get("method") not in (None, "ngram"):
            out.line(*who, "gpu_model_runner.py:4150", "Loading drafter model...")
            self.shards(model.shards, who, 0.5, 0.54)
        out.line(
            *who, "gpu_model_runner.py:4188", f"Model loading took {weights:.2f} GiB memory and {took:.6f} seconds"
        )
        return self.fill(server, model, context, who, core, (workers, names, cards), budget - weights - 1.5)

    def fill(
        self,
        server: Server,
        model: host.Model,
        context: int,
        who: tuple[str, int],
        core: int,
        holders: tuple[list[int], list[str], list[host.Gpu]],
        pool: float,
    ) -> int:
        """KV cache and graphs, then serve."""
        launch, out = self.launch, self.out
        if not launch.eager:
            self.at(0.62)
            out.line(*who, "monitor.py:34", "torch.compile takes %.2f s in total" % (launch.settings.start_s * 0.1))
        tokens = int(max(0.0, pool) * 1024 * 1024 / 64)
        out.line(*who, "gpu_worker.py:392", f"Available KV cache memory: {pool:.2f} GiB")
        if pool <= 0:
            return self.crash(
                who,
                core,
                "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.",
            )
        if tokens < context:
            return self.crash(who, core, failures.cache_too_small(context, pool, tokens))
        out.line("EngineCore", core, "kv_cache_utils.py:2322", f"GPU KV cache size: {tokens:,} tokens")
        out.line(
            "EngineCore",
            core,
            "kv_cache_utils.py:2327",
            f"Maximum concurrency for {context:,} tokens per request: {tokens / context:.2f}x",
        )
        self.hold(*holders, model.weights_mib / 1024.0 / launch.tp + pool + 1.0)
        if not launch.eager:
            if launch.fraction > 0.96:
                return self.crash(who, core, failures.oom(holders[2][0].number, holders[2][0].total / 1024.0))
            self.capture(who)
        self.at(0.94)
        out.line(
            "EngineCore",
            core,
            "core.py:402",
            "init engine (profile, create kv cache, warmup model) took %.2f s" % (launch.settings.start_s * 0.4),
        )
        return self.serve(server, model, context)

    def shards(self, count: int, who: tuple[str, int], start: float, end: float) -> None:
        """A progress bar over the shards."""
        bar = console.Bar(count, "Loading safetensors checkpoint shards", completed=True)
        for done in range(1, count + 1):
            self.at(start + (end - start) * done / count)
            bar.show(done)
        console.write("\n")
        self.out.line(*who, "weight_utils.py:1108", "Filesystem type for checkpoints: EXT4.")

    def capture(self, who: tuple[str, int]) -> None:
        """Capture graphs."""
        bar = console.Bar(35, "Capturing CUDA graphs (mixed prefill-decode, PIECEWISE)")
        for done in range(1, 36):
            self.at(0.68 + 0.2 * done / 35)
            bar.show(done)
        bar.close()
        self.out.line(
            *who,
            "gpu_model_runner.py:5120",
            "Graph capturing finished in %.0f secs, took 0.55 GiB" % (self.launch.settings.start_s * 0.2),
        )

    def hold(self, pids: list[int], names: list[str], cards: list[host.Gpu], each_gb: float) -> None:
        """Hold so much memory on each card."""
        for pid, name, card in zip(pids, names, cards):
            host.hold(self.launch.settings.gpu_dir, pid, name, {card.number: int(each_gb * 1024)})

    def serve(self, server: Server, model: host.Model, context: int) -> int:
        """Answer until told to stop."""
        launch = self.launch
        slots = int(launch.text("max-num-seqs", "256"))
        served = launch.text("served-model-name") or launch.path
        api = VllmApi(Generator(launch.speed(model), slots), served, launch.path, context)
        server.serve(api)
        api.on_request = lambda client, what, status: console.write(
            'INFO:     %s - "%s" %d %s\n' % (client, what, status, WORDS.get(status, ""))
        )
        self.api_line("entry.py:136", "Supported tasks: ['generate']")
        self.api_line("entry.py:140", "Starting vLLM server on http://%s:%d" % (launch.host, launch.port))
        self.api_line("launcher.py:186", "Available routes are:")
        for route, verbs in (
            ("/health", "GET"),
            ("/metrics", "GET"),
            ("/v1/models", "GET"),
            ("/v1/chat/completions", "POST"),
        ):
            self.api_line("launcher.py:195", f"Route: {route}, Methods: {verbs}")
        self.at(1.0)
        server.begin()
        api.ready.set()
        console.write("INFO:     Started server process [%d]\n" % self.me)
        console.write("INFO:     Waiting for application startup.\nINFO:     Application startup complete.\n")
        self.report(api)
        api.generator.stopping.set()
        self.api_line("launcher.py:215", "Shutting down FastAPI HTTP server.")
        server.shutdown()
        server.server_close()
        time.sleep(0.4)
        self.children.kill()
        console.write("INFO:     Shutting down\nINFO:     Waiting for application shutdown.\n")
        console.write("INFO:     Application shutdown complete.\nINFO:     Finished server process [%d]\n" % self.me)
        return 0

    def report(self, api: VllmApi) -> None:
        """Every 10 s a line while there is work, and one more after it."""
        counters = api.generator.counters
        last, quiet = (0, 0), True
        while not self.ended.wait(10.0):
            now = (counters.prompt_tokens, counters.generated_tokens)
            if now == last and quiet:
                continue
            quiet = now == last
            text = "Engine 000: Avg prompt throughput: %.1f tokens/s, Avg generation throughput: %.1f tokens/s, Running: %d reqs, Waiting: %d reqs, GPU KV cache usage: %.1f%%, Prefix cache hit rate: 0.0%%"
            self.api_line(
                "loggers.py:335",
                text
                % (
                    (now[0] - last[0]) / 10.0,
                    (now[1] - last[1]) / 10.0,
                    counters.running,
                    counters.waiting,
                    0.4 if counters.running else 0.0,
                ),
            )
            if self.launch.drafts and counters.drafts:
                rates = ", ".join(
                    "%.3f" % (counters.accepted_at[p] / counters.drafts) for p in range(self.launch.drafts)
                )
                self.api_line(
                    "metrics.py:100",
                    "SpecDecoding metrics: Mean acceptance length: %.2f, Accepted throughput: 0.00 tokens/s, Drafted throughput: 0.00 tokens/s, Accepted: %d tokens, Drafted: %d tokens, Per-position acceptance rate: %s, Avg Draft acceptance rate: %.1f%%"
                    % (
                        1 + counters.accepted / counters.drafts,
                        counters.accepted,
                        counters.draft_tokens,
                        rates,
                        100.0 * counters.accepted / max(1, counters.draft_tokens),
                    ),
                )
            last = now

    def crash(self, who: tuple[str, int], core: int, error: str) -> int:
        """A worker died: its traceback, then the engine's, then the launcher's."""
        failures.worker(self.out, who, core, error)
        self.children.kill()
        sys.stderr.flush()
        return 1


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _shown(name: str, value: Value) -> Any:
    if isinstance(value, str):
        if name in ("port", "tensor-parallel-size", "max-num-seqs"):
            return int(value)
        if name == "max-model-len":
            return length(value)
        if name == "gpu-memory-utilization":
            return float(value)
        if name == "served-model-name":
            return [value]
    return value
