"""What every Remote does: the same tests over the fake that other tests use and over SSH."""

import socket
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.core.domain.host import Host
from bot.core.domain.shell import ShellCommand, shell
from bot.errors import CommandTimeoutError, HostKeyError, UnreachableError
from bot.workflows.ports import Remote
from tests.fakes.remote import FakeRemote
from tests.rig.processes import is_running
from tests.rig.sshd import free_port


@pytest.fixture(params=["fake", pytest.param("ssh", marks=pytest.mark.sshd)])
def remote_and_host(request: pytest.FixtureRequest) -> tuple[Remote, Host]:
    """A Remote and a host that it reaches."""
    if request.param == "fake":
        return FakeRemote(), Host(name="gpu1", address="gpu1")
    sshd = request.getfixturevalue("sshd")
    return sshd.remote(), sshd.host()


@pytest.fixture
def remote(remote_and_host: tuple[Remote, Host]) -> Remote:
    return remote_and_host[0]


@pytest.fixture
def host(remote_and_host: tuple[Remote, Host]) -> Host:
    return remote_and_host[1]


def test_gives_status_output_and_errors(remote: Remote, host: Host) -> None:
    result = remote.run(host, ShellCommand(text="echo out; echo err >&2; exit 3"))

    assert (result.exit_status, result.stdout, result.stderr, result.ok) == (3, "out\n", "err\n", False)


@pytest.mark.parametrize(
    "word",
    ["plain", "two words", "it's", 'say "hi"', "$HOME `id` \\n !x", "a\nb", "grüße 東京", "", "*", "~", "-n", "#"],
)
def test_words_arrive_as_they_are(remote: Remote, host: Host, word: str) -> None:
    assert remote.run(host, shell("printf", "%s", word)).stdout == word


def test_standard_input_reaches_the_command_and_ends(remote: Remote, host: Host) -> None:
    command = ShellCommand(text="read -r first; echo \"got '$first'\"; wc -c", stdin=b"one\n" + b"x" * 100_000)

    assert remote.run(host, command).stdout.split() == ["got", "'one'", "100000"]


def test_a_command_without_input_sees_its_end_at_once(remote: Remote, host: Host) -> None:
    assert remote.run(host, ShellCommand(text="cat\necho 'done!'", timeout_s=10)).stdout == "done!\n"


def test_bad_utf8_is_replaced(remote: Remote, host: Host) -> None:
    assert remote.run(host, ShellCommand(text="printf 'a\\377b'")).stdout == "a�b"


def test_output_beyond_the_limit_is_dropped_and_counted(remote: Remote, host: Host) -> None:
    result = remote.run(host, ShellCommand(text="head -c 5000 /dev/zero; exit 4", output_limit_bytes=1000))

    assert (len(result.stdout), result.dropped_bytes, result.exit_status) == (1000, 4000, 4)


def test_a_hanging_command_is_ended_and_its_output_kept(remote: Remote, host: Host, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    command = ShellCommand(text=f"echo half; sh -c 'echo $$ >{pid_file}; sleep 600'; true", timeout_s=1)

    with pytest.raises(CommandTimeoutError) as caught:
        remote.run(host, command)

    assert caught.value.stdout == "half\n"
    assert caught.value.host == "gpu1"
    assert not is_running(int(pid_file.read_text()))


def test_a_stream_gives_chunks_as_they_come(remote: Remote, host: Host, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    command = ShellCommand(text=f"mkfifo {gate}; echo first; cat {gate}; echo last")

    with remote.stream(host, command) as chunks:
        assert next(chunks) == b"first\n"
        gate.write_text("middle\n")
        assert b"".join(chunks) == b"middle\nlast\n"


def test_leaving_a_stream_ends_its_command(remote: Remote, host: Host) -> None:
    with remote.stream(host, ShellCommand(text="echo $$; sleep 600; true")) as chunks:
        pid = int(next(chunks))
        assert is_running(pid)

    assert not is_running(pid)


def test_a_stream_ends_at_its_time_limit(remote: Remote, host: Host) -> None:
    with (
        pytest.raises(CommandTimeoutError),
        remote.stream(host, ShellCommand(text="echo one; sleep 600", timeout_s=1)) as chunks,
    ):
        list(chunks)


@pytest.fixture
def echo_port() -> Iterator[int]:
    """A loopback server that answers with what it got, in capitals."""

    class Echo(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(self.rfile.read().upper())

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Echo) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def test_a_forward_carries_both_ways_and_half_closes(remote: Remote, host: Host, echo_port: int) -> None:
    payload = b"abc" * 300_000
    with remote.forward(host, echo_port) as port, socket.create_connection(("127.0.0.1", port), 10) as sock:

        def send() -> None:
            sock.sendall(payload)
            sock.shutdown(socket.SHUT_WR)

        sender = threading.Thread(target=send)
        sender.start()
        assert _read_all(sock) == payload.upper()
        sender.join()


def test_a_forward_to_a_closed_port_is_closed_at_once(remote: Remote, host: Host) -> None:
    with remote.forward(host, free_port()) as port:
        try:
            with socket.create_connection(("127.0.0.1", port), 10) as sock:
                assert sock.recv(1) == b""
        except ConnectionError:
            pass  # refused or reset: closed as well


def test_several_threads_share_a_host(remote: Remote, host: Host) -> None:
    outputs: dict[int, str] = {}

    def work(number: int) -> None:
        outputs[number] = remote.run(host, shell("echo", str(number))).stdout

    threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert outputs == {n: f"{n}\n" for n in range(16)}


def test_trust_needs_the_fingerprint_that_is_shown(remote: Remote, host: Host) -> None:
    shown = remote.fingerprint(host)

    remote.trust(host, shown)
    with pytest.raises(HostKeyError):
        remote.trust(host, "SHA256:" + "A" * 43)


def test_an_unreachable_host_is_an_error_that_names_it(remote_and_host: tuple[Any, Host]) -> None:
    remote, host = remote_and_host
    if isinstance(remote, FakeRemote):
        remote.unreachable.add("gpu9")
    away = Host(name="gpu9", address="127.0.0.1", port=free_port(), user=host.user)

    with pytest.raises(UnreachableError) as caught:
        remote.run(away, shell("true"))

    assert caught.value.host == "gpu9"
    assert "gpu9" in caught.value.message
    assert caught.value.remedy


def _read_all(sock: socket.socket) -> bytes:
    data = bytearray()
    while chunk := sock.recv(65536):
        data += chunk
    return bytes(data)
