"""Socket Mode, the server's side: one-time tickets, hello, envelopes, acks within 3 s, redelivery, disconnects."""

import asyncio
import itertools
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from aiohttp import WSMsgType, web

from bot.practice.workspace.state import APP_ID, JsonObject
from bot.practice.workspace.traffic import Traffic

EnvelopeType = Literal["events_api", "slash_commands", "interactive"]
MOST_CONNECTIONS = 10


@dataclass(frozen=True)
class Timing:
    """Seconds. Slack repeats an unacknowledged event at once, after 1 and after 5 minutes; practice is quicker."""

    ack_s: float = 3.0
    retry_after_s: tuple[float, ...] = (1.0, 10.0, 30.0)
    #: how long an event waits for a first connection
    connect_s: float = 60.0
    approximate_connection_s: int = 3600


@dataclass(frozen=True)
class Ack:
    """An acknowledgement. `payload` is None when the frame had none (which differs from an empty one)."""

    payload: Any = None


@dataclass
class SocketMode:
    """All connections of the app. Runs on the server's event loop."""

    traffic: Traffic
    now: Callable[[], float]
    timing: Timing = field(default_factory=Timing)
    _tickets: set[str] = field(default_factory=set)
    _connections: list[web.WebSocketResponse] = field(default_factory=list)
    _waiting: dict[str, asyncio.Future[Ack]] = field(default_factory=dict)
    _turn: "itertools.count[int]" = field(default_factory=itertools.count)
    _connected: asyncio.Event = field(default_factory=asyncio.Event)
    _envelopes: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    @property
    def connections(self) -> int:
        """Open connections."""
        return len(self._connections)

    def ticket(self) -> str:
        """A ticket for one connection."""
        ticket = secrets.token_hex(16)
        self._tickets.add(ticket)
        return ticket

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """One WebSocket connection, from upgrade to close."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=408, text="ticket is unknown or used")
        self._tickets.discard(ticket)
        connection = web.WebSocketResponse(autoping=True, heartbeat=30)
        await connection.prepare(request)
        if len(self._connections) >= MOST_CONNECTIONS:
            await self._send(connection, _disconnect("too_many_websockets"))
            await connection.close()
            return connection
        self._connections.append(connection)
        self._announce()
        try:
            await self._send(connection, self._hello())
            self._connected.set()
            await self._read(connection)
        finally:
            self._drop(connection)
        return connection

    def _hello(self) -> JsonObject:
        return {
            "type": "hello",
            "num_connections": len(self._connections),
            "connection_info": {"app_id": APP_ID},
            "debug_info": {
                "host": "practice-applink-1",
                "started": "2026-12-01 00:00:00.000",
                "build_number": 1,
                "approximate_connection_time": self.timing.approximate_connection_s,
            },
        }

    async def _read(self, connection: web.WebSocketResponse) -> None:
        async for frame in connection:
            if frame.type != WSMsgType.TEXT:
                continue
            try:
                answer = json.loads(frame.data)
            except ValueError:
                self._record("ack", None, frame.data, "a frame that is not JSON")
                continue
            future = self._waiting.get(str(answer.get("envelope_id", "")))
            late = future is None or future.done()
            self._record(
                "ack", None, answer, "an ack for an unknown, late or already acknowledged envelope" if late else ""
            )
            if future is not None and not future.done():
                future.set_result(Ack(answer.get("payload")))

    def _drop(self, connection: web.WebSocketResponse) -> None:
        if connection in self._connections:
            self._connections.remove(connection)
        if not self._connections:
            self._connected.clear()
        self._announce()

    def _announce(self) -> None:
        self.traffic.publish({"type": "connections", "count": len(self._connections)})

    async def deliver(
        self, kind: EnvelopeType, payload: JsonObject, *, accepts_response_payload: bool, attempt: int = 0
    ) -> Ack | None:
        """Send one envelope to exactly one connection. None: not acknowledged in time, or nobody is connected."""
        if not self._connections:
            return None
        connection = self._connections[next(self._turn) % len(self._connections)]
        envelope_id = f"00000000-0000-4000-8000-{next(self._envelopes):012d}"
        envelope: JsonObject = {
            "envelope_id": envelope_id,
            "type": kind,
            "payload": payload,
            "accepts_response_payload": accepts_response_payload,
        }
        if kind == "events_api":
            envelope |= {"retry_attempt": attempt, "retry_reason": "timeout" if attempt else ""}
        future: asyncio.Future[Ack] = asyncio.get_running_loop().create_future()
        self._waiting[envelope_id] = future
        try:
            await self._send(connection, envelope)
            return await asyncio.wait_for(future, self.timing.ack_s)
        except (TimeoutError, ConnectionError):
            return None
        finally:
            self._waiting.pop(envelope_id, None)

    async def deliver_event(self, payload: JsonObject) -> bool:
        """Deliver an event, again while it is not acknowledged. Whether it was acknowledged in the end."""
        if not self._connections:
            try:
                await asyncio.wait_for(self._connected.wait(), self.timing.connect_s)
            except TimeoutError:
                self._record("event lost", payload, None, "no connection took this event")
                return False
        for attempt, pause in enumerate((0.0, *self.timing.retry_after_s)):
            await asyncio.sleep(pause)
            if await self.deliver("events_api", payload, accepts_response_payload=False, attempt=attempt):
                return True
            self._record("no ack", payload, None, f"event not acknowledged within {self.timing.ack_s:g} s")
        return False

    async def disconnect(self, reason: str) -> None:
        """Ask every client to reconnect, as Slack does every few hours; unless it is a warning, close the old ones."""
        old = list(self._connections)
        for connection in old:
            await self._send(connection, _disconnect(reason))
        if reason != "warning":
            for connection in old:
                self._drop(connection)
            for connection in old:
                await connection.close()

    async def close(self) -> None:
        """Drop every connection without a word."""
        for connection in list(self._connections):
            self._drop(connection)
            await connection.close()

    async def _send(self, connection: web.WebSocketResponse, frame: JsonObject) -> None:
        self._record(f"{frame['type']} →", frame, None)
        await connection.send_str(json.dumps(frame))

    def _record(self, name: str, request: Any, response: Any, refusal: str = "") -> None:
        self.traffic.record(
            at=self.now(), kind="socket", name=name, request=request, response=response, refusal=refusal
        )


def _disconnect(reason: str) -> JsonObject:
    return {"type": "disconnect", "reason": reason, "debug_info": {"host": "practice-applink-1"}}
