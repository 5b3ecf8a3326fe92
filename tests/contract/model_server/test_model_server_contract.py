"""What every ModelServer does: the same tests over the fake and over HTTP; then what only HTTP can get wrong."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from bot.adapters.model_server import HttpModelServer
from bot.errors import TemporaryError
from bot.workflows.ports import ModelServer
from tests.fakes.model_server import FakeModelServer, FakeServer
from tests.rig.sshd import free_port

Reply = tuple[int, str]


@dataclass
class Pages:
    """What a small HTTP server answers, by method and path; `hang` paths never answer until it closes."""

    replies: dict[str, Reply] = field(default_factory=dict)
    hang: set[str] = field(default_factory=set)
    seen: list[tuple[str, dict[str, Any], str]] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    def set(self, where: str, body: object, status: int = 200) -> None:
        self.replies[where] = (status, body if isinstance(body, str) else json.dumps(body))


@pytest.fixture
def pages() -> Pages:
    return Pages()


@pytest.fixture
def url(pages: Pages) -> Iterator[str]:
    """Base URL of a server that gives `pages`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            where = f"{self.command} {self.path}"
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            pages.seen.append((where, json.loads(body or b"{}"), self.headers.get("Authorization") or ""))
            if self.path in pages.hang:
                pages.closing.wait(20)
                return
            status, text = pages.replies.get(where, (404, json.dumps({"error": {"message": f"no {self.path}"}})))
            self.send_response(status)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        do_POST = do_GET  # noqa: N815  # the name that http.server calls

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name of the base class
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    pages.closing.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def http() -> Iterator[HttpModelServer]:
    client = HttpModelServer(health_timeout_s=0.5, token_timeout_s=0.5, page_timeout_s=0.5)
    yield client
    client.close()


@pytest.fixture(params=["fake", "http"])
def known(request: pytest.FixtureRequest) -> Callable[[FakeServer], tuple[ModelServer, str]]:
    """Puts a server there and gives the port and its base URL."""

    def put(server: FakeServer) -> tuple[ModelServer, str]:
        if request.param == "fake":
            return FakeModelServer({"http://gpu1:8000": server}), "http://gpu1:8000"
        http: HttpModelServer = request.getfixturevalue("http")
        if server.health is None:
            return http, f"http://127.0.0.1:{free_port()}"
        pages: Pages = request.getfixturevalue("pages")
        error = {"error": {"message": server.words}}
        ready = server.health == 200
        pages.set("GET /health", "" if ready else error, server.health)
        if ready:
            pages.set("GET /v1/models", {"data": [{"id": m} for m in server.models]})
        for path, text in server.pages.items():
            pages.set(f"GET {path}", text)
        if ready and server.token:
            pages.set("POST /v1/chat/completions", {"choices": [{"message": {"content": server.token}}]})
        else:
            pages.set("POST /v1/chat/completions", error, 500)
        return http, request.getfixturevalue("url")

    return put


Known = Callable[[FakeServer], tuple[ModelServer, str]]


def test_a_ready_server(known: Known) -> None:
    server, url = known(FakeServer(models=("qwen", "lora"), token=" hi", pages={"/metrics": "a 1\n"}))
    assert server.health(url, "/health") == (200, "ok")
    assert server.models(url) == ("qwen", "lora")
    assert server.token(url, "qwen") == " hi"
    assert server.get_text(url, "/metrics") == "a 1\n"
    assert server.get_text(url, "/nothing") is None


def test_a_server_that_is_loading(known: Known) -> None:
    server, url = known(FakeServer(health=503, words="Loading model"))
    assert server.health(url, "/health") == (503, "Loading model")
    with pytest.raises(TemporaryError):
        server.models(url)
    with pytest.raises(TemporaryError, match="Loading model"):
        server.token(url, "fake-model")


def test_nobody_listens(known: Known) -> None:
    server, url = known(FakeServer(health=None))
    assert server.health(url, "/health") == (None, "connection refused")
    with pytest.raises(TemporaryError, match="connection refused"):
        server.models(url)
    with pytest.raises(TemporaryError, match="connection refused"):
        server.token(url, "fake-model")
    assert server.get_text(url, "/metrics") is None


def test_no_token_is_an_error_in_the_servers_words(known: Known) -> None:
    server, url = known(FakeServer(token="", words="CUDA error: device-side assert"))
    with pytest.raises(TemporaryError, match="device-side assert"):
        server.token(url, "fake-model")


# ---- HTTP only ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ({"choices": [{"message": {"content": None, "reasoning_content": "Hmm"}}]}, "Hmm"),
        ({"choices": [{"message": {"content": "", "reasoning": "Well"}}]}, "Well"),
        ({"choices": [{"message": {"content": "Hello"}}]}, "Hello"),
    ],
)
def test_reasoning_is_a_token_too(http: HttpModelServer, pages: Pages, url: str, reply: object, text: str) -> None:
    pages.set("POST /v1/chat/completions", reply)
    assert http.token(url, "qwen") == text


def test_a_model_without_a_chat_template_completes_text(http: HttpModelServer, pages: Pages, url: str) -> None:
    pages.set("POST /v1/chat/completions", {"message": "no chat template"}, 400)
    pages.set("POST /v1/completions", {"choices": [{"text": " world"}]})
    assert http.token(url, "base") == " world"
    asked = pages.seen[-1][1]
    assert (asked["model"], asked["temperature"]) == ("base", 0)
    assert asked["max_tokens"] >= 1


def test_an_answer_without_text_is_no_token(http: HttpModelServer, pages: Pages, url: str) -> None:
    pages.set("POST /v1/chat/completions", {"choices": []})
    pages.set("POST /v1/completions", {"choices": [{"text": ""}]})
    with pytest.raises(TemporaryError, match="without any text"):
        http.token(url, "qwen")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "Loading model", "code": 503}}, "Loading model"),
        ({"object": "error", "message": "The model does not exist."}, "The model does not exist."),
        ({"detail": "Not Found"}, "Not Found"),
        ("<html>\n502 Bad\n Gateway</html>", "<html> 502 Bad Gateway</html>"),
        ("", "HTTP 503"),
    ],
)
def test_reasons_are_read_out_of_every_engines_errors(
    http: HttpModelServer, pages: Pages, url: str, body: object, words: str
) -> None:
    pages.set("GET /health", body, 503)
    assert http.health(url, "/health") == (503, words)


def test_a_server_that_hangs(http: HttpModelServer, pages: Pages, url: str) -> None:
    pages.hang |= {"/health", "/v1/chat/completions"}
    assert http.health(url, "/health") == (None, "no answer within 0.5 s")
    with pytest.raises(TemporaryError, match=r"no answer within 0\.5 s"):
        http.token(url, "qwen")


def test_the_key_goes_with_every_request_and_its_lack_is_said(pages: Pages, url: str) -> None:
    pages.set("POST /v1/chat/completions", {"error": "Unauthorized"}, 401)
    client = HttpModelServer(headers={"Authorization": "Bearer k"})
    with pytest.raises(TemporaryError, match="HTTP 401: Unauthorized") as refused:
        client.token(url, "qwen")
    assert "key" in refused.value.remedy
    assert pages.seen[-1][2] == "Bearer k"
    client.close()


def test_models_that_cannot_be_read(http: HttpModelServer, pages: Pages, url: str) -> None:
    pages.set("GET /v1/models", "<html>a proxy's welcome</html>")
    with pytest.raises(TemporaryError, match="did not name its models"):
        http.models(url)


def test_proxies_of_the_environment_are_not_asked(
    http: HttpModelServer, pages: Pages, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    pages.set("GET /health", "")
    client = HttpModelServer()
    assert client.health(url, "/health") == (200, "ok")
    client.close()


def test_a_url_that_is_none(http: HttpModelServer) -> None:
    status, reason = http.health("http://[broken", "/health")
    assert status is None
    assert reason
