"""A real SSH server on loopback (paramiko's server side): key authentication, exec, and forwards to loopback ports."""

import contextlib
import logging
import os
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

import paramiko
from paramiko.common import (
    AUTH_FAILED,
    AUTH_SUCCESSFUL,
    OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED,
    OPEN_FAILED_CONNECT_FAILED,
    OPEN_SUCCEEDED,
)

from bot.practice.hosts.shell import Outward, Shell

_CHUNK = 64 * 1024
_LOG = "practice.sshd"
#: clients that just go away are no news
logging.getLogger(_LOG).setLevel(logging.CRITICAL)
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class SshServer:
    """Listens on 127.0.0.1 and runs commands of one practice host. `gone` tells whether the host answers at all."""

    def __init__(self, shell: Shell, host_key: paramiko.PKey, user_key: paramiko.PKey, port: int = 0) -> None:
        self.shell = shell
        self.host_key = host_key
        self.user_key = user_key
        self._listener = socket.create_server(("127.0.0.1", port), backlog=64)
        self._transports: set[paramiko.Transport] = set()
        self._closing = threading.Event()
        threading.Thread(target=self._accept, name=f"sshd-{shell.name}", daemon=True).start()

    @property
    def port(self) -> int:
        """Port that was given or picked."""
        return int(self._listener.getsockname()[1])

    def close(self) -> None:
        """Stop listening and drop all connections. Running commands go on, as with a real sshd."""
        self._closing.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for transport in list(self._transports):
            transport.close()

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            transport = paramiko.Transport(connection)
            transport.set_log_channel(_LOG)
            transport.local_version = "SSH-2.0-OpenSSH_9.2p1 Practice"
            transport.add_server_key(self.host_key)
            self._transports = {t for t in self._transports if t.is_active()} | {transport}
            try:
                transport.start_server(server=_Session(self), event=threading.Event())
            except (paramiko.SSHException, EOFError, OSError):
                transport.close()


class _Session(paramiko.ServerInterface):
    """One connection."""

    def __init__(self, server: SshServer) -> None:
        self._server = server

    def get_allowed_auths(self, username: str) -> str:
        return "publickey"

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        fits = username == self._server.shell.user and key == self._server.user_key
        return AUTH_SUCCESSFUL if fits else AUTH_FAILED

    def check_channel_request(self, kind: str, chanid: int) -> int:
        return OPEN_SUCCEEDED if kind == "session" else OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED

    def check_channel_env_request(self, channel: paramiko.Channel, name: bytes, value: bytes) -> bool:
        return False

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        _Command(self._server.shell, channel, command).start()
        return True

    def check_channel_shell_request(self, channel: paramiko.Channel) -> bool:
        _Command(self._server.shell, channel, b"/bin/sh -s").start()
        return True

    def check_channel_direct_tcpip_request(
        self, chanid: int, origin: tuple[str, int], destination: tuple[str, int]
    ) -> int:
        if destination[0] not in _LOOPBACK:
            return OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED
        try:
            target = socket.create_connection(("127.0.0.1", destination[1]), timeout=5)
        except OSError:
            return OPEN_FAILED_CONNECT_FAILED
        target.settimeout(None)
        target.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=self._forward, args=(chanid, target), daemon=True).start()
        return OPEN_SUCCEEDED

    def _forward(self, chanid: int, target: socket.socket) -> None:
        transport = next((t for t in self._server._transports if t.server_object is self), None)
        channel = transport.accept(10) if transport else None
        while channel is not None and channel.get_id() != chanid and transport is not None:
            channel = transport.accept(10)
        if channel is None:
            target.close()
            return
        threading.Thread(target=_pump, args=(target.recv, channel.sendall, channel.shutdown_write), daemon=True).start()

        def half_close() -> None:
            with contextlib.suppress(OSError):
                target.shutdown(socket.SHUT_WR)

        _pump(channel.recv, target.sendall, half_close)


def _pump(receive: Callable[[int], bytes], send: Callable[[bytes], object], end: Callable[[], object]) -> None:
    """Copy until the end; then say so."""
    with contextlib.suppress(OSError, EOFError):
        while data := receive(_CHUNK):
            send(data)
    with contextlib.suppress(OSError, EOFError):
        end()


class _Command:
    """One command: a process in its own session, its three streams, its exit status."""

    def __init__(self, shell: Shell, channel: paramiko.Channel, command: bytes) -> None:
        self._shell = shell
        self._channel = channel
        self._text = shell.translate(command)

    def start(self) -> None:
        """Run it in the background, so that the request is answered first."""
        threading.Thread(target=self._run, name=f"command-{self._shell.name}", daemon=True).start()

    def _run(self) -> None:
        channel = self._channel
        self._shell.link_cgroups()
        process = subprocess.Popen(
            ["/bin/sh", "-c", os.fsdecode(self._text)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._shell.environment(),
            cwd=self._shell.home,
            start_new_session=True,
            bufsize=0,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        feeder = threading.Thread(target=self._feed, args=(process.stdin,), daemon=True)
        pumps = [
            threading.Thread(target=self._drain, args=(process.stdout, channel.sendall), daemon=True),
            threading.Thread(target=self._drain, args=(process.stderr, channel.sendall_stderr), daemon=True),
        ]
        for thread in (feeder, *pumps):
            thread.start()
        status = process.wait()
        for thread in pumps:
            thread.join(0.5)
        with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
            channel.send_exit_status(status if status >= 0 else 128 - status)
        for thread in pumps:
            thread.join()
        channel.close()

    def _drain(self, stream: IO[bytes], send: Callable[[bytes], object]) -> None:
        """Copy output; when the reader is gone, close the pipe, so that the writer notices."""
        with contextlib.suppress(OSError, EOFError), stream:
            outward = Outward(self._shell.root)
            while data := os.read(stream.fileno(), _CHUNK):
                send(outward.feed(data))
            send(outward.end())

    def _feed(self, stream: IO[bytes]) -> None:
        """Programs and files come over standard input; paths in them are translated as well."""
        held = b""
        with contextlib.suppress(OSError, EOFError, ValueError), stream:
            while data := self._channel.recv(_CHUNK):
                # whole lines, so that no path is cut in two; what is no text goes through as it is
                whole, newline, held = (held + data).rpartition(b"\n")
                if b"\0" in held or len(held) > _CHUNK:
                    whole, held = whole + newline + held, b""
                text = whole + newline
                _write_all(stream.fileno(), text if b"\0" in text else self._shell.translate(text))
            _write_all(stream.fileno(), held if b"\0" in held else self._shell.translate(held))


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def make_key(path: Path) -> paramiko.PKey:
    """An ECDSA key kept in a file that only we can read."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        key = paramiko.ECDSAKey.generate()
        path.touch(mode=0o600)
        key.write_private_key_file(str(path))
        return key
    return paramiko.ECDSAKey.from_private_key_file(str(path))
