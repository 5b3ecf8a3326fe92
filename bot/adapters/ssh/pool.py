"""One kept connection per route, shared by threads; of several that want it, one connects and the others wait."""

import copy
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from bot.adapters.ssh.connection import Connection
from bot.adapters.ssh.endpoint import Route
from bot.errors import RelaunchError, UnreachableError


@dataclass(slots=True)
class _Entry:
    changed: threading.Condition = field(default_factory=threading.Condition)
    connection: Connection | None = None
    connecting: bool = False
    attempts: int = 0
    failure: RelaunchError | None = None


class Pool:
    """Connections by route. `open_connection` logs in; it raises RelaunchError."""

    def __init__(self, open_connection: Callable[[Route], Connection]) -> None:
        self._open = open_connection
        self._lock = threading.Lock()
        self._entries: dict[Route, _Entry] = {}
        self._closed = False

    def get(self, route: Route) -> Connection:
        """The connection of a route, opened when there is none that lives. A failure reaches all who waited for it."""
        with self._lock:
            if self._closed:
                raise UnreachableError(f"{route[-1].name}: the bot is shutting down", host=route[-1].name)
            entry = self._entries.setdefault(route, _Entry())
        with entry.changed:
            while True:
                if entry.connection is not None and entry.connection.alive:
                    return entry.connection
                if not entry.connecting:
                    break
                attempt = entry.attempts
                entry.changed.wait_for(lambda a=attempt: entry.attempts != a)  # type: ignore[misc]  # bound default
                if entry.failure is not None:
                    raise copy.copy(entry.failure)
            entry.connecting = True
            stale, entry.connection = entry.connection, None
        if stale is not None:
            stale.close()
        return self._connect(route, entry)

    def discard(self, route: Route, connection: Connection) -> None:
        """Close a connection that does not answer; the next `get` opens another."""
        with self._lock:
            entry = self._entries.get(route)
        if entry is not None:
            with entry.changed:
                if entry.connection is connection:
                    entry.connection = None
        connection.close()

    def close(self) -> None:
        """Close all connections, those behind jump hosts first."""
        with self._lock:
            self._closed = True
            entries = sorted(self._entries.items(), key=lambda item: -len(item[0]))
            self._entries.clear()
        for _, entry in entries:
            with entry.changed:
                connection, entry.connection = entry.connection, None
            if connection is not None:
                connection.close()

    def _connect(self, route: Route, entry: _Entry) -> Connection:
        connection: Connection | None = None
        failure: RelaunchError | None = UnreachableError(f"{route[-1].name}: connecting was interrupted")
        try:
            connection = self._open(route)
            failure = None
            return connection
        except RelaunchError as error:
            failure = error
            raise
        finally:
            with entry.changed:
                entry.connection = connection
                entry.failure = failure
                entry.connecting = False
                entry.attempts += 1
                entry.changed.notify_all()
