"""A ModelServer without HTTP: servers are values that a test changes."""

from dataclasses import dataclass, field

from bot.errors import TemporaryError


@dataclass
class FakeServer:
    """One model server. `health`: status, None: nobody listens. `token`: what it generates; empty: `words` instead."""

    models: tuple[str, ...] = ("fake-model",)
    health: int | None = 200
    token: str = " hello"
    words: str = "the engine is dead"
    pages: dict[str, str] = field(default_factory=dict)


@dataclass
class FakeModelServer:
    """Answers for servers by base URL. `asked` keeps (method of the port, base URL)."""

    servers: dict[str, FakeServer] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)

    def health(self, base_url: str, path: str) -> tuple[int | None, str]:
        """The server's status; any path will do."""
        server = self._server("health", base_url)
        if server is None or server.health is None:
            return None, "connection refused"
        return server.health, "ok" if server.health == 200 else server.words

    def models(self, base_url: str) -> tuple[str, ...]:
        """Its models."""
        return self._ready("models", base_url).models

    def token(self, base_url: str, model: str) -> str:
        """Its token, for the models that it has."""
        server = self._ready("token", base_url)
        if model not in server.models or not server.token:
            raise TemporaryError(f"no token came from {base_url}: {server.words}", remedy="look at the server's log")
        return server.token

    def get_text(self, base_url: str, path: str) -> str | None:
        """One of its pages."""
        server = self._server("get_text", base_url)
        return server.pages.get(path) if server and server.health is not None else None

    def _server(self, what: str, base_url: str) -> FakeServer | None:
        self.asked.append((what, base_url))
        return self.servers.get(base_url)

    def _ready(self, what: str, base_url: str) -> FakeServer:
        server = self._server(what, base_url)
        if server is None or server.health is None:
            raise TemporaryError(f"no answer from {base_url}: connection refused", remedy="look at the server's log")
        if server.health != 200:
            raise TemporaryError(f"no answer from {base_url}: HTTP {server.health}: {server.words}")
        return server
