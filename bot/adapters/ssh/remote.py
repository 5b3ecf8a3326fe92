"""SshRemote: the Remote port on paramiko."""

import contextlib
import functools
import logging
import re
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import paramiko

from bot.adapters.ssh.channels import ChannelStream, Transport
from bot.adapters.ssh.connection import (
    Connection,
    NotStartedError,
    end,
    keep_alive,
    log_in,
    open_transport,
    verify,
)
from bot.adapters.ssh.endpoint import Endpoint, Route, SshConfig
from bot.adapters.ssh.forward import Forward
from bot.adapters.ssh.host_keys import HostKey, HostKeys
from bot.adapters.ssh.identities import Identities
from bot.adapters.ssh.pool import Pool
from bot.adapters.ssh.session import Lost, Output, Session, TimeUp
from bot.adapters.ssh.sockets import Stream, connect, run_proxy_command
from bot.adapters.ssh.wrapping import ending, split_pid, wrap
from bot.core.domain.host import Host
from bot.core.domain.shell import ShellCommand, ShellResult
from bot.errors import CommandTimeoutError, HostKeyError, PermanentError, RelaunchError, UnreachableError

T = TypeVar("T")

_USUAL_KEYS = ("id_ed25519", "id_ecdsa", "id_rsa")
#: what sudo says when it did not run the command (LC_ALL=C)
_SUDO_REFUSES = re.compile(
    r"^(?:sudo: .*(?:password is required|terminal is required|must have a tty|no password was provided|"
    r"not allowed|may not run|command not found|effective uid is not 0|no new privileges)|"
    r"Sorry, user |.* is not in the sudoers file|.* is not allowed to (?:execute|run sudo))",
    re.MULTILINE,
)
_NO_SUDO = re.compile(r"^env: .*sudo.*(?:not found|No such file)", re.MULTILINE | re.IGNORECASE)
_STREAM_STDERR_BYTES = 4096
_PID_LINE_BYTES = 32
_PID_WAIT_S = 2.0


class SshRemote:
    """Commands on hosts over one kept SSH connection per host. Thread-safe.

    `known_hosts` is our own file of pinned keys; `user_known_hosts` is only read. Private keys: those named for a host,
    the agent's, then `default_identities` (None: the usual ones beside `user_config`, else in ~/.ssh)."""

    def __init__(
        self,
        *,
        known_hosts: Path,
        user_config: Path | None,
        user_known_hosts: Path | None,
        connect_timeout_s: float = 10.0,
        default_identities: Sequence[Path] | None = None,
        use_agent: bool = True,
    ) -> None:
        # every failure reaches the caller as an error of ours; paramiko's own log lines would only repeat it
        logging.getLogger("paramiko").setLevel(logging.CRITICAL)
        if default_identities is None:
            folder = user_config.parent if user_config is not None else Path.home() / ".ssh"
            default_identities = [folder / name for name in _USUAL_KEYS]
        self._config = SshConfig(user_config)
        self._host_keys = HostKeys(known_hosts, [user_known_hosts] if user_known_hosts is not None else [])
        self._identities = Identities(default_identities, use_agent=use_agent)
        self._timeout_s = connect_timeout_s
        self._pool = Pool(self._connect)

    def run(self, host: Host, command: ShellCommand) -> ShellResult:
        """Run a command and wait for it. A signal's victim has exit status -1.

        Raises UnreachableError, AuthenticationError, HostKeyError, CommandTimeoutError with the partial output, and
        PermanentError where root is needed and sudo wants a password. Never runs a command twice."""
        route = self._config.route(host)
        return self._attempt(route, lambda connection: self._run(host, route, connection, command))

    @contextlib.contextmanager
    def stream(self, host: Host, command: ShellCommand) -> Iterator[Iterator[bytes]]:
        """Chunks of stdout as they arrive, until the command ends; leaving the context ends it.

        The chunks' iterator raises UnreachableError when the connection breaks and CommandTimeoutError after
        `timeout_s`."""
        route = self._config.route(host)
        with contextlib.ExitStack() as stack:
            yield self._attempt(route, lambda connection: self._open_stream(host, route, connection, command, stack))

    @contextlib.contextmanager
    def forward(self, host: Host, port: int) -> Iterator[int]:
        """A free loopback port here that leads to 127.0.0.1:`port` on the host, until the context is left."""
        route = self._config.route(host)
        self._attempt(route, lambda connection: connection)  # a host out of reach is said now, not at the first use

        def channel() -> paramiko.Channel:
            return self._attempt(route, lambda connection: connection.direct("127.0.0.1", port, self._timeout_s))

        forward = Forward(channel)
        try:
            yield forward.port
        finally:
            forward.close()

    def fingerprint(self, host: Host) -> str:
        """SHA256 fingerprint of the key that the host shows now; nobody logs in to it (to its jump hosts yes)."""
        return self._shown_key(self._config.route(host)).fingerprint

    def trust(self, host: Host, fingerprint: str) -> None:
        """Pin the key that the host shows now, if it still has this fingerprint; else HostKeyError."""
        route = self._config.route(host)
        key = self._shown_key(route)
        if key.fingerprint != fingerprint:
            raise HostKeyError(
                f"{host.name}: it now shows {key.kind} {key.fingerprint}, not {fingerprint}; nothing was pinned",
                remedy=f"compare again with the host itself, then `relaunch hosts trust {host.name}`",
                host=host.name,
                fingerprint=key.fingerprint,
                changed=True,
            )
        self._host_keys.pin(route[-1].host_key_name, key)

    def close(self) -> None:
        """End all connections."""
        self._pool.close()

    def _attempt(self, route: Route, work: Callable[[Connection], T]) -> T:
        """Do work on the kept connection; once more on a new one if the kept one was dead before anything was asked."""
        connection = self._pool.get(route)
        try:
            return work(connection)
        except NotStartedError:
            self._pool.discard(route, connection)
        connection = self._pool.get(route)
        try:
            return work(connection)
        except NotStartedError as error:
            self._pool.discard(route, connection)
            raise UnreachableError(
                f"{route[-1].name}: the connection breaks before a command can start ({error})",
                remedy="look at the host's sshd log and load",
                host=route[-1].name,
            ) from error

    def _run(self, host: Host, route: Route, connection: Connection, command: ShellCommand) -> ShellResult:
        sudo = _needs_sudo(command, connection.endpoint)
        stdout, stderr = Output(command.output_limit_bytes), Output(command.output_limit_bytes + _PID_LINE_BYTES)
        with connection.session(command.timeout_s, self._timeout_s) as channel:
            started = time.monotonic()
            session = Session(channel, wrap(command, sudo=sudo), command.stdin, command.timeout_s)
            try:
                for is_stderr, chunk in session.chunks():
                    (stderr if is_stderr else stdout).add(chunk)
            except TimeUp as error:
                _end(connection, session, stderr, sudo=sudo)
                raise _time_up(host, command, stdout.text, split_pid(stderr.text)[1]) from error
            except Lost as error:
                self._pool.discard(route, connection)
                raise _lost(host) from error
            result = ShellResult(
                exit_status=session.exit_status,
                stdout=stdout.text,
                stderr=split_pid(stderr.text)[1],
                duration_s=time.monotonic() - started,
                dropped_bytes=stdout.dropped + stderr.dropped,
            )
        if sudo:
            _check_sudo(host, connection.endpoint, result.exit_status, result.stderr)
        return result

    def _open_stream(
        self, host: Host, route: Route, connection: Connection, command: ShellCommand, stack: contextlib.ExitStack
    ) -> Iterator[bytes]:
        """Start a streaming command on the kept connection, or on one of its own when many streams run already."""
        sudo = _needs_sudo(command, connection.endpoint)
        stderr = Output(_STREAM_STDERR_BYTES)
        with contextlib.ExitStack() as tentative:
            if not tentative.enter_context(connection.stream_slot()):
                connection = self._connect(route)
                tentative.callback(connection.close)
            channel = tentative.enter_context(connection.session(command.timeout_s, self._timeout_s))
            session = Session(channel, wrap(command, sudo=sudo), command.stdin, command.timeout_s)
            stack.enter_context(tentative.pop_all())
        stack.callback(_end, connection, session, stderr, sudo=sudo)
        return _stdout(host, connection.endpoint, session, command, stderr)

    def _connect(self, route: Route) -> Connection:
        endpoint = route[-1]
        transport, key, stream = self._greet(route)
        try:
            verify(endpoint, key, self._host_keys)
            log_in(endpoint, transport, self._identities)
            keep_alive(transport)
        except BaseException:
            end(transport, stream)
            raise
        return Connection(endpoint, transport, stream)

    def _shown_key(self, route: Route) -> HostKey:
        transport, key, stream = self._greet(route)
        end(transport, stream)
        return key

    def _greet(self, route: Route) -> tuple[Transport, HostKey, Stream]:
        endpoint = route[-1]
        stream: Stream
        if len(route) > 1:
            reach = functools.partial(_through, endpoint=endpoint, timeout_s=self._timeout_s)
            stream = self._attempt(route[:-1], reach)
        elif endpoint.proxy_command:
            stream = run_proxy_command(endpoint)
        else:
            stream = connect(endpoint, self._timeout_s)
        kinds = self._host_keys.kinds(endpoint.host_key_name, [Path(f) for f in endpoint.known_hosts_files])
        transport, key = open_transport(endpoint, stream, kinds=kinds, timeout_s=self._timeout_s)
        return transport, key, stream


def _through(jump: Connection, *, endpoint: Endpoint, timeout_s: float) -> ChannelStream:
    """A channel through a jump host, whose failure is said of the host behind it."""
    try:
        return ChannelStream(jump.direct(endpoint.address, endpoint.port, timeout_s))
    except UnreachableError as error:
        raise UnreachableError(f"{endpoint.name}: {error.message}", remedy=error.remedy, host=endpoint.name) from error


def _stdout(host: Host, endpoint: Endpoint, session: Session, command: ShellCommand, stderr: Output) -> Iterator[bytes]:
    """Chunks of a stream's stdout; the head of its stderr is kept for the messages."""
    try:
        for is_stderr, chunk in session.chunks():
            if is_stderr:
                stderr.add(chunk)
            else:
                yield chunk
    except TimeUp as error:
        raise _time_up(host, command, "", split_pid(stderr.text)[1]) from error
    except Lost as error:
        raise _lost(host) from error
    if _needs_sudo(command, endpoint):
        _check_sudo(host, endpoint, session.exit_status, stderr.text)


def _end(connection: Connection, session: Session, stderr: Output, *, sudo: bool) -> None:
    """End a command that still runs. Where that fails, the host ends it when it next writes to us."""
    if not session.running:
        return
    # output may overtake the line that says the pid
    deadline = time.monotonic() + _PID_WAIT_S
    while (pid := split_pid(stderr.text)[0]) is None:
        if not session.drain(stderr) or time.monotonic() > deadline:
            return
    with contextlib.suppress(NotStartedError, RelaunchError, TimeUp, Lost), connection.spare_session() as channel:
        command = ending(pid)
        for _ in Session(channel, wrap(command, sudo=sudo), b"", command.timeout_s).chunks():
            pass


def _needs_sudo(command: ShellCommand, endpoint: Endpoint) -> bool:
    return command.as_root and endpoint.user != "root"


def _time_up(host: Host, command: ShellCommand, stdout: str, stderr: str) -> CommandTimeoutError:
    return CommandTimeoutError(
        f"{host.name}: a command was not done after {command.timeout_s:g} s and was ended",
        remedy="the host may hang (disk, network share, GPU driver): look at its load and kernel log",
        host=host.name,
        stdout=stdout,
        stderr=stderr,
    )


def _lost(host: Host) -> UnreachableError:
    return UnreachableError(
        f"{host.name}: the connection broke while a command was running; it may or may not have done its work",
        remedy="look at the host again; it may be rebooting",
        host=host.name,
    )


def _check_sudo(host: Host, endpoint: Endpoint, exit_status: int, stderr: str) -> None:
    """Raise PermanentError when sudo, not the command, said no."""
    if exit_status in (1, 127) and _SUDO_REFUSES.search(stderr):
        reason = next(line for line in stderr.splitlines() if _SUDO_REFUSES.match(line))
    elif exit_status == 127 and _NO_SUDO.search(stderr):
        reason = "sudo is not installed there"
    else:
        return
    raise PermanentError(
        f"{host.name}: this needs root, and {endpoint.user} may not use sudo without a password ({reason.strip()})",
        remedy=f"on {host.name} run `echo '{endpoint.user} ALL=(ALL) NOPASSWD: ALL' | sudo tee "
        f"/etc/sudoers.d/relaunch`, or let the bot log in as root",
        host=host.name,
    )
