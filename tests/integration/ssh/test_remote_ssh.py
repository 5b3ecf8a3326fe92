"""SshRemote against OpenSSH: what only a real server shows."""

import contextlib
import shlex
import shutil
import socket
import subprocess
import threading
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bot.core.domain.host import Host
from bot.core.domain.shell import ShellCommand, shell
from bot.errors import (
    AuthenticationError,
    BadInputError,
    CommandTimeoutError,
    HostKeyError,
    PermanentError,
    UnreachableError,
)
from tests.rig import needs
from tests.rig.processes import is_running
from tests.rig.sshd import Sshd, free_port, make_key

pytestmark = pytest.mark.sshd

SshdFactory = Callable[..., Sshd]


class TestHostKeys:
    def test_an_unknown_key_is_refused_with_fingerprint_and_remedy(self, sshd: Sshd) -> None:
        remote = sshd.remote(trusted=False)

        with pytest.raises(HostKeyError) as caught:
            remote.run(sshd.host(), shell("true"))

        shown = subprocess.run(
            ["ssh-keygen", "-lf", str(sshd.host_key)], capture_output=True, text=True, check=True
        ).stdout.split()[1]
        assert caught.value.fingerprint == shown
        assert shown in caught.value.message
        assert not caught.value.changed
        assert "relaunch hosts trust gpu1" in caught.value.remedy

    def test_a_trusted_key_is_accepted_from_then_on(self, sshd: Sshd) -> None:
        remote = sshd.remote(trusted=False)

        remote.trust(sshd.host(), remote.fingerprint(sshd.host()))

        assert remote.run(sshd.host(), shell("echo", "in")).stdout == "in\n"

    def test_a_changed_key_is_refused_until_it_is_trusted_anew(self, sshd: Sshd) -> None:
        remote = sshd.remote()
        sshd.stop()
        for suffix in ("", ".pub"):
            Path(f"{sshd.host_key}{suffix}").unlink()
        make_key(sshd.host_key)
        sshd.start()

        with pytest.raises(HostKeyError) as caught:
            remote.run(sshd.host(), shell("true"))
        assert caught.value.changed
        assert "CHANGED" in caught.value.message

        remote.trust(sshd.host(), remote.fingerprint(sshd.host()))
        assert remote.run(sshd.host(), shell("true")).ok

    def test_another_type_of_key_than_the_pinned_one_is_a_changed_key(self, sshd: Sshd) -> None:
        kind, blob = make_key(sshd.folder / "other", "ecdsa").with_suffix(".pub").read_text().split()[:2]
        remote = sshd.remote(trusted=False, user_known_hosts=f"[127.0.0.1]:{sshd.port} {kind} {blob}\n")

        with pytest.raises(HostKeyError) as caught:
            remote.run(sshd.host(), shell("true"))

        assert caught.value.changed

    def test_the_type_of_key_that_is_known_is_asked_for(self, sshd_factory: SshdFactory, tmp_path: Path) -> None:
        rsa = make_key(tmp_path / "rsa_key", "rsa")
        sshd = sshd_factory([f"HostKey {rsa}"])
        kind, blob = rsa.with_suffix(".pub").read_text().split()[:2]
        remote = sshd.remote(trusted=False, user_known_hosts=f"[127.0.0.1]:{sshd.port} {kind} {blob}\n")

        assert remote.run(sshd.host(), shell("true")).ok

    def test_the_users_known_hosts_are_read_hashed_or_not_and_never_written(self, sshd: Sshd) -> None:
        known = sshd.folder / "hashed"
        known.write_text(sshd.known_hosts_line)
        subprocess.run(["ssh-keygen", "-q", "-H", "-f", str(known)], check=True, capture_output=True)
        remote = sshd.remote(trusted=False, user_known_hosts=known.read_text())

        assert remote.run(sshd.host(), shell("true")).ok
        assert (sshd.folder / "known0").read_text() == known.read_text()
        assert not (sshd.folder / "pins0").exists()

    def test_a_revoked_key_is_refused_though_pinned(self, sshd: Sshd) -> None:
        remote = sshd.remote(user_known_hosts=f"@revoked * {sshd.known_hosts_line.split(' ', 1)[1]}")

        with pytest.raises(HostKeyError, match="REVOKED"):
            remote.run(sshd.host(), shell("true"))


class TestKeys:
    @pytest.mark.parametrize("kind", ["ed25519", "rsa", "ecdsa"])
    def test_each_type_of_key_logs_in(self, sshd: Sshd, kind: str) -> None:
        key = make_key(sshd.folder / f"id_{kind}_2", kind)
        (sshd.folder / "authorized_keys").write_text(key.with_suffix(".pub").read_text())

        assert sshd.remote().run(sshd.host(identity_file=str(key)), shell("true")).ok

    def test_a_refused_key_is_named_with_the_remedy(self, sshd: Sshd) -> None:
        key = make_key(sshd.folder / "stranger")

        with pytest.raises(AuthenticationError) as caught:
            sshd.remote().run(sshd.host(identity_file=str(key)), shell("true"))

        assert str(key) in caught.value.message
        assert f"ssh-copy-id -p {sshd.port} {sshd.user}@127.0.0.1" in caught.value.remedy

    def test_a_key_with_a_passphrase_is_said(self, sshd: Sshd) -> None:
        key = make_key(sshd.folder / "locked", passphrase="secret words")

        with pytest.raises(AuthenticationError, match="needs a passphrase") as caught:
            sshd.remote().run(sshd.host(identity_file=str(key)), shell("true"))

        assert "ssh-add" in caught.value.remedy

    def test_no_key_at_all_is_said(self, sshd: Sshd) -> None:
        with pytest.raises(AuthenticationError, match="no key was found"):
            sshd.remote().run(sshd.host(identity_file=None), shell("true"))

    def test_a_missing_key_file_is_said(self, sshd: Sshd) -> None:
        with pytest.raises(AuthenticationError, match="no such file"):
            sshd.remote().run(sshd.host(identity_file="/nonexistent/id"), shell("true"))

    def test_the_usual_keys_are_tried(self, sshd: Sshd) -> None:
        remote = sshd.remote(identities=[make_key(sshd.folder / "wrong"), sshd.client_key])

        assert remote.run(sshd.host(identity_file=None), shell("true")).ok

    def test_an_encrypted_key_in_the_agent_works(self, sshd: Sshd, monkeypatch: pytest.MonkeyPatch) -> None:
        agent = needs.program("ssh-agent")
        lines = subprocess.run([agent, "-s"], capture_output=True, text=True, check=True).stdout
        values = dict(part.split("=", 1) for part in lines.replace(";", "\n").split() if "=" in part)
        for name, value in values.items():
            monkeypatch.setenv(name, value)
        try:
            subprocess.run(["ssh-add", "-q", str(sshd.client_key)], check=True, capture_output=True)
            subprocess.run(
                ["ssh-keygen", "-q", "-p", "-f", str(sshd.client_key), "-N", "secret words"],
                check=True,
                capture_output=True,
            )
            assert sshd.remote(use_agent=True).run(sshd.host(), shell("true")).ok
            assert sshd.remote(use_agent=True).run(sshd.host(identity_file=None), shell("true")).ok
        finally:
            subprocess.run([agent, "-k"], capture_output=True, check=True)

    def test_a_server_that_wants_a_password_is_said(self, sshd_factory: SshdFactory) -> None:
        sshd = sshd_factory(["PubkeyAuthentication no", "KbdInteractiveAuthentication yes"])

        with pytest.raises(AuthenticationError):
            sshd.remote().run(sshd.host(), shell("true"))


class TestConnection:
    def test_commands_share_one_connection(self, sshd: Sshd) -> None:
        remote = sshd.remote()
        ports = {remote.run(sshd.host(), ShellCommand(text="echo $SSH_CONNECTION")).stdout for _ in range(5)}

        assert len(ports) == 1

    def test_threads_that_come_first_share_one_connection(self, sshd: Sshd) -> None:
        remote = sshd.remote()
        ports: list[str] = []
        threads = [
            threading.Thread(
                target=lambda: ports.append(remote.run(sshd.host(), ShellCommand(text="echo $SSH_CONNECTION")).stdout)
            )
            for _ in range(12)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(ports) == 12
        assert len(set(ports)) == 1

    def test_a_dead_connection_is_replaced(self, sshd: Sshd) -> None:
        remote = sshd.remote()
        remote.run(sshd.host(), shell("true"))

        sshd.kill_sessions()

        assert remote.run(sshd.host(), shell("echo", "back")).stdout == "back\n"

    def test_a_command_cut_off_in_the_middle_is_not_run_again(self, sshd: Sshd, tmp_path: Path) -> None:
        remote = sshd.remote()
        remote.run(sshd.host(), shell("true"))
        runs, gate = tmp_path / "runs", tmp_path / "gate"
        subprocess.run(["mkfifo", str(gate)], check=True)

        def kill() -> None:
            gate.read_text()
            sshd.kill_sessions()

        killer = threading.Thread(target=kill)
        killer.start()

        with pytest.raises(UnreachableError, match="may or may not have"):
            remote.run(sshd.host(), ShellCommand(text=f"echo ran >>{runs}; echo >{gate}; sleep 60"))

        killer.join()
        assert runs.read_text() == "ran\n"

    def test_many_short_commands_from_many_threads_never_break_the_connection(self, sshd: Sshd) -> None:
        remote = sshd.remote()
        commands = [
            shell("true"),
            ShellCommand(text="exit 0\n# a script"),
            ShellCommand(text="exit 0 # reads nothing of it", stdin=b"unread\n" * 1000),
            ShellCommand(text="read -r line", stdin=b"line\n"),
        ]
        with ThreadPoolExecutor(8) as threads:
            results = list(threads.map(lambda n: remote.run(sshd.host(), commands[n % 4]), range(400)))

        assert all(result.ok for result in results)
        assert "Disconnecting" not in sshd.log.read_text()

    def test_a_closed_port_says_so(self, sshd: Sshd) -> None:
        with pytest.raises(UnreachableError, match="refuses the connection"):
            sshd.remote().run(sshd.host(port=free_port()), shell("true"))

    def test_a_name_that_does_not_resolve_says_so(self, sshd: Sshd) -> None:
        with pytest.raises(UnreachableError, match="does not resolve"):
            sshd.remote().run(sshd.host(address="no-such-host.invalid"), shell("true"))

    def test_a_server_that_stays_silent_is_given_up(self, sshd: Sshd) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            port = silent.getsockname()[1]
            with pytest.raises(UnreachableError, match="no SSH server answers"):
                sshd.remote(connect_timeout_s=1).run(sshd.host(port=port), shell("true"))

    def test_a_failure_reaches_all_who_wait_and_is_not_kept(self, sshd: Sshd) -> None:
        remote = sshd.remote()
        sshd.stop()
        failures: list[Exception] = []

        def work() -> None:
            try:
                remote.run(sshd.host(), shell("true"))
            except UnreachableError as error:
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(failures) == 6

        sshd.start()
        assert remote.run(sshd.host(), shell("true")).ok

    def test_a_server_without_gcm_works(self, sshd_factory: SshdFactory) -> None:
        sshd = sshd_factory(["Ciphers aes256-ctr"])

        assert sshd.remote().run(sshd.host(), shell("true")).ok

    def test_after_close_nothing_is_left_on_the_server(self, sshd: Sshd) -> None:
        remote = sshd.remote()
        remote.run(sshd.host(), shell("true"))
        served = sshd.sessions()

        remote.close()

        assert served
        with pytest.raises(UnreachableError, match="shutting down"):
            remote.run(sshd.host(), shell("true"))


class TestSessions:
    @pytest.mark.parametrize("limit", [1, 3, 10])
    def test_more_commands_than_the_server_allows_at_once_are_queued(
        self, sshd_factory: SshdFactory, limit: int
    ) -> None:
        sshd = sshd_factory([f"MaxSessions {limit}"])
        remote = sshd.remote()
        outputs: list[str] = []
        threads = [
            threading.Thread(
                target=lambda n=n: outputs.append(
                    remote.run(sshd.host(), ShellCommand(text=f"sleep 0.05; echo {n}")).stdout
                )
            )
            for n in range(20)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert sorted(outputs) == sorted(f"{n}\n" for n in range(20))

    def test_many_streams_leave_room_for_commands(self, sshd: Sshd) -> None:
        remote = sshd.remote()
        with contextlib.ExitStack() as stack:
            for _ in range(7):
                chunks = stack.enter_context(
                    remote.stream(sshd.host(), ShellCommand(text="echo on; sleep 60; true", timeout_s=60))
                )
                assert next(chunks) == b"on\n"
            assert remote.run(sshd.host(), shell("echo", "room", timeout_s=10)).stdout == "room\n"

    def test_a_command_that_finds_no_free_slot_says_that_it_was_not_started(self, sshd_factory: SshdFactory) -> None:
        sshd = sshd_factory(["MaxSessions 1"])
        remote = sshd.remote()
        held = threading.Event()
        release = threading.Event()

        def hold() -> None:
            with remote.stream(sshd.host(), ShellCommand(text="echo on; sleep 60; true", timeout_s=60)) as chunks:
                next(chunks)
                held.set()
                release.wait(30)

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait(10)
        try:
            with pytest.raises(CommandTimeoutError, match="not started"):
                remote.run(sshd.host(), shell("true", timeout_s=0.5))
        finally:
            release.set()
            thread.join()

    def test_100_mb_of_output_are_drained_and_counted(self, sshd: Sshd) -> None:
        result = sshd.remote().run(
            sshd.host(), ShellCommand(text="head -c 100000000 /dev/zero; echo e >&2", output_limit_bytes=1000)
        )

        assert (len(result.stdout), result.dropped_bytes, result.stderr, result.exit_status) == (
            1000,
            99_999_000,
            "e\n",
            0,
        )

    def test_large_input_and_output_at_once_do_not_lock_up(self, sshd: Sshd) -> None:
        data = b"0123456789abcdef" * 500_000

        result = sshd.remote().run(
            sshd.host(), ShellCommand(text="cat", stdin=data, output_limit_bytes=len(data), timeout_s=60)
        )

        assert result.stdout.encode() == data

    def test_input_that_nobody_reads_does_no_harm(self, sshd: Sshd) -> None:
        result = sshd.remote().run(sshd.host(), ShellCommand(text="echo done", stdin=b"x" * 5_000_000))

        assert (result.exit_status, result.stdout) == (0, "done\n")

    def test_a_background_process_does_not_hold_the_command(self, sshd: Sshd, tmp_path: Path) -> None:
        pid_file = tmp_path / "pid"

        result = sshd.remote().run(
            sshd.host(), ShellCommand(text=f"sleep 60 & echo $! >{pid_file}; echo started", timeout_s=20)
        )

        pid = int(pid_file.read_text())
        assert (result.stdout, result.exit_status) == ("started\n", 0)
        assert is_running(pid)
        subprocess.run(["kill", str(pid)], check=True)

    def test_a_signals_victim_has_status_minus_one(self, sshd: Sshd) -> None:
        assert sshd.remote().run(sshd.host(), ShellCommand(text="kill -9 $$")).exit_status == -1

    def test_a_script_of_200_kb_runs(self, sshd: Sshd) -> None:
        text = "\n".join(f": 'line {n} of a long script with some words in it'" for n in range(4000)) + "\necho end"

        assert sshd.remote().run(sshd.host(), ShellCommand(text=text)).stdout == "end\n"

    @pytest.mark.parametrize("login_shell", ["bash", "dash", "zsh", "fish", "tcsh", "csh", "ksh"])
    def test_the_login_shell_does_not_matter(self, sshd_factory: SshdFactory, login_shell: str) -> None:
        if shutil.which(login_shell) is None:
            pytest.skip(f"{login_shell} is not installed")
        # the account's shell stays as it is; a forced command hands the line to another one, as sshd would
        sshd = sshd_factory([f'ForceCommand exec {login_shell} -c "$SSH_ORIGINAL_COMMAND"'])
        remote = sshd.remote()
        words = ("a'b", 'c"d', "$e", "`f`", "!g", "\\h\\\\i", "j\nk", "%l", "{m,n}", "*", "~", "ö", ";#&|<>()[]^=@")
        text = f'set -- {shlex.join(words)}\nfor w in "$@"; do printf \'<%s>\' "$w"; done'
        wanted = "".join(f"<{w}>" for w in words)

        assert remote.run(sshd.host(), ShellCommand(text=text)).stdout == wanted
        assert remote.run(sshd.host(), ShellCommand(text=f"{text}; cat", stdin=b"in!\n")).stdout == f"{wanted}in!\n"
        assert remote.run(sshd.host(), ShellCommand(text="echo $((1+2)) >&2; exit 5")).stderr == "3\n"


class TestForward:
    def test_http_goes_through_and_everything_ends(self, sshd: Sshd, tmp_path: Path) -> None:
        (tmp_path / "page").write_text("hello")
        port = free_port()
        remote = sshd.remote()
        command = ShellCommand(
            text=f"cd {tmp_path} && exec python3 -u -m http.server --bind 127.0.0.1 {port}", timeout_s=60
        )
        before = threading.active_count()
        with remote.stream(sshd.host(), command) as chunks:
            assert b"Serving" in next(chunks)
            with remote.forward(sshd.host(), port) as local:
                for _ in range(3):
                    with urllib.request.urlopen(f"http://127.0.0.1:{local}/page", timeout=10) as answer:
                        assert answer.read() == b"hello"
                idle = socket.create_connection(("127.0.0.1", local), 10)
            assert _is_closed(idle)
            idle.close()
            with pytest.raises(OSError, match="refused"):
                socket.create_connection(("127.0.0.1", local), 1)
        remote.close()
        for thread in threading.enumerate():
            if thread.name.startswith("forward-"):
                thread.join(5)
        assert threading.active_count() <= before

    def test_forbidden_forwarding_closes_the_connection(self, sshd_factory: SshdFactory) -> None:
        sshd = sshd_factory(["AllowTcpForwarding no"])
        with (
            sshd.remote().forward(sshd.host(), 1) as local,
            socket.create_connection(("127.0.0.1", local), 10) as sock,
        ):
            assert _is_closed(sock)

    def test_an_unreachable_host_is_said_at_once(self, sshd: Sshd) -> None:
        with pytest.raises(UnreachableError), sshd.remote().forward(sshd.host(port=free_port()), 80):
            pass


class TestJumpHosts:
    def test_proxy_jump_passes_through_other_hosts(self, sshd_factory: SshdFactory) -> None:
        first, second, target = (sshd_factory(name=name) for name in ("first", "second", "target"))
        config = _config(first, second, target) + "Host target\n  ProxyJump first,second\n"
        remote = target.remote(config=config, user_known_hosts=first.known_hosts_line + second.known_hosts_line)

        assert remote.run(Host(name="target", address="target"), shell("echo", "there")).stdout == "there\n"
        assert first.sessions()
        assert second.sessions()

    def test_via_of_the_inventory_wins_over_the_config(self, sshd_factory: SshdFactory) -> None:
        jump, target = sshd_factory(name="jump"), sshd_factory(name="target")
        config = _config(jump, target) + "Host target\n  ProxyJump nowhere.invalid\n"
        remote = target.remote(config=config, user_known_hosts=jump.known_hosts_line)

        assert remote.run(target.host(via="jump"), shell("true")).ok
        assert jump.sessions()

    def test_an_unknown_jump_host_is_named(self, sshd_factory: SshdFactory) -> None:
        jump, target = sshd_factory(name="jump"), sshd_factory(name="target")
        remote = target.remote(config=_config(jump, target))

        with pytest.raises(HostKeyError) as caught:
            remote.run(target.host(via="jump"), shell("true"))

        assert caught.value.host == "jump"
        assert "relaunch hosts trust jump" in caught.value.remedy

    def test_a_target_that_is_down_is_told_apart_from_its_jump_host(self, sshd_factory: SshdFactory) -> None:
        jump, target = sshd_factory(name="jump"), sshd_factory(name="target")
        remote = target.remote(config=_config(jump, target), user_known_hosts=jump.known_hosts_line)
        target.stop()

        with pytest.raises(UnreachableError) as caught:
            remote.run(target.host(via="jump"), shell("true"))

        assert caught.value.host == "target"
        assert "from jump" in caught.value.message

    def test_a_dead_jump_connection_is_replaced(self, sshd_factory: SshdFactory) -> None:
        jump, target = sshd_factory(name="jump"), sshd_factory(name="target")
        remote = target.remote(config=_config(jump, target), user_known_hosts=jump.known_hosts_line)
        remote.run(target.host(via="jump"), shell("true"))

        jump.kill_sessions()

        assert remote.run(target.host(via="jump"), shell("true")).ok

    def test_jump_hosts_in_a_circle_are_refused(self, sshd: Sshd) -> None:
        remote = sshd.remote(config="Host a\n  ProxyJump b\nHost b\n  ProxyJump a\n")

        with pytest.raises(PermanentError, match="circle"):
            remote.run(sshd.host(via="a"), shell("true"))

    def test_proxy_command_carries_the_connection(self, sshd: Sshd) -> None:
        relay = (
            "import os,socket,sys,threading\n"
            "s=socket.create_connection(('127.0.0.1',int(sys.argv[1])))\n"
            "def back():\n"
            "  while d:=s.recv(65536): os.write(1,d)\n"
            "  os._exit(0)\n"
            "threading.Thread(target=back).start()\n"
            "while d:=os.read(0,65536): s.sendall(d)\n"
            "s.shutdown(1)\n"
        )
        (sshd.folder / "relay.py").write_text(relay)
        config = f"Host gpu1\n  ProxyCommand {shutil.which('python3')} {sshd.folder}/relay.py %p 2>/dev/null\n"
        remote = sshd.remote(trusted=False, config=f"{config}  HostKeyAlias gpu1\n", user_known_hosts=_alias(sshd))
        host = sshd.host(address="gpu1")

        assert remote.run(host, ShellCommand(text="head -c 3000000 /dev/zero", output_limit_bytes=10)).ok

    def test_a_proxy_command_that_fails_is_quoted(self, sshd: Sshd) -> None:
        remote = sshd.remote(config="Host gpu1\n  ProxyCommand echo no route here >&2; exit 1\n")

        with pytest.raises(UnreachableError, match="no route here"):
            remote.run(sshd.host(address="gpu1"), shell("true"))


class TestConfig:
    def test_alias_wildcards_and_include(self, sshd: Sshd) -> None:
        (sshd.folder / "more").mkdir()
        (sshd.folder / "more" / "a.conf").write_text(
            f"Host ct*\n  HostName 127.0.0.1\n  Port {sshd.port}\n  IdentityFile {sshd.client_key}\n"
        )
        remote = sshd.remote(config=f"Include more/*.conf\nHost *\n  User {sshd.user}\n  Port 1\n")

        assert remote.run(Host(name="ct129", address="ct129"), shell("true")).ok

    def test_a_changed_config_is_read_again(self, sshd: Sshd) -> None:
        remote = sshd.remote(config="Host ct1\n  HostName 127.0.0.1\n  Port 1\n")
        host = sshd.host(address="ct1", port=None)
        with pytest.raises(UnreachableError):
            remote.run(host, shell("true"))

        (sshd.folder / "config0").write_text(f"Host ct1\n  HostName 127.0.0.1\n  Port {sshd.port}\n")

        assert remote.run(host, shell("true")).ok

    @pytest.mark.parametrize("changes", [{"address": "x;touch /tmp/y"}, {"user": "a\nProxyCommand id"}, {"via": "-oX"}])
    def test_addresses_and_users_that_could_reach_a_shell_are_refused(
        self, sshd: Sshd, changes: dict[str, str]
    ) -> None:
        with pytest.raises(BadInputError, match="no user and address"):
            sshd.remote().run(sshd.host(**changes), shell("true"))

    def test_a_broken_config_is_named(self, sshd: Sshd) -> None:
        remote = sshd.remote(config="Host a\n  Port many\n")

        with pytest.raises(BadInputError, match="config0"):
            remote.run(sshd.host(address="a", port=None), shell("true"))


def _is_closed(sock: socket.socket) -> bool:
    try:
        return sock.recv(1) == b""
    except ConnectionResetError:
        return True


def _config(*servers: Sshd) -> str:
    return "".join(
        f"Host {s.name}\n  HostName 127.0.0.1\n  Port {s.port}\n  User {s.user}\n  IdentityFile {s.client_key}\n"
        for s in servers
    )


def _alias(sshd: Sshd) -> str:
    return f"gpu1 {sshd.known_hosts_line.split(' ', 1)[1]}"
