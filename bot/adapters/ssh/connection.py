"""One kept SSH connection: opened with what makes paramiko quick, its host key verified, its channels counted."""

import contextlib
import logging
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import paramiko
from paramiko.ssh_exception import IncompatiblePeer

from bot.adapters.ssh.channels import Transport
from bot.adapters.ssh.endpoint import Endpoint
from bot.adapters.ssh.host_keys import HostKey, HostKeys, Standing
from bot.adapters.ssh.identities import Identities, Tried
from bot.adapters.ssh.sockets import CommandSocket, Stream
from bot.errors import (
    AuthenticationError,
    CommandTimeoutError,
    HostKeyError,
    PermanentError,
    RelaunchError,
    UnreachableError,
)

#: sshd allows 10 sessions per connection by default (MaxSessions); people's own logins are other connections
MAX_SESSIONS = 8
#: sessions that long streams may hold of these
MAX_STREAMS = 5
_KEEPALIVE_S = 15
_SPARE_TIMEOUT_S = 3.0
#: time that a host may take to notice that a session of ours has ended
_CLEAR_UP_S = 2.0
_RISE_AFTER = 20
#: the reader thread wakes at once when its socket closes
_JOIN_S = 2.0
_MLKEM = "mlkem768x25519-sha256"


class NotStartedError(Exception):
    """The connection turned out dead before anything was asked of it: nothing ran, so trying again is safe."""


if "_active_check_timeout" not in vars(paramiko.Transport):
    logging.getLogger(__name__).warning("this paramiko polls its sockets in another way: idle connections cost more")


class Connection:
    """An authenticated connection. Threads share it; sessions queue for free slots."""

    def __init__(self, endpoint: Endpoint, transport: Transport, stream: Stream) -> None:
        self.endpoint = endpoint
        self.transport = transport
        self._stream = stream
        self._slots = threading.Condition()
        self._limit = MAX_SESSIONS
        #: sessions that are open or being opened, and those that are open
        self._sessions = 0
        self._open = 0
        self._since_refusal = 0
        self._streams = 0

    @property
    def alive(self) -> bool:
        """Whether the connection is not known to be dead."""
        return self.transport.is_active()

    def close(self) -> None:
        """End the connection and everything on it."""
        end(self.transport, self._stream)

    @contextlib.contextmanager
    def session(self, timeout_s: float, open_timeout_s: float) -> Iterator[paramiko.Channel]:
        """A session channel, waiting for a free slot up to `timeout_s`.

        Raises NotStartedError when the connection is dead, CommandTimeoutError when no slot came free."""
        channel = self._open_session(timeout_s, open_timeout_s)
        try:
            yield channel
        finally:
            channel.close()
            self._give_slot(opened=True)

    @contextlib.contextmanager
    def spare_session(self) -> Iterator[paramiko.Channel]:
        """A session beyond our own limit, for ending a command that holds a slot."""
        try:
            channel = self.transport.open_channel("session", timeout=_SPARE_TIMEOUT_S)
        except (paramiko.SSHException, EOFError, OSError) as error:
            raise NotStartedError(str(error)) from error
        with contextlib.closing(channel):
            yield channel

    @contextlib.contextmanager
    def stream_slot(self) -> Iterator[bool]:
        """Whether one more long stream may use this connection without starving short commands."""
        with self._slots:
            granted = self._streams < min(MAX_STREAMS, self._limit - 3)
            self._streams += granted
        try:
            yield granted
        finally:
            with self._slots:
                self._streams -= granted

    def direct(self, address: str, port: int, timeout_s: float) -> paramiko.Channel:
        """A channel to address:port as seen from the host.

        Raises NotStartedError on a dead connection, PermanentError where forwarding is forbidden, UnreachableError."""
        try:
            return self.transport.open_channel("direct-tcpip", (address, port), ("127.0.0.1", 0), timeout=timeout_s)
        except paramiko.ChannelException as error:
            if error.code == 1:
                raise PermanentError(
                    f"{self.endpoint.name}: its sshd forbids forwarding",
                    remedy="set AllowTcpForwarding yes in /etc/ssh/sshd_config there and reload sshd",
                    host=self.endpoint.name,
                ) from error
            raise UnreachableError(
                f"{address} port {port} cannot be reached from {self.endpoint.name}: {error.text}",
                remedy=f"is it up, and does it listen there? Try it on {self.endpoint.name}",
                host=self.endpoint.name,
            ) from error
        except (paramiko.SSHException, EOFError, OSError) as error:
            raise NotStartedError(str(error)) from error

    def _take_slot(self, timeout_s: float) -> None:
        with self._slots:
            if not self._slots.wait_for(lambda: self._sessions < self._limit, max(0.0, timeout_s)):
                raise CommandTimeoutError(
                    f"{self.endpoint.name}: {self._open} commands are running there and none ended in time; "
                    "this one was not started",
                    remedy="try again; if it stays so, the host hangs, or its sshd allows few sessions (MaxSessions)",
                    host=self.endpoint.name,
                )
            self._sessions += 1

    def _give_slot(self, *, opened: bool) -> None:
        with self._slots:
            self._sessions -= 1
            self._open -= opened
            self._slots.notify_all()

    def _open_session(self, timeout_s: float, open_timeout_s: float) -> paramiko.Channel:
        """A session in a free slot. A host that refuses one teaches us its limit."""
        deadline = time.monotonic() + timeout_s
        refused_alone_since: float | None = None
        while True:
            self._take_slot(deadline - time.monotonic())
            channel = None
            try:
                channel = self.transport.open_channel("session", timeout=open_timeout_s)
                self._opened()
                return channel
            except (paramiko.SSHException, EOFError, OSError) as error:
                refused = isinstance(error, paramiko.ChannelException) or "Unable to open channel" in str(error)
                if not refused or not self.alive:
                    raise NotStartedError(str(error)) from error
                reason = error
            finally:
                if channel is None:
                    self._give_slot(opened=False)
            now = time.monotonic()
            if self._learn_limit() > 0:
                refused_alone_since = None
                continue
            # the host may still be clearing up after our last session
            refused_alone_since = refused_alone_since or now
            if now - refused_alone_since > _CLEAR_UP_S:
                raise PermanentError(
                    f"{self.endpoint.name}: its sshd opens no session ({reason})",
                    remedy="is MaxSessions 0 in /etc/ssh/sshd_config, or is the account restricted?",
                    host=self.endpoint.name,
                ) from reason

    def _opened(self) -> None:
        """Count an open session. A limit learned while the host was only slow to clear up rises again, step by step."""
        with self._slots:
            self._open += 1
            self._since_refusal += 1
            if self._since_refusal % _RISE_AFTER == 0 and self._limit < MAX_SESSIONS:
                self._limit += 1
                self._slots.notify_all()

    def _learn_limit(self) -> int:
        """After a refusal: no more sessions than are open now. Gives their number; where it is 0, waits a moment."""
        with self._slots:
            found = self._open
            self._since_refusal = 0
            if found:
                self._limit = min(self._limit, found)
            else:
                self._slots.wait(_CLEAR_UP_S / 40)
            return found


def open_transport(
    endpoint: Endpoint, stream: Stream, *, kinds: tuple[str, ...], timeout_s: float
) -> tuple[Transport, HostKey]:
    """Agree on keys with the host. Host key types named in `kinds` are asked for first. Nobody is logged in yet."""
    transport = None
    try:
        transport = Transport(stream)  # type: ignore[arg-type]  # channels and sockets alike, as paramiko allows
        transport.banner_timeout = timeout_s
        transport.auth_timeout = timeout_s
        transport.handshake_timeout = timeout_s
        options = transport.get_security_options()
        options.ciphers = sorted(options.ciphers, key=lambda name: "gcm" not in name)
        options.kex = sorted(options.kex, key=lambda name: name == _MLKEM)
        options.key_types = sorted(options.key_types, key=lambda name: _plain_kind(name) not in kinds)
        transport.start_client(timeout=timeout_s)
        if not transport.is_active() or not transport.initial_kex_done:
            raise EOFError
        key = transport.get_remote_server_key()
    except (paramiko.SSHException, EOFError, OSError) as error:
        end(transport, stream)
        raise _no_handshake(endpoint, stream, error) from error
    return transport, HostKey(key.get_name(), key.asbytes())


def verify(endpoint: Endpoint, key: HostKey, host_keys: HostKeys) -> None:
    """Raise HostKeyError unless the key is pinned."""
    name = endpoint.host_key_name
    standing, where = host_keys.judge(name, key, [Path(file) for file in endpoint.known_hosts_files])
    if standing is Standing.PINNED:
        return
    shown = f"{key.kind} {key.fingerprint}"
    if standing is Standing.UNKNOWN:
        raise HostKeyError(
            f"{endpoint.name}: its host key is not known yet: {shown}",
            remedy=f"compare it with `ssh-keygen -lf /etc/ssh/ssh_host_*_key.pub` on the host, then "
            f"`relaunch hosts trust {endpoint.name}`",
            host=endpoint.name,
            fingerprint=key.fingerprint,
        )
    what = "IS REVOKED" if standing is Standing.REVOKED else "HAS CHANGED"
    raise HostKeyError(
        f"{endpoint.name}: THE HOST KEY {what}. It shows {shown}, which contradicts {where}. "
        "Someone may be in between, or the host was installed anew. Nothing was sent to it",
        remedy=f"ask whoever runs the host; if it was installed anew, `relaunch hosts trust {endpoint.name}`",
        host=endpoint.name,
        fingerprint=key.fingerprint,
        changed=True,
    )


def log_in(endpoint: Endpoint, transport: Transport, identities: Identities) -> None:
    """Offer our keys. Raises AuthenticationError saying which were tried, PermanentError or UnreachableError."""
    tried = Tried()
    try:
        for label, key in identities.candidates(endpoint, tried):
            tried.offered.append(label)
            if _offer(endpoint, transport, key):
                return
            if not transport.is_active():
                break
        if not tried.offered and _accepts_nobody_in_particular(endpoint, transport):
            return
    except (paramiko.SSHException, EOFError, OSError) as error:
        raise UnreachableError(
            f"{endpoint.name}: the connection broke while logging in: {str(error) or 'closed by the host'}",
            remedy="try again; if it stays so, look at the host's sshd log",
            host=endpoint.name,
        ) from error
    raise _refused(endpoint, tried)


def _offer(endpoint: Endpoint, transport: Transport, key: paramiko.PKey) -> bool:
    try:
        further = transport.auth_publickey(endpoint.user, key)
    except paramiko.BadAuthenticationType as error:
        raise AuthenticationError(
            f"{endpoint.name}: it accepts no keys for {endpoint.user}, only: {', '.join(error.allowed_types)}",
            remedy="set PubkeyAuthentication yes in /etc/ssh/sshd_config there; the bot uses keys only",
            host=endpoint.name,
        ) from error
    except paramiko.AuthenticationException:
        return False
    if further:
        raise AuthenticationError(
            f"{endpoint.name}: after the key it asks {endpoint.user} for {', '.join(further)} as well",
            remedy="give the bot an account that logs in with a key alone",
            host=endpoint.name,
        )
    return True


def _accepts_nobody_in_particular(endpoint: Endpoint, transport: Transport) -> bool:
    """Some servers (Tailscale SSH) know who we are by other means and want no key."""
    try:
        transport.auth_none(endpoint.user)
    except paramiko.AuthenticationException:
        return False
    return transport.is_authenticated()


def _refused(endpoint: Endpoint, tried: Tried) -> AuthenticationError:
    parts = []
    if tried.offered:
        parts.append(f"refused: {', '.join(tried.offered)}")
    if tried.encrypted:
        parts.append(f"needs a passphrase: {', '.join(tried.encrypted)}")
    if tried.unusable:
        parts.append(f"cannot be used: {', '.join(tried.unusable)}")
    place = f"{endpoint.user}@{endpoint.address}"
    if not tried.offered and tried.encrypted:
        remedy = f"`ssh-add {tried.encrypted[0]}` where the bot runs, or give it a key without a passphrase"
    elif not tried.offered:
        remedy = "make a key for the bot with `ssh-keygen -t ed25519` and put it on the host with `ssh-copy-id`"
    else:
        port = "" if endpoint.port == 22 else f"-p {endpoint.port} "
        remedy = f"put the bot's key on the host: `ssh-copy-id {port}{place}`; is {endpoint.user} the right user?"
    return AuthenticationError(
        f"{endpoint.name}: {place} lets none of our keys in ({'; '.join(parts) or 'no key was found'})",
        remedy=remedy,
        host=endpoint.name,
    )


def _no_handshake(endpoint: Endpoint, stream: Stream, error: Exception) -> RelaunchError:
    """Words for a connection that was accepted but is no SSH connection."""
    complaint = stream.complaint() if isinstance(stream, CommandSocket) else ""
    if complaint:
        return UnreachableError(
            f"{endpoint.name}: its ProxyCommand says: {complaint}",
            remedy="try it by hand where the bot runs",
            host=endpoint.name,
        )
    if isinstance(error, IncompatiblePeer):
        return PermanentError(
            f"{endpoint.name}: its sshd and the bot have no algorithm in common: {error}",
            remedy="update the host's sshd, or allow newer algorithms in its sshd_config",
            host=endpoint.name,
        )
    return UnreachableError(
        f"{endpoint.name}: {endpoint.address} port {endpoint.port} takes the connection, but no SSH server answers "
        f"({str(error) or 'it closed the connection or stays silent'})",
        remedy="the host may be frozen, booting or overloaded, or another service listens there; look at its console",
        host=endpoint.name,
    )


def keep_alive(transport: Transport) -> None:
    """Send a sign of life now and then, so that firewalls keep the connection and a dead host is noticed."""
    transport.set_keepalive(_KEEPALIVE_S)


def _plain_kind(algorithm: str) -> str:
    """Key type of a signature algorithm: rsa-sha2-512 signs with an ssh-rsa key."""
    return "ssh-rsa" if algorithm.startswith("rsa-sha2-") else algorithm


def end(transport: Transport | None, stream: Stream) -> None:
    """Close both and wait for the reader thread."""
    if transport is not None:
        transport.close()
    stream.close()
    if transport is not None and transport.is_alive():
        transport.join(_JOIN_S)
