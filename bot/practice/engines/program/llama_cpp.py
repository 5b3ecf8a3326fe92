"""A practice llama-server, build 11434: start-up log, failures, HTTP and stop as measured on a real one."""

# ruff: noqa: E501, UP031 - words of the engines are kept as they print them

from __future__ import annotations

import os
import signal
import threading
import time

from . import console, host
from .flags import LlamaParser, Value, WrongUse
from .generation import Generator, Result
from .http import Answer, Api, Json, Server, as_json
from .processes import on_term
from .speed import Speed, speed_of

BUILD = "b11434-unknown"
_SECURITY = (
    "W srv  llama_server: security: no API key is set and CORS allows all origins "
    "(see https://github.com/ggml-org/llama.cpp/pull/25655)"
)


class Launch:
    """One launch, with its flags read."""

    def __init__(self, flags: dict[str, Value], environ: dict[str, str]) -> None:
        self.flags = flags
        self.environ = environ
        self.settings = host.settings(environ)
        self.path = self.text("model")
        self.host = self.text("host", "127.0.0.1")
        self.port = int(self.text("port", "8080"))
        self.slots = int(self.text("parallel", "4"))
        if self.slots < 1:
            self.slots = 4
        self.drafts = int(self.text("spec-draft-n-max", "3")) if self.text("spec-type") not in ("", "none") else 0

    def text(self, name: str, default: str = "") -> str:
        value = self.flags.get(name, default)
        return value if isinstance(value, str) else default

    def context(self) -> int:
        """Tokens of one slot."""
        total = int(self.text("ctx-size", "0")) or 32768
        return total // self.slots if "parallel" in self.flags and not self.flags.get("kv-unified") else total

    def speed(self, model: host.Model) -> Speed:
        """How fast this launch will be: layers left on the CPU slow it down."""
        on_gpu = self.text("n-gpu-layers", self.text("gpu-layers", "99")) not in ("0",)
        return speed_of(model.tok_s * (1.0 if on_gpu else 0.12), self.drafts, True, self.settings.speed)


class LlamaApi(Api):
    """llama.cpp's own paths beside OpenAI's."""

    owner = "llamacpp"

    def __init__(self, launch: Launch, generator: Generator) -> None:
        super().__init__(generator, launch.text("alias") or launch.path, launch.path, launch.context())
        self.launch = launch

    def first_delta(self) -> Json:
        return {"role": "assistant", "content": None}

    def get(self, path: str) -> Answer | None:
        if not self.ready.is_set():
            return self.loading()
        if path in ("/health", "/v1/health"):
            return as_json({"status": "ok"})
        if path == "/props":
            return as_json(
                {
                    "default_generation_settings": {"n_ctx": self.context},
                    "total_slots": self.launch.slots,
                    "model_alias": self.served,
                    "model_path": self.root,
                    "build_info": BUILD,
                    "is_sleeping": False,
                }
            )
        if path == "/slots":
            return as_json([self.slot(number) for number in range(self.launch.slots)])
        if path == "/metrics":
            if not self.launch.flags.get("metrics"):
                message = "This server does not support metrics endpoint. Start it with `--metrics`"
                return as_json({"error": {"code": 501, "message": message, "type": "not_supported_error"}}, 501)
            return 200, "text/plain; version=0.0.4", self.metrics().encode()
        return super().get(path)

    def loading(self) -> Answer:
        """The answer to everything before the model is loaded."""
        return as_json({"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}}, 503)

    def refuse(self, path: str, body: Json) -> Answer | None:
        # any model name is taken: there is only the one
        return super().refuse(path, dict(body, model=None)) if self.ready.is_set() else self.loading()

    def slot(self, number: int) -> Json:
        """One slot."""
        busy = number < self.generator.counters.running
        return {"id": number, "n_ctx": self.context, "speculative": self.launch.drafts > 0, "is_processing": busy}

    def models(self) -> Json:
        model = {
            "id": self.served,
            "aliases": [self.served],
            "tags": [],
            "object": "model",
            "created": self.created,
            "owned_by": self.owner,
            "meta": {"n_ctx": self.context, "n_ctx_train": 32768},
        }
        return {"models": [{"name": self.served, "model": self.served}], "object": "list", "data": [model]}

    def metrics(self) -> str:
        """Counters; generated tokens are counted when a request ends."""
        counters = self.generator.counters
        rows = [
            ("prompt_tokens_total", "counter", counters.prompt_tokens - counters.cached_tokens),
            ("prompt_seconds_total", "counter", round(counters.prompt_seconds, 6)),
            ("tokens_predicted_total", "counter", counters.finished_tokens),
            ("tokens_predicted_seconds_total", "counter", round(counters.finished_seconds, 6)),
            ("spec_decode_num_draft_tokens_total", "counter", counters.draft_tokens),
            ("spec_decode_num_accepted_tokens_total", "counter", counters.accepted),
            ("spec_decode_num_drafts_total", "counter", counters.drafts),
            (
                "predicted_tokens_seconds",
                "gauge",
                round(counters.finished_tokens / max(1e-6, counters.finished_seconds), 3),
            ),
            ("requests_processing", "gauge", counters.running),
            ("requests_deferred", "gauge", counters.waiting),
        ]
        lines: list[str] = []
        for name, kind, value in rows:
            lines += [
                f"# HELP llamacpp:{name} {name}",
                f"# TYPE llamacpp:{name} {kind}",
                f"llamacpp:{name} {value}",
            ]
        return "\n".join(lines) + "\n"

    def extra(self, result: Result, prompt: int, cached: int) -> Json:
        decode_ms = max(0.001, (result.total_s - result.first_s) * 1000)
        timings: Json = {
            "cache_n": cached,
            "prompt_n": prompt - cached,
            "prompt_ms": result.first_s * 1000,
            "prompt_per_second": (prompt - cached) / max(1e-6, result.first_s),
            "predicted_n": result.tokens,
            "predicted_ms": decode_ms,
            "predicted_per_second": (result.tokens - 1) / decode_ms * 1000,
        }
        if self.launch.drafts:
            timings.update(draft_n=result.steps * self.launch.drafts, draft_n_accepted=result.accepted)
        return {"timings": timings, "system_fingerprint": BUILD}


def main(arguments: list[str], environ: dict[str, str]) -> int:
    """Run a launch to its end; gives the exit status."""
    settings = host.settings(environ)
    if settings.missing_library:
        console.write(
            f"llama-server: error while loading shared libraries: {settings.missing_library}: cannot open shared object file: No such file or directory\n"
        )
        return 127
    if "--version" in arguments:
        console.write("version: 0.6.0-dev (build 11434, commit unknown)\nbuilt with GNU 12.2.0 for Linux x86_64\n")
        return 0
    parser = LlamaParser()
    if "-h" in arguments or "--help" in arguments:
        print(parser.help())
        return 0
    try:
        flags, _ = parser.read(arguments)
    except WrongUse as wrong:
        console.write(wrong.text)
        return wrong.status
    return _run(Launch(flags, environ))


def _run(launch: Launch) -> int:
    out = console.Llama()
    ended = threading.Event()
    model = host.read_model(launch.path) if launch.path else None
    out.line("I", "srv  llama_server: initializing ...")
    out.line("I", "cmn  common_param: common_params_print_info: verbosity = 3 (adjust with the `-lv N` CLI arg)")
    if "api-key" not in launch.flags:
        out.line(_SECURITY[0], _SECURITY[2:])
    speed = launch.speed(model) if model else speed_of(1, 0, True, 1)
    api = LlamaApi(launch, Generator(speed, launch.slots))
    try:
        server = Server(launch.host, launch.port, api)
    except OSError:
        return _failed(
            out,
            "srv         start: couldn't bind HTTP server socket, hostname: %s, port: %d" % (launch.host, launch.port),
            "HTTP server",
        )
    server.begin()
    out.line("I", f"srv    load_model: loading model '{launch.path}'")
    if model is None:
        out.line("E", f"gguf_init_from_file: failed to open GGUF file '{launch.path}' (No such file or directory)")
        return _failed(out, f"srv    load_model: failed to load model, '{launch.path}'", "model loading")
    pid = os.getpid()
    out.line("I", "cmn          init: llama threadpool init, n_threads = 8")
    if launch.drafts:
        out.line(
            "I",
            f"common_speculative_init_result: creating MTP draft context against the target model '{launch.path}'",
        )
    cards = host.visible(host.gpus(launch.settings.gpu_dir), launch.environ, 1)
    time.sleep(launch.settings.start_s * 0.6)
    if cards:
        host.hold(launch.settings.gpu_dir, pid, "llama-server", {cards[0].number: model.weights_mib + 1400})
    out.line(
        "I",
        "srv    load_model: initializing, n_slots = %d, n_ctx_slot = %d, kv_unified = 'false'"
        % (launch.slots, launch.context()),
    )
    time.sleep(launch.settings.start_s * 0.2)
    # no handler before this point: a signal while loading just kills
    on_term(lambda _number: ended.set())
    api.ready.set()
    out.line("I", "srv  llama_server: model loaded")
    out.line("I", "srv  llama_server: listening on http://%s:%d" % (launch.host, launch.port))
    ended.wait()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    api.generator.stopping.set()
    out.line("I", "srv    operator(): operator(): cleaning up before exit...")
    server.shutdown()
    return 0


def _failed(out: console.Llama, cause: str, what: str) -> int:
    out.line("E", cause)
    out.line("I", "srv    operator(): operator(): cleaning up before exit...")
    out.line("E", f"srv  llama_server: exiting due to {what} error")
    return 1
