"""HTTP: Slack's requests with their signatures, /healthz, /metrics."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from bot.adapters.slack.app import HttpEdge
from bot.app import App
from bot.errors import RelaunchError

#: Slack's requests are smaller
BODY_LIMIT_BYTES = 2_000_000
SLACK_PATH = "/slack/events"


def web_server(app: App, edge: HttpEdge, host: str, port: int) -> ThreadingHTTPServer:
    """A server that is bound and not yet serving."""

    class Handler(BaseHTTPRequestHandler):
        """One request."""

        timeout = 15

        def do_GET(self) -> None:
            """Health and metrics."""
            if self.path == "/healthz":
                fault = health_fault(app)
                body = json.dumps({"ok": fault is None, "fault": fault}).encode()
                self._answer(200 if fault is None else 503, "application/json", body)
            elif self.path == "/metrics":
                self._answer(200, CONTENT_TYPE_LATEST, generate_latest())
            else:
                self._answer(404, "text/plain", b"not found\n")

        def do_POST(self) -> None:
            """Slack's events, commands and clicks."""
            try:
                length = int(self.headers.get("Content-Length", "0"))
            except ValueError:
                length = -1
            if self.path != SLACK_PATH or not 0 <= length <= BODY_LIMIT_BYTES:
                self._answer(404 if self.path != SLACK_PATH else 413, "text/plain", b"not accepted\n")
                return
            answer = edge.handle(self.rfile.read(length), dict(self.headers.items()))
            kind = next((v for k, v in answer.headers.items() if k.lower() == "content-type"), "text/plain")
            self._answer(answer.status, kind, answer.body.encode())

        def _answer(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
            """Requests are not logged: their paths and bodies are Slack's."""

    return ThreadingHTTPServer((host, port), Handler)


def health_fault(app: App) -> str | None:
    """Why the bot is not well, or None."""
    try:
        app.database.require_current()
    except RelaunchError as error:
        return error.message
    except Exception as error:  # noqa: BLE001 - whatever the driver raises, it is a fault
        return f"database: {type(error).__name__}"
    return None
