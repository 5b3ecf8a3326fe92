"""A local port that leads to a port on the host, over the kept connection."""

import contextlib
import socket
import threading
from collections.abc import Callable

import paramiko

from bot.adapters.ssh.channels import end_input, send
from bot.adapters.ssh.connection import NotStartedError
from bot.errors import RelaunchError

_CHUNK = 64 * 1024
_ACCEPT_POLL_S = 0.5


class Forward:
    """Listens on a free loopback port; each connection becomes a channel made by `open_channel`. `close` ends all."""

    def __init__(self, open_channel: Callable[[], paramiko.Channel]) -> None:
        self._open_channel = open_channel
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(_ACCEPT_POLL_S)
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._carried: set[tuple[socket.socket, paramiko.Channel]] = set()
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, name=f"forward-{self.port}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening and end what is being carried."""
        self._closed.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            carried = list(self._carried)
        for sock, channel in carried:
            channel.close()
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        self._thread.join(2)

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                sock, _ = self._listener.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            sock.settimeout(None)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._carry, args=(sock,), name=f"forward-{self.port}", daemon=True).start()

    def _carry(self, sock: socket.socket) -> None:
        with sock:
            try:
                channel = self._open_channel()
            except (NotStartedError, RelaunchError):
                return  # the client sees its connection closed, as it would at a port where nothing listens
            pair = (sock, channel)
            with self._lock:
                self._carried.add(pair)
            try:
                if not self._closed.is_set():
                    back = threading.Thread(target=_pump_back, args=pair, name=f"forward-{self.port}-back", daemon=True)
                    back.start()
                    _pump_out(sock, channel)
                    back.join()
            finally:
                channel.close()
                with self._lock:
                    self._carried.discard(pair)


def _pump_out(sock: socket.socket, channel: paramiko.Channel) -> None:
    """Local side to the host, until the local side ends; the other direction stays open."""
    with contextlib.suppress(OSError, EOFError):
        while data := sock.recv(_CHUNK):
            while data:
                data = data[send(channel, data, None) :]
    with contextlib.suppress(OSError, EOFError):
        end_input(channel)


def _pump_back(sock: socket.socket, channel: paramiko.Channel) -> None:
    """Host to the local side, until the host ends; then the local side sees the end as well."""
    with contextlib.suppress(OSError, EOFError):
        while data := channel.recv(_CHUNK):
            sock.sendall(data)
    # a peer that has closed may never read: end both ways so that the other pump wakes
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_WR if not channel.closed else socket.SHUT_RDWR)
