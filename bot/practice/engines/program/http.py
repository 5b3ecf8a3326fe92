"""The HTTP side that all engines share: OpenAI's API with streaming and usage, on threads."""

# ruff: noqa: UP031 - words of the engines are kept as they print them

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .generation import Generator, Result, count_tokens

Json = dict[str, Any]
#: (status, content type, body)
Answer = tuple[int, str, bytes]


def as_json(body: Any, status: int = 200) -> Answer:
    """A JSON answer."""
    return status, "application/json", json.dumps(body).encode()


#: the words that log lines show beside a status
WORDS = {200: "OK", 400: "Bad Request", 404: "Not Found", 500: "Internal Server Error", 503: "Service Unavailable"}


class Api:
    """What one engine serves. Engines override what differs."""

    #: first word of the completion ids
    owner = "practice"

    def __init__(self, generator: Generator, served: str, root: str, context: int) -> None:
        self.generator = generator
        self.served = served
        self.root = root
        self.context = context
        self.ready = threading.Event()
        self.created = int(time.time())
        self.numbers = 0
        #: called with (client, "GET /health HTTP/1.1", status)
        self.on_request: Callable[[str, str, int], None] = lambda *_: None

    def get(self, path: str) -> Answer | None:
        """Answer a GET, or None: not found."""
        if path == "/v1/models":
            return as_json(self.models())
        if path == "/health":
            return (200, "text/plain", b"") if self.ready.is_set() else (503, "text/plain", b"")
        return None

    def models(self) -> Json:
        """The answer to /v1/models."""
        model = {
            "id": self.served,
            "object": "model",
            "created": self.created,
            "owned_by": self.owner,
            "root": self.root,
            "parent": None,
            "max_model_len": self.context,
        }
        return {"object": "list", "data": [model]}

    def refuse(self, path: str, body: Json) -> Answer | None:
        """An error answer for a request that is not taken, or None."""
        if not self.ready.is_set():
            return 503, "text/plain", b""
        wanted = body.get("model")
        if wanted and wanted != self.served:
            return self.error(404, f"The model `{wanted}` does not exist.", "NotFoundError")
        if prompt_tokens(body) + 1 > self.context:
            return self.error(400, self.too_long(prompt_tokens(body)), "BadRequestError")
        return None

    def too_long(self, tokens: int) -> str:
        """The engine's words for a prompt that does not fit."""
        return "This model's maximum context length is %d tokens. However, you requested %d tokens." % (
            self.context,
            tokens,
        )

    def error(self, status: int, message: str, kind: str) -> Answer:
        """An OpenAI error body."""
        return as_json({"error": {"message": message, "type": kind, "param": None, "code": status}}, status)

    def own_post(self, path: str, body: Json) -> Answer | None:
        """Answer a POST of the engine's own, or None."""
        return None

    def extra(self, result: Result, prompt: int, cached: int) -> Json:
        """Fields that the engine adds to the last record."""
        return {}

    def first_delta(self) -> Json:
        """The delta of the first chat chunk."""
        return {"role": "assistant", "content": ""}


def prompt_of(body: Json) -> str:
    """All text of a request."""
    if "messages" in body:
        return "\n".join(str(m.get("content", "")) for m in body["messages"])
    prompt = body.get("prompt", body.get("text", ""))
    return " ".join(map(str, prompt)) if isinstance(prompt, list) else str(prompt)


def prompt_tokens(body: Json) -> int:
    """Tokens of a request's prompt."""
    prompt = body.get("prompt")
    if isinstance(prompt, list) and prompt and isinstance(prompt[0], int):
        return len(prompt)
    return count_tokens(prompt_of(body))


def wanted_tokens(body: Json) -> int:
    """How many tokens the answer will have: what was asked for, else a short answer."""
    limit = body.get("max_tokens") or body.get("max_completion_tokens") or body.get("n_predict") or 0
    if body.get("ignore_eos") or body.get("min_tokens"):
        return int(limit or 128)
    return min(int(limit), 96) if limit else 48


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: Server

    @property
    def api(self) -> Api:
        """What is served."""
        return self.server.api

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """Say nothing here; engines log requests in their own shape."""

    def _note(self, status: int) -> None:
        client = "%s:%d" % self.client_address[:2]
        self.api.on_request(client, f"{self.command} {self.path} {self.request_version}", status)

    def _send(self, answer: Answer) -> None:
        status, kind, body = answer
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self._note(status)

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        self._send(self.api.get(path) or as_json({"detail": "Not Found"}, 404))

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        try:
            body = json.loads(self.rfile.read(length) or b"{}")
        except ValueError:
            self._send(self.api.error(400, "the body is not JSON", "BadRequestError"))
            return
        path = self.path.split("?")[0]
        if path in ("/v1/completions", "/v1/chat/completions"):
            refusal = self.api.refuse(path, body)
            if refusal:
                self._send(refusal)
            else:
                self._complete(path.endswith("chat/completions"), body)
            return
        self._send(self.api.own_post(path, body) or as_json({"detail": "Not Found"}, 404))

    def _complete(self, chat: bool, body: Json) -> None:
        api = self.api
        api.numbers += 1
        prompt = prompt_tokens(body)
        cached = 0 if body.get("cache_prompt") is False else api.generator.cached(prompt_of(body), prompt)
        results: list[Result] = []
        chunks = api.generator.stream(prompt, cached, wanted_tokens(body), results.append)
        head = {
            "id": "{}-{:016x}".format("chatcmpl" if chat else "cmpl", api.numbers),
            "object": ("chat.completion" if chat else "text_completion"),
            "created": int(time.time()),
            "model": api.served,
        }
        if body.get("stream"):
            self._stream(chat, body, head, chunks, results, prompt, cached)
            return
        text = "".join(c.text for c in chunks)
        usage = _usage(prompt, results[0].tokens, cached)
        choice: Json = {"index": 0, "logprobs": None, "finish_reason": "length"}
        choice.update({"message": {"role": "assistant", "content": text}} if chat else {"text": text})
        body_out = dict(head, choices=[choice], usage=usage, **api.extra(results[0], prompt, cached))
        self._send(as_json(body_out))

    def _stream(
        self, chat: bool, body: Json, head: Json, chunks: Any, results: list[Result], prompt: int, cached: int
    ) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self._note(200)
        kind = "chat.completion.chunk" if chat else "text_completion"
        head = dict(head, object=kind)
        try:
            if chat:
                self._event(dict(head, choices=[{"index": 0, "delta": self.api.first_delta(), "finish_reason": None}]))
            for chunk in chunks:
                part = {"delta": {"content": chunk.text}} if chat else {"text": chunk.text}
                self._event(dict(head, choices=[dict({"index": 0, "logprobs": None, "finish_reason": None}, **part)]))
            last: Json = {"delta": {}} if chat else {"text": ""}
            extra = self.api.extra(results[0], prompt, cached)
            with_usage = bool((body.get("stream_options") or {}).get("include_usage"))
            final = dict(head, choices=[dict({"index": 0, "finish_reason": "length"}, **last)])
            self._event(final if with_usage else dict(final, **extra))
            if with_usage:
                self._event(dict(head, choices=[], usage=_usage(prompt, results[0].tokens, cached), **extra))
            self._raw(b"data: [DONE]\n\n")
            self.wfile.write(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            chunks.close()

    def _event(self, record: Json) -> None:
        self._raw(b"data: " + json.dumps(record, separators=(",", ":")).encode() + b"\n\n")

    def _raw(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))


def _usage(prompt: int, made: int, cached: int) -> Json:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": made,
        "total_tokens": prompt + made,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


class Server(ThreadingHTTPServer):
    """Listens on one address; `bind` errors are the caller's to word."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, host: str, port: int, api: Api, listen: bool = True) -> None:
        """Bind; `listen`: take connections at once, else only from `begin` on, as vLLM does."""
        # nothing in a practice is reachable from other machines, whatever the flags say
        own = "127.0.0.1" if host in ("0.0.0.0", "::", "") else host
        super().__init__((own, port), Handler, bind_and_activate=False)
        self.api = api
        self.listening = listen
        try:
            self.server_bind()
            if listen:
                self.server_activate()
        except OSError:
            self.server_close()
            raise

    def serve(self, api: Api) -> None:
        """Answer with this from now on."""
        self.api = api

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news."""

    def begin(self) -> None:
        """Answer requests in the background."""
        if not self.listening:
            self.server_activate()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
