"""Byte streams to an endpoint: a tuned TCP connection, or the pipe of a ProxyCommand."""

import contextlib
import errno
import shlex
import socket
import subprocess
import tempfile
import time
from typing import IO, Any, Protocol

from bot.adapters.ssh.endpoint import Endpoint
from bot.errors import UnreachableError

#: unacknowledged data for this long means that the host is gone; the kernel's own limit is about 15 minutes
_SILENCE_LIMIT_MS = 20_000


class Stream(Protocol):
    """What a transport needs of a socket, and how to end it at once."""

    def send(self, data: bytes, /) -> int: ...
    def recv(self, size: int, /) -> bytes: ...
    def settimeout(self, value: float | None, /) -> None: ...
    def close(self) -> None: ...


class QuickSocket(socket.socket):
    """Acknowledges every packet at once: sshd keeps Nagle's algorithm on while a session opens, and its answer would
    wait for our delayed acknowledgement, 40 ms each time."""

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        data = super().recv(size, flags)
        with contextlib.suppress(OSError, AttributeError):  # TCP_QUICKACK exists on Linux only
            self.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        return data

    def close(self) -> None:
        # wakes the reader thread now instead of at its next poll
        with contextlib.suppress(OSError):
            self.shutdown(socket.SHUT_RDWR)
        super().close()


class CommandSocket(socket.socket):
    """Our end of a socket pair whose other end is a ProxyCommand's stdin and stdout."""

    process: "subprocess.Popen[bytes] | None" = None
    errors: IO[bytes] | None = None

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.shutdown(socket.SHUT_RDWR)
        super().close()
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(2)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def complaint(self) -> str:
        """The last words of the command on its standard error."""
        if self.errors is None:
            return ""
        self.errors.seek(0)
        return self.errors.read()[-300:].decode(errors="replace").strip()


def connect(endpoint: Endpoint, timeout_s: float) -> QuickSocket:
    """TCP to an endpoint, each of its addresses in turn. Raises UnreachableError."""
    try:
        found = socket.getaddrinfo(endpoint.address, endpoint.port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        raise UnreachableError(
            f"{endpoint.name}: the name {endpoint.address} does not resolve ({_words(error)})",
            remedy="check the address of the host and the DNS of the bot's machine",
            host=endpoint.name,
        ) from error
    deadline = time.monotonic() + timeout_s
    failure: OSError | None = None
    for family, kind, protocol, _, address in found:
        left = deadline - time.monotonic()
        if left <= 0:
            break
        sock = QuickSocket(family, kind, protocol)
        try:
            sock.settimeout(left)
            sock.connect(address)
            _tune(sock)
            return sock
        except OSError as error:
            failure = error
            sock.close()
    raise _unreachable(endpoint, failure, timeout_s)


def run_proxy_command(endpoint: Endpoint) -> CommandSocket:
    """Start a ProxyCommand. Raises UnreachableError when it cannot be started."""
    ours, theirs = socket.socketpair()
    sock = CommandSocket(fileno=ours.detach())
    sock.errors = tempfile.TemporaryFile()  # noqa: SIM115 -- lives as long as the socket
    argv = ["/bin/sh", "-c", f"exec {endpoint.proxy_command}"]
    try:
        sock.process = subprocess.Popen(
            argv, stdin=theirs.fileno(), stdout=theirs.fileno(), stderr=sock.errors, start_new_session=True
        )
    except OSError as error:
        sock.close()
        raise UnreachableError(
            f"{endpoint.name}: its ProxyCommand cannot be started: {_words(error)}",
            remedy=f"try it by hand: {shlex.join(argv)}",
            host=endpoint.name,
        ) from error
    finally:
        theirs.close()
    return sock


def _tune(sock: socket.socket) -> None:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    user_timeout: Any = getattr(socket, "TCP_USER_TIMEOUT", None)
    if user_timeout is not None:
        sock.setsockopt(socket.IPPROTO_TCP, user_timeout, _SILENCE_LIMIT_MS)


def _unreachable(endpoint: Endpoint, failure: OSError | None, timeout_s: float) -> UnreachableError:
    where = f"{endpoint.address} port {endpoint.port}"
    if failure is None or isinstance(failure, TimeoutError):
        what = f"{where} does not answer within {timeout_s:g} s"
        remedy = "is the host up, and is the way to it open (VPN, firewall)?"
    elif failure.errno == errno.ECONNREFUSED:
        what = f"{where} refuses the connection"
        remedy = "the machine is up but no sshd listens there: is the port right, is sshd running?"
    else:
        what = f"no connection to {where}: {_words(failure)}"
        remedy = "is the host up, and is the way to it open (VPN, firewall)?"
    return UnreachableError(f"{endpoint.name}: {what}", remedy=remedy, host=endpoint.name)


def _words(error: OSError | UnicodeError) -> str:
    return getattr(error, "strerror", None) or str(error)
