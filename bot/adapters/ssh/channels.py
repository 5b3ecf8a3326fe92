"""Sending on a channel without losing the whole connection.

paramiko builds a channel message under the channel's lock and sends it after letting go. If the host closes the channel
in between, paramiko's reader answers that first, and the late message speaks of a channel that is gone: OpenSSH then
ends the connection ("ieof packet referred to nonexistent channel"), with everything else that runs on it. Here the lock
is kept until the message is out.
"""

from typing import cast

import paramiko

#: RFC 4254 sections 5.2 and 5.3
_DATA, _EOF, _REQUEST = bytes([94]), bytes([96]), bytes([98])
#: room for the packet's own fields
_OVERHEAD = 64


class Transport(paramiko.Transport):
    """paramiko's transport with a slow poll: at the stock 0.1 s, 500 idle connections cost 15 % of a core."""

    _active_check_timeout = 5.0

    def ask_exec(self, channel: paramiko.Channel, line: str) -> None:
        """Ask for a command without waiting for the answer, which saves a round trip; a refusal closes the channel."""
        message = _message(channel, _REQUEST)
        message.add_string("exec")
        message.add_boolean(True)  # wants a reply
        message.add_string(line)
        self.send_message(message)

    def send_message(self, message: paramiko.Message) -> None:
        """Send a message of a channel."""
        self._send_user_message(message)  # type: ignore[attr-defined]  # the stubs leave out what is protected


def send(channel: paramiko.Channel, data: bytes, wait_s: float | None) -> int:
    """Send what fits into the window, waiting for room up to `wait_s` (None: as long as it takes). Gives the size sent.

    Raises OSError when the channel is closed."""
    with channel.lock:
        if not channel.out_buffer_cv.wait_for(lambda: channel.out_window_size > 0 or _over(channel), wait_s):
            return 0
        if _over(channel):
            raise OSError("the channel is closed")
        size = min(len(data), channel.out_window_size, channel.out_max_packet_size - _OVERHEAD)
        channel.out_window_size -= size
        message = _message(channel, _DATA)
        message.add_string(data[:size])
        transport_of(channel).send_message(message)
        return size


def end_input(channel: paramiko.Channel) -> None:
    """Tell the other side that nothing more will come."""
    with channel.lock:
        if _over(channel):
            return
        channel.eof_sent = True
        transport_of(channel).send_message(_message(channel, _EOF))


def transport_of(channel: paramiko.Channel) -> Transport:
    """The transport that a channel of ours belongs to."""
    return cast(Transport, channel.get_transport())


class ChannelStream:
    """A channel as the socket of another transport, which is how a jump host is passed."""

    def __init__(self, channel: paramiko.Channel) -> None:
        self._channel = channel
        self._timeout_s: float | None = None

    def send(self, data: bytes, /) -> int:
        """As socket.send."""
        size = send(self._channel, data, self._timeout_s)
        if size == 0:
            raise TimeoutError
        return size

    def recv(self, size: int, /) -> bytes:
        """As socket.recv."""
        return self._channel.recv(size)

    def settimeout(self, value: float | None, /) -> None:
        """As socket.settimeout."""
        self._timeout_s = value
        self._channel.settimeout(value)

    def close(self) -> None:
        """As socket.close."""
        self._channel.close()

    @property
    def _closed(self) -> bool:
        """paramiko asks this of its socket."""
        return bool(self._channel.closed)


def _over(channel: paramiko.Channel) -> bool:
    return bool(channel.closed or channel.eof_sent)


def _message(channel: paramiko.Channel, kind: bytes) -> paramiko.Message:
    message = paramiko.Message()
    message.add_byte(kind)
    message.add_int(channel.remote_chanid)
    return message
