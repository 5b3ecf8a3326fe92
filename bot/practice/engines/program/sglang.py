"""A practice SGLang 0.5.11: start-up log, failures, HTTP and stop as measured on a real one."""

# ruff: noqa: B905, E501, UP031 - words of the engines are kept as they print them

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Any

from . import console, host
from . import sglang_failures as failures
from .flags import SglangParser, Value, WrongUse
from .generation import Generator, Result
from .http import WORDS, Answer, Api, Json, Server, as_json, prompt_of, prompt_tokens
from .processes import Children, on_term
from .sglang_metrics import page
from .speed import Speed, speed_of

VERSION = "0.5.11"
_GRAPH_SIZES = [1, 2, 4, 8, 12, 16, 24, 32]
_EAGLE = ("EAGLE", "EAGLE3", "NEXTN", "STANDALONE")


class Launch:
    """One launch, with its flags read and completed as SGLang completes them."""

    def __init__(self, flags: dict[str, Value], environ: dict[str, str]) -> None:
        self.flags = flags
        self.settings = host.settings(environ)
        self.environ = environ
        self.path = self.text("model-path")
        self.tp = int(self.text("tp-size", "1"))
        self.port = int(self.text("port", "30000"))
        self.host = self.text("host", "127.0.0.1")
        self.fraction = float(self.text("mem-fraction-static", "0.88"))
        self.algorithm = self.text("speculative-algorithm").upper()
        self.steps = self.number("speculative-num-steps")
        self.topk = self.number("speculative-eagle-topk")
        self.drafts = self.number("speculative-num-draft-tokens")
        self.graphs = not flags.get("disable-cuda-graph")

    def text(self, name: str, default: str = "") -> str:
        value = self.flags.get(name, default)
        return value if isinstance(value, str) else default

    def number(self, name: str) -> int | None:
        value = self.flags.get(name)
        return int(value) if isinstance(value, str) else None

    @property
    def draft_count(self) -> int:
        """Tokens drafted per step, the root not counted."""
        if self.algorithm in _EAGLE:
            return self.steps or 0
        return max(0, (self.drafts or 16) - 1) if self.algorithm else 0

    def complete_speculation(self, out: console.Sglang) -> None:
        """Fill in or refuse the speculative flags as server_args.py does."""
        if not self.algorithm:
            return
        if "max-running-requests" not in self.flags:
            out.line(
                "Max running requests is reset to 48 for speculative decoding. You can override this by explicitly "
                "setting --max-running-requests."
            )
        if self.algorithm not in _EAGLE:
            self.steps, self.topk = 1, 1
            return
        out.line("Spec v2 is enabled by default for eagle/eagle3/standalone speculative decoding.")
        if self.steps is None:
            if self.topk is not None or self.drafts is not None:
                failures.topk_without_steps()
            self.steps, self.topk, self.drafts = 3, 1, 4
        if self.topk is None:
            failures.steps_without_topk()
        if self.topk == 1 and self.drafts != self.steps + 1:
            out.line(
                "speculative_num_draft_tokens is adjusted to speculative_num_steps + 1 when speculative_eagle_topk == 1"
            )
            self.drafts = self.steps + 1

    def speed(self, model: host.Model) -> Speed:
        """How fast this launch will be."""
        accept = 2.9 if self.algorithm and self.algorithm not in _EAGLE else 0.0
        drafts = min(self.draft_count, 6)
        return speed_of(model.tok_s, drafts, self.graphs, self.settings.speed, accept)


class SglangApi(Api):
    """SGLang's own paths beside OpenAI's."""

    owner = "sglang"

    def __init__(self, launch: Launch, model: host.Model, generator: Generator, served: str, context: int) -> None:
        super().__init__(generator, served, launch.path, context)
        self.launch = launch
        self.model = model

    def get(self, path: str) -> Answer | None:
        if path in ("/health", "/health_generate", "/ping"):
            return (200, "text/plain", b"") if self.ready.is_set() else (503, "text/plain", b"")
        if path in ("/model_info", "/get_model_info"):
            return as_json(
                {
                    "model_path": self.launch.path,
                    "tokenizer_path": self.launch.path,
                    "is_generation": True,
                    "preferred_sampling_params": None,
                    "weight_version": "default",
                    "model_type": self.model.model_type,
                    "architectures": [self.model.architecture],
                }
            )
        if path in ("/server_info", "/get_server_info"):
            return as_json(self.server_info())
        if path == "/metrics" and self.launch.flags.get("enable-metrics"):
            return 200, "text/plain; version=0.0.4; charset=utf-8", page(self.generator, self.served).encode()
        return super().get(path)

    def server_info(self) -> Json:
        """Arguments, and the cumulative accept length."""
        launch = self.launch
        arguments: Json = {k.replace("-", "_"): v for k, v in launch.flags.items()}
        arguments.update(
            model_path=launch.path,
            served_model_name=self.served,
            host=launch.host,
            port=launch.port,
            tp_size=launch.tp,
            mem_fraction_static=launch.fraction,
            context_length=self.context,
            speculative_algorithm=launch.algorithm.replace("NEXTN", "EAGLE") or None,
            speculative_num_steps=launch.steps,
            speculative_eagle_topk=launch.topk,
            speculative_num_draft_tokens=launch.drafts,
        )
        counters = self.generator.counters
        accept = 1 + counters.accepted / counters.drafts if counters.drafts else None
        state: Json = {"last_gen_throughput": counters.logged["throughput"], "avg_spec_accept_length": accept}
        return dict(arguments, status="ready", internal_states=[state], version=VERSION)

    def own_post(self, path: str, body: Json) -> Answer | None:
        if path == "/flush_cache":
            return 200, "text/plain", b"Cache flushed.\n"
        if path != "/generate":
            return None
        if not self.ready.is_set():
            return 503, "text/plain", b""
        return as_json(self.generate(body))

    def generate(self, body: Json) -> Json:
        """SGLang's native request, with run-scoped speculation figures in `meta_info`."""
        parameters: Json = body.get("sampling_params") or {}
        wanted = int(parameters.get("max_new_tokens", 128))
        prompt = prompt_tokens(body)
        cached = self.generator.cached(prompt_of(body), prompt)
        results: list[Result] = []
        text = "".join(c.text for c in self.generator.stream(prompt, cached, wanted, results.append))
        done = results[0]
        meta: Json = {
            "id": f"{self.numbers:032x}",
            "finish_reason": {"type": "length", "length": done.tokens},
            "prompt_tokens": prompt,
            "completion_tokens": done.tokens,
            "cached_tokens": cached,
            "e2e_latency": done.total_s,
        }
        if self.launch.algorithm:
            meta.update(
                spec_accept_length=done.tokens / max(1, done.steps),
                spec_verify_ct=done.steps,
                spec_accepted_drafts=done.accepted,
                spec_proposed_drafts=done.steps * self.launch.draft_count,
            )
        return {"text": text, "output_ids": list(range(done.tokens)), "meta_info": meta}


def main(arguments: list[str], environ: dict[str, str]) -> int:
    """Run a launch to its end; gives the exit status."""
    began = time.monotonic()
    settings = host.settings(environ)
    if settings.missing_library:
        return failures.missing_library(settings.missing_library)
    parser = SglangParser()
    if "-h" in arguments or "--help" in arguments:
        print(parser.help())
        return 0
    failures.deprecation()
    try:
        flags, stray = parser.read(arguments)
        if stray:
            parser.fail("unrecognized arguments: " + " ".join(stray), short=True)
        if "model-path" not in flags:
            parser.fail("the following arguments are required: --model-path/--model")
    except WrongUse as wrong:
        console.write(wrong.text)
        return wrong.status
    return _Run(Launch(flags, environ), began).run()


class _Run:
    """The life of one server."""

    def __init__(self, launch: Launch, began: float) -> None:
        self.launch = launch
        self.began = began
        self.out = console.Sglang(launch.tp)
        self.children = Children()
        self.ended = threading.Event()

    def at(self, share: float) -> None:
        """Wait until this share of the start-up time has passed."""
        left = self.began + self.launch.settings.start_s * share - time.monotonic()
        if left > 0:
            time.sleep(left)

    def run(self) -> int:
        """Start, serve, stop."""
        launch, out = self.launch, self.out
        launch.complete_speculation(out)
        on_term(self.stop)
        self.at(0.04)
        out.line("Fail to set RLIMIT_NOFILE: current limit exceeds maximum limit")
        out.line(f"server_args=ServerArgs({self.server_args()})")
        model = host.read_model(launch.path)
        if model is None:
            return failures.no_model(launch.path)
        context = launch.number("context-length") or model.context
        if context > model.context:
            failures.context_too_long(context, model.context, launch.environ)
        self.at(0.12)
        out.line("Using default HuggingFace chat template with detected content format: string")
        out.line("Init torch distributed begin.", rank=True)
        self.at(0.16)
        out.line("Init torch distributed ends. elapsed=0.28 s, mem usage=0.09 GB", rank=True)
        out.line(
            "Ignore import error when loading sglang.srt.models.mimo_audio: Can not import FA3 in sgl_kernel. "
            "Please check your installation.",
            rank=True,
        )
        return self.load(model, context)

    def server_args(self) -> str:
        """The arguments as Python's repr shows them."""
        launch = self.launch
        shown: dict[str, Any] = {
            "model_path": launch.path,
            "tokenizer_path": launch.path,
            "host": launch.host,
            "port": launch.port,
            "mem_fraction_static": launch.fraction,
            "tp_size": launch.tp,
            "context_length": launch.number("context-length"),
            "max_running_requests": launch.number("max-running-requests") or (48 if launch.algorithm else None),
            "served_model_name": launch.text("served-model-name") or launch.path,
            "speculative_algorithm": launch.algorithm.replace("NEXTN", "EAGLE") or None,
            "speculative_num_steps": launch.steps,
            "speculative_eagle_topk": launch.topk,
            "speculative_num_draft_tokens": launch.drafts,
            "disable_cuda_graph": not launch.graphs,
            "enable_metrics": bool(launch.flags.get("enable-metrics")),
        }
        for name, value in sorted(launch.flags.items()):
            shown.setdefault(name.replace("-", "_"), value)
        return ", ".join("{}={!r}".format(*pair) for pair in shown.items())

    def load(self, model: host.Model, context: int) -> int:
        """Weights, KV pool, graphs; again for the draft; then serve."""
        launch, out = self.launch, self.out
        cards = host.visible(host.gpus(launch.settings.gpu_dir), launch.environ, launch.tp)
        if len(cards) < launch.tp:
            return self.crash(failures.too_few_gpus(len(cards)))
        free = min(c.free for c in cards) / 1024.0
        if min(c.free for c in cards) < 0.9 * max(c.free for c in cards):
            return self.crash(failures.unbalanced(free, max(c.free for c in cards) / 1024.0))
        names = ["sglang::scheduler" if launch.tp == 1 else "sglang::scheduler_TP%d" % r for r in range(launch.tp)]
        self.pids = [self.children.start(n) for n in names]
        self.names = names
        self.children.start("sglang::detokenizer")
        self.cards = cards
        self.at(0.18)
        out.line(f"Load weight begin. avail mem={free:.2f} GB", rank=True)
        gone = host.missing_shards(model)
        if gone:
            return self.crash(failures.missing_shard(launch.path, gone[0]))
        weights = model.weights_mib / 1024.0 / launch.tp
        if weights > free:
            return self.crash(failures.oom_weights(cards[0], weights))
        self.shards(model.shards, 0.20, 0.48)
        self.hold(weights + 0.8)
        out.line(
            f"Load weight end. elapsed={self.launch.settings.start_s * 0.28:.2f} s, type={model.architecture}, avail mem={free - weights:.2f} GB, mem usage={weights:.2f} GB.",
            rank=True,
        )
        pool = free * launch.fraction - weights
        if pool < 0.5:
            return self.crash(failures.no_room_for_pool(launch.fraction))
        return self.pools(model, context, free, weights, pool)

    def shards(self, count: int, start: float, end: float) -> None:
        """A progress bar over the shards between two shares of the start-up time."""
        bar = console.Bar(count, "Multi-thread loading shards", completed=True)
        for done in range(1, count + 1):
            self.at(start + (end - start) * done / count)
            bar.show(done)
        bar.close()

    def hold(self, each_gb: float) -> None:
        """Hold so much memory on each card."""
        for pid, name, card in zip(self.pids, self.names, self.cards):
            host.hold(self.launch.settings.gpu_dir, pid, name, {card.number: int(each_gb * 1024)})

    def pools(self, model: host.Model, context: int, free: float, weights: float, pool: float) -> int:
        """KV pool and graphs."""
        launch, out = self.launch, self.out
        tokens = int(pool * 1024 * 1024 / 64)
        self.tokens = tokens
        self.at(0.52)
        out.line("Using KV cache dtype: torch.bfloat16", rank=True)
        out.line(
            "KV Cache is allocated. #tokens: %d, K size: %.2f GB, V size: %.2f GB" % (tokens, pool / 2, pool / 2),
            rank=True,
        )
        left = free - weights - pool
        self.hold(weights + pool + 1.2)
        out.line(f"Memory pool end. avail mem={left:.2f} GB", rank=True)
        if launch.graphs:
            if launch.fraction > 0.95:
                return self.crash(failures.oom_graphs(self.cards[0]))
            self.capture("cuda graph", 0.54, 0.72, left)
        if launch.algorithm:
            self.draft(model, left)
        self.at(0.90)
        running = launch.number("max-running-requests") or (48 if launch.algorithm else 256)
        out.line(
            "max_total_num_tokens=%d, chunked_prefill_size=8192, max_prefill_tokens=16384, max_running_requests=%d, "
            "context_len=%d, available_gpu_mem=%.2f GB" % (tokens, running, context, max(0.4, left - 0.6)),
            rank=True,
        )
        return self.serve(model, context, running)

    def capture(self, what: str, start: float, end: float, left: float) -> None:
        """Capture graphs, with the bar that the journal sees only when it is done."""
        out, began = self.out, time.monotonic()
        out.line(f"Capture {what} begin. This can take up to several minutes. avail mem={left:.2f} GB", rank=True)
        out.line(f"Capture cuda graph bs {_GRAPH_SIZES}", rank=True)
        bar = console.Bar(len(_GRAPH_SIZES), "Capturing batches")
        for done, size in enumerate(reversed(_GRAPH_SIZES), 1):
            self.at(start + (end - start) * done / len(_GRAPH_SIZES))
            bar.show(done, "Capturing batches (bs=%d avail_mem=%.2f GB)" % (size, left))
        bar.close()
        spent = time.monotonic() - began
        out.line(
            f"Capture {what} end. Time elapsed: {spent:.2f} s. mem usage=0.09 GB. avail mem={left:.2f} GB.",
            rank=True,
        )

    def draft(self, model: host.Model, left: float) -> None:
        """All of it again for the draft."""
        out = self.out
        out.line("Init torch distributed begin.", rank=True)
        out.line("Init torch distributed ends. elapsed=0.00 s, mem usage=0.00 GB", rank=True)
        out.line(f"Load weight begin. avail mem={left:.2f} GB", rank=True)
        self.shards(model.shards, 0.73, 0.76)
        name = model.architecture.replace("ForConditionalGeneration", "").replace("ForCausalLM", "") + "MTP"
        out.line(
            f"Load weight end. elapsed=0.16 s, type={name}, avail mem={left:.2f} GB, mem usage=0.27 GB.", rank=True
        )
        out.line("KV Cache is allocated. #tokens: %d, K size: 0.99 GB, V size: 0.99 GB" % self.tokens, rank=True)
        out.line("Memory pool end. avail mem=%.2f GB" % (left - 0.3), rank=True)
        if self.launch.graphs:
            self.capture("draft cuda graph", 0.77, 0.84, left - 0.4)
            self.capture("draft extend cuda graph", 0.84, 0.88, left - 0.5)

    def serve(self, model: host.Model, context: int, running: int) -> int:
        """Open the port, warm up, be ready, until told to stop."""
        launch, out = self.launch, self.out
        generator = Generator(launch.speed(model), running)
        served = launch.text("served-model-name") or launch.path
        api = SglangApi(launch, model, generator, served, context)
        api.on_request = lambda client, what, status: out.line(
            'INFO:     %s - "%s" %d %s' % (client, what, status, WORDS.get(status, ""))
        )
        generator.on_log = lambda number, tokens, accept, rate: out.line(
            "Decode batch, #running-req: %d, #token: %d, token usage: %.2f, %scuda graph: %s, gen throughput (token/s): "
            "%.2f, #queue-req: %d"
            % (
                number,
                tokens,
                tokens / self.tokens,
                f"accept len: {accept:.2f}, accept rate: {(accept - 1) / max(1, launch.draft_count):.2f}, "
                if launch.algorithm
                else "",
                launch.graphs,
                rate,
                generator.counters.waiting,
            ),
            rank=True,
        )
        out.line("INFO:     Started server process [%d]" % os.getpid())
        out.line("INFO:     Waiting for application startup.")
        out.line("Can not initialize OpenAIServingResponses, error: " + failures.harmless())
        try:
            server = Server(launch.host, launch.port, api)
        except OSError as error:
            return failures.port_taken(launch.host, launch.port, error, self.children)
        out.line("INFO:     Application startup complete.")
        out.line("INFO:     Uvicorn running on http://%s:%d (Press CTRL+C to quit)" % (launch.host, launch.port))
        server.begin()
        self.at(1.0)
        out.line(
            "Prefill batch, #new-seq: 1, #new-token: 11, #cached-token: 0, token usage: 0.00, #running-req: 0, "
            "#queue-req: 0, #pending-token: 0, cuda graph: False, input throughput (token/s): 0.10",
            rank=True,
        )
        api.ready.set()
        out.line('INFO:     127.0.0.1:46914 - "POST /generate HTTP/1.1" 200 OK')
        out.line("The server is fired up and ready to roll!")
        self.ended.wait()
        generator.stopping.set()
        time.sleep(1.2)
        out.line("Gracefully exiting... Remaining number of requests 0. Remaining requests remaining_rids=[].")
        return self.killed()

    def stop(self, _number: int) -> None:
        """SIGTERM: before it serves the process just dies; afterwards it drains."""
        if not hasattr(self, "tokens"):
            self.children.kill()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTERM)
        self.out.line("SIGTERM received. signum=None frame=None. Draining requests and shutting down...")
        self.ended.set()

    def killed(self) -> int:
        """SGLang ends itself with SIGKILL: status 137 after a wanted stop is normal."""
        self.children.kill()
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGKILL)
        return 137

    def crash(self, text: str) -> int:
        """A scheduler died: its traceback, the notice, SIGKILL of the whole."""
        self.out.line("Scheduler hit an exception: " + text, rank=True)
        self.out.line("Received sigquit from a child process. It usually means the child failed.")
        return self.killed()
