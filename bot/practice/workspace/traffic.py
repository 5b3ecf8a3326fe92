"""What went over the wire, what Slack would have refused, and the feed that keeps the page up to date."""

import asyncio
import json
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from bot.practice.workspace.state import JsonObject

_KEPT = 600
_HIDDEN = {"authorization", "token"}


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """One request, frame or event. `kind` is "api", "socket", "response_url" or "upload"."""

    number: int
    at: float
    kind: str
    name: str
    request: Any
    response: Any
    #: what Slack would have refused or what went wrong; empty when all is well
    refusal: str = ""

    def as_json(self) -> JsonObject:
        """For the page and the control API."""
        return {
            "number": self.number,
            "at": self.at,
            "kind": self.kind,
            "name": self.name,
            "request": self.request,
            "response": self.response,
            "refusal": self.refusal,
        }


@dataclass
class Traffic:
    """The last exchanges, and the pages that listen. Everything here runs on the server's event loop."""

    entries: deque[Exchange] = field(default_factory=lambda: deque(maxlen=_KEPT))
    #: kept for the whole session, since tests assert that it stays empty
    refusals: list[Exchange] = field(default_factory=list)
    _listeners: set[asyncio.Queue[JsonObject]] = field(default_factory=set)
    _number: int = 0

    def record(self, *, at: float, kind: str, name: str, request: Any, response: Any, refusal: str = "") -> None:
        """Keep one exchange and show it on the page."""
        self._number += 1
        entry = Exchange(
            number=self._number,
            at=at,
            kind=kind,
            name=name,
            request=_clean(request),
            response=_clean(response),
            refusal=refusal,
        )
        self.entries.append(entry)
        if refusal:
            self.refusals.append(entry)
        self.publish({"type": "traffic", "entry": entry.as_json()})

    def publish(self, event: JsonObject) -> None:
        """Send an event to every open page."""
        for queue in self._listeners:
            queue.put_nowait(event)

    def listen(self) -> asyncio.Queue[JsonObject]:
        """A new page's queue; give it back with `leave`."""
        queue: asyncio.Queue[JsonObject] = asyncio.Queue()
        self._listeners.add(queue)
        return queue

    def leave(self, queue: asyncio.Queue[JsonObject]) -> None:
        """Forget a page."""
        self._listeners.discard(queue)


def _clean(value: Any) -> Any:
    """A copy without tokens, safe to change afterwards."""
    if isinstance(value, dict):
        return {k: _clean(v) for k, v in value.items() if k.lower() not in _HIDDEN}
    if isinstance(value, list | tuple):
        return [_clean(v) for v in value]
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    return value if isinstance(value, str | int | float | bool | None) else json.loads(json.dumps(value, default=str))
