"""Run one command on an open channel: feed it, collect within limits, end it when its time is up."""

import select
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import paramiko

from bot.adapters.ssh.channels import end_input, send, transport_of
from bot.adapters.ssh.wrapping import Wrapped

_CHUNK = 128 * 1024
#: a background process may hold the output open after the command has ended; wait this long for its end
_LINGER_S = 1.0
_POLL_S = 0.25
_DRAIN_WAIT_S = 0.01
#: standard input waits this long for room before output is looked at again
_FEED_WAIT_S = 0.01


@dataclass(slots=True)
class Output:
    """The head of one output stream and the size of what was dropped."""

    limit: int
    data: bytearray = field(default_factory=bytearray)
    dropped: int = 0

    def add(self, chunk: bytes) -> None:
        """Keep what fits."""
        room = self.limit - len(self.data)
        kept = chunk[:room] if room > 0 else b""
        self.data += kept
        self.dropped += len(chunk) - len(kept)

    @property
    def text(self) -> str:
        """As UTF-8, bad bytes replaced."""
        return self.data.decode("utf-8", "replace")


class Lost(Exception):  # noqa: N818 -- internal; becomes UnreachableError, which names the host
    """The connection ended while the command was running."""


class TimeUp(Exception):  # noqa: N818 -- internal; becomes CommandTimeoutError, which keeps the output
    """The command ran past its limit."""


class Session:
    """One command on one channel. Not shared between threads."""

    def __init__(self, channel: paramiko.Channel, wrapped: Wrapped, stdin: bytes, timeout_s: float) -> None:
        self._transport = transport_of(channel)
        self._channel = channel
        self._deadline = time.monotonic() + timeout_s
        self._pending = memoryview(wrapped.preamble + stdin)
        self._ends_input = wrapped.ends_input
        self._poll = select.poll()
        # fileno() first: bytes that come before it exists would not be signalled
        self._poll.register(channel.fileno(), select.POLLIN)
        self._transport.ask_exec(channel, wrapped.line)
        self._feed()

    def chunks(self) -> Iterator[tuple[bool, bytes]]:
        """(is stderr, bytes) as they come, until the command has ended. Raises Lost and TimeUp."""
        channel = self._channel
        ended_at: float | None = None
        while True:
            # looked at before the buffers are emptied, so that nothing that came just before the end is missed
            finished = channel.closed or channel.eof_received
            while channel.recv_ready():
                yield False, channel.recv(_CHUNK)
            while channel.recv_stderr_ready():
                yield True, channel.recv_stderr(_CHUNK)
            if finished:
                self._await_status()
                return
            self._feed()
            now = time.monotonic()
            if channel.exit_status_ready():
                ended_at = ended_at or now
                if now - ended_at > _LINGER_S:
                    return
            if now >= self._deadline:
                raise TimeUp
            self._wait(now)

    def drain(self, stderr: Output) -> bool:
        """Add what standard error holds; when it holds nothing, wait a moment. False when the command has ended."""
        if not self._channel.recv_stderr_ready() and self._channel.status_event.wait(_DRAIN_WAIT_S):
            return False
        while self._channel.recv_stderr_ready():
            stderr.add(self._channel.recv_stderr(_CHUNK))
        return True

    @property
    def running(self) -> bool:
        """Whether the command has not ended as far as we know."""
        return not self._channel.exit_status_ready() and self._transport.is_active()

    @property
    def exit_status(self) -> int:
        """Exit status; -1 when a signal ended the command."""
        return self._channel.exit_status

    def _feed(self) -> None:
        """Send what the window takes of standard input; waits only a moment, so that output is read meanwhile.

        OpenSSH opens no window before the command has started, so there is always something to wait for at first."""
        channel = self._channel
        try:
            while self._pending:
                sent = send(channel, bytes(self._pending[:_CHUNK]), _FEED_WAIT_S)
                if sent == 0:
                    return
                self._pending = self._pending[sent:]
            if self._ends_input:
                end_input(channel)
                self._ends_input = False
        except OSError:  # the command ended without reading all of it
            self._pending = self._pending[:0]

    def _wait(self, now: float) -> None:
        if not self._pending:  # else _feed has waited
            self._poll.poll(max(0.0, min(_POLL_S, self._deadline - now)) * 1000)

    def _await_status(self) -> None:
        """The exit status follows the end of output; without one the command was killed or the connection lost."""
        status = self._channel.status_event
        if not status.wait(max(_POLL_S, self._deadline - time.monotonic())):
            raise TimeUp
        if self._channel.exit_status != -1:
            return
        # a dying transport closes its channels a moment before it says that it is dead
        self._transport.join(0.05)
        if not self._channel.eof_received or not self._transport.is_active():
            raise Lost
