"""Start, state, log, stop and cleanup with real systemd, real processes and real sudo."""

import shlex
from collections.abc import Callable

import pytest

import bot.core.runners
from bot import plugins
from bot.core.domain.catalog import SecretRef
from bot.core.domain.runner import RunState, StartOutcome
from bot.errors import PermanentError
from tests.integration.runners.conftest import RUNNERS
from tests.integration.runners.driver import Driver, script
from tests.rig.host import RigHost

pytestmark = pytest.mark.rig

DriverFor = Callable[[str, str], Driver]

#: prints what the process really got, then stays
SHOW = (
    "import os,sys,time;"
    "print('ARGV',[os.fsencode(a).hex() for a in sys.argv[1:]]);"
    "print('CWD',os.getcwd());"
    "print('UID',os.getuid());"
    "[print('ENV',k,os.fsencode(v).hex()) for k,v in sorted(os.environ.items())];"
    "print('SHOWN',flush=True);"
    "time.sleep(600)"
)
HARD_WORDS = (
    "plain", "two words", "", "it's", 'say "x"', "$HOME", "${HOME}", "$$", "$", "%h", "%%", "100%", "\\", "\\n", "a\\",
    "new\nline", "tab\tend", "bell\x07", "é", "東京", "🚀", ";", "a;b", "&&", "|", "#x", "-", "--", "@x", "!y", "*",
    "~", "{a,b}", "`id`", "$(id)", '{"method": "eagle", "n": 3}', "a=b", " lead", "trail ", "x" * 5000, "\\x41",
    "'", '"', "\x7f", "\u2028", "^", "<>",
)  # fmt: skip


class TestStart:
    def test_the_argv_arrives_byte_for_byte(self, driver: Driver) -> None:
        driver.start(driver.plan("/usr/bin/python3", "-c", SHOW, *HARD_WORDS))

        lines = driver.log_until("SHOWN")
        driver.stop()

        shown = next(line for line in lines if line.startswith("ARGV "))
        assert shown == f"ARGV {[word.encode().hex() for word in HARD_WORDS]}"

    def test_environment_folder_and_account_are_those_of_the_plan(self, driver: Driver) -> None:
        wanted = {"A_JSON": '{"a": "b c"}', "A_EMPTY": "", "A_ODD": "x $HOME %h \\n 'q' \"d\" é", "LLAMA_ARG_PORT": ""}
        driver.start(driver.plan("/usr/bin/python3", "-c", SHOW, env=tuple(wanted.items()), cwd="/usr/share"))

        lines = driver.log_until("SHOWN")
        driver.stop()

        got = {
            name: bytes.fromhex(value).decode()
            for name, _, value in (line[4:].partition(" ") for line in lines if line.startswith("ENV "))
        }
        assert {name: got.get(name) for name in wanted} == wanted
        assert "CWD /usr/share" in lines
        uid = driver.rig.run(f"id -u {driver.user}").strip()
        assert f"UID {uid}" in lines
        assert got["HOME"] == driver.rig.run(f"echo ~{driver.user}").strip()
        assert not {name for name in got if name.startswith(("SSH_", "SUDO_"))}

    def test_root_needs_no_sudo(self, driver_for: DriverFor) -> None:
        driver = driver_for("systemd", "root")
        driver.start(driver.plan("/usr/bin/python3", "-c", SHOW))

        lines = driver.log_until("SHOWN")

        assert "UID 0" in lines
        assert "CWD /root" in lines
        assert driver.stop().clean

    def test_a_second_start_changes_nothing(self, driver: Driver) -> None:
        plan = driver.plan("/bin/sh", "-c", "echo began; exec sleep 600")

        first, second = driver.start(plan), driver.start(plan)

        assert (first.outcome, second.outcome) == (StartOutcome.STARTED, StartOutcome.ALREADY)
        assert first.status.state is RunState.RUNNING
        assert second.status.pid == first.status.pid
        assert sum("began" in line for line in driver.log_until("began")) == 1
        driver.stop()

    def test_what_has_ended_is_not_started_again(self, driver: Driver, lingering_host: RigHost) -> None:
        plan = driver.plan("/bin/sh", "-c", "echo began; exit 0")
        driver.start(plan)
        driver.ended()

        again = driver.start(plan)

        assert again.outcome is StartOutcome.ALREADY
        assert again.status.state is RunState.ENDED
        assert again.status.exit_status == 0
        assert sum("began" in line for line in driver.log_until("began")) == 1

    def test_a_program_in_the_path_of_the_plan_is_found(self, driver: Driver) -> None:
        folder = f"/tmp/bin-{driver.user}-{driver.runner.name}"
        driver.rig.run(
            f"mkdir -p {folder}; printf '#!/bin/sh\\necho found \"$1\"\\n' >{folder}/server-x; "
            f"chmod 755 {folder}/server-x"
        )

        driver.start(driver.plan("server-x", "a b", env=(("PATH", f"{folder}:/usr/bin:/bin"),)))

        driver.log_until("found a b")

    def test_a_missing_program_fails_with_the_hosts_words(self, driver: Driver) -> None:
        result = driver.start(driver.plan("/opt/none/bin/server", "--port", "1"))

        assert result.outcome is StartOutcome.FAILED
        # the journal may lose the line of a process that was gone before it was looked up; systemd's own status stays
        assert "/opt/none/bin/server" in result.reason or "203/EXEC" in result.reason

    def test_a_missing_folder_fails_with_the_hosts_words(self, driver: Driver) -> None:
        result = driver.start(driver.plan("/bin/true", cwd="/none/such"))

        assert result.outcome is StartOutcome.FAILED
        assert "/none/such" in result.reason or "200" in result.reason

    def test_wrappers_come_first(self, driver: Driver) -> None:
        driver.start(driver.plan("/usr/bin/python3", "-c", SHOW, wrappers=("nice -n 5",)))
        driver.log_until("SHOWN")
        pid = driver.state().pid

        nice = driver.rig.run(f"ps -o ni= -p {pid}").strip()
        driver.stop()

        assert nice == "5"

    def test_secrets_come_from_the_host_and_stay_there(self, driver: Driver) -> None:
        home = driver.rig.run(f"echo ~{driver.user}").strip()
        driver.rig.run(
            f"printf 'OTHER=1\\nexport HF_TOKEN=\"hf_s3cr3t$x\"\\n' >{home}/hf.env; "
            f"echo 'k3y with space' >{home}/key; chown {driver.user} {home}/hf.env {home}/key"
        )
        plan = driver.plan(
            *("/usr/bin/python3", "-c", SHOW, "--api-key", SecretRef("file ~/key")),
            env=(("HF_TOKEN", SecretRef(f"env file {home}/hf.env")),),
        )

        result = driver.remote.run(driver.host, driver.runner.start(plan, driver.unit, script))
        lines = driver.log_until("SHOWN")
        driver.stop()

        assert f"ENV HF_TOKEN {b'hf_s3cr3t$x'.hex()}" in lines
        assert f"ARGV {[b'--api-key'.hex(), b'k3y with space'.hex()]}" in lines
        assert "s3cr3t" not in result.stdout + result.stderr

    def test_a_secret_that_is_gone_is_said_before_anything_starts(self, driver: Driver) -> None:
        result = driver.start(driver.plan("/bin/true", env=(("HF_TOKEN", SecretRef("env file /none.env")),)))

        assert result.outcome is StartOutcome.FAILED
        assert "env file /none.env" in result.reason
        assert driver.state().state is RunState.ABSENT

    def test_it_outlives_the_connection(self, driver: Driver) -> None:
        driver.start(driver.plan("/bin/sleep", "600"))
        pid = driver.state().pid
        driver.remote.close()
        driver.rig.run("pkill -f '[s]shd:.*@notty' || true")

        driver.remote = driver.rig.remote()

        assert driver.state().pid == pid
        driver.stop()

    def test_variables_of_the_manager_do_not_reach_the_server(self, driver_for: DriverFor) -> None:
        driver = driver_for("systemd", "root")
        driver.rig.run("systemctl set-environment LLAMA_ARG_CTX_SIZE=1 VLLM_USE_V1=0 KEEP_ME=old")
        try:
            driver.start(driver.plan("/usr/bin/python3", "-c", SHOW, env=(("KEEP_ME", "mine"),)))
            lines = driver.log_until("SHOWN")
            driver.stop()
        finally:
            driver.rig.run("systemctl unset-environment LLAMA_ARG_CTX_SIZE VLLM_USE_V1 KEEP_ME")

        names = {line.split()[1] for line in lines if line.startswith("ENV ")}
        assert not {"LLAMA_ARG_CTX_SIZE", "VLLM_USE_V1"} & names
        assert f"ENV KEEP_ME {b'mine'.hex()}" in lines

    @pytest.mark.parametrize("runner", ["systemd", "process"])
    def test_another_account_of_the_plan_runs_it(self, driver_for: DriverFor, runner: str) -> None:
        driver = driver_for(runner, "ops")
        driver.start(driver.plan("/usr/bin/python3", "-c", SHOW, user="dev"))

        lines = driver.log_until("SHOWN")
        uid = driver.rig.run("id -u dev").strip()
        stopped = driver.stop()

        assert f"UID {uid}" in lines
        assert f"ENV HOME {b'/home/dev'.hex()}" in lines
        assert (stopped.acted, stopped.clean) == (True, True)

    def test_without_sudo_the_system_manager_is_refused_with_the_remedy(self, driver_for: DriverFor) -> None:
        driver = driver_for("systemd", "dev")

        with pytest.raises(PermanentError, match="sudo without a password") as caught:
            driver.start(driver.plan("/bin/true"))

        assert "NOPASSWD" in caught.value.remedy

    def test_without_lingering_the_users_manager_is_refused_with_the_remedy(self, driver_for: DriverFor) -> None:
        driver = driver_for("systemd-user", "dev")

        result = driver.start(driver.plan("/bin/true"))

        assert result.outcome is StartOutcome.FAILED
        assert "enable-linger dev" in result.remedy

    def test_a_full_disk_is_said(self, driver_for: DriverFor) -> None:
        driver = driver_for("systemd", "root")
        plan = driver.plan("/bin/true")
        driver.rig.run(
            "mkdir -p /var/lib/relaunch; mount -t tmpfs -o size=16k tmpfs /var/lib/relaunch; "
            "head -c 99999 /dev/zero >/var/lib/relaunch/fill 2>/dev/null; true"
        )
        try:
            result = driver.start(plan)
        finally:
            driver.rig.run("umount /var/lib/relaunch")

        assert result.outcome is StartOutcome.FAILED
        assert "/var/lib/relaunch" in result.reason
        assert "room" in result.remedy


class TestState:
    def test_an_unknown_unit_is_absent(self, driver: Driver) -> None:
        driver.plan("/bin/true")

        assert driver.state().state is RunState.ABSENT

    @pytest.mark.parametrize(("code", "wanted"), [("exit 0", 0), ("exit 1", 1), ("exit 137", 137)])
    def test_the_exit_status_is_kept(self, driver_for: DriverFor, code: str, wanted: int) -> None:
        driver = driver_for("systemd", "root")
        driver.start(driver.plan("/bin/sh", "-c", f"sleep 0.2; {code}"))

        status = driver.ended()

        assert (status.state, status.exit_status, status.signal) == (RunState.ENDED, wanted, None)

    def test_a_signal_is_named(self, driver: Driver) -> None:
        driver.start(driver.plan("/bin/sh", "-c", "sleep 0.5; kill -SEGV $$"))

        status = driver.ended()

        assert (status.state, status.signal) == (RunState.ENDED, "SIGSEGV")

    def test_a_degraded_systemd_does_not_matter(self, driver_for: DriverFor) -> None:
        driver = driver_for("systemd", "root")
        driver.rig.run("systemctl start nothing-such.service 2>/dev/null; systemd-run -u broken-one false; true")
        driver.start(driver.plan("/bin/sleep", "600"))

        assert driver.state().state is RunState.RUNNING
        assert driver.stop().clean
        driver.rig.run("systemctl reset-failed broken-one")

    def test_cleanup_forgets_what_has_ended_and_refuses_what_runs(self, driver: Driver) -> None:
        driver.start(driver.plan("/bin/sleep", "600"))
        assert not driver.cleanup().ok
        driver.stop()

        assert driver.cleanup().ok
        assert driver.cleanup().ok
        assert driver.state().state is RunState.ABSENT


class TestLog:
    def test_it_goes_on_at_the_cursor_without_loss(self, driver: Driver) -> None:
        driver.start(driver.plan("/bin/sh", "-c", "for i in $(seq 2000); do echo row $i; done; exec sleep 600"))
        rows: list[str] = []
        cursor = ""
        while f"row {2000}" not in rows:
            chunk = driver.log(cursor, limit_bytes=20_000)
            assert not chunk.gap
            rows += [line for line in chunk.lines if line.startswith("row ")]
            cursor = chunk.cursor
        driver.stop()

        assert rows == [f"row {n}" for n in range(1, 2001)]

    def test_bad_utf8_colours_progress_bars_and_huge_lines_are_read(self, driver: Driver) -> None:
        code = (
            r"printf 'bad \377 byte\n\033[31mred\033[0m\n 10%%\r 20%%\r 30%%\n'; "
            r"head -c 200000 /dev/zero | tr '\0' z; echo; echo over"
        )
        driver.start(driver.plan("/bin/sh", "-c", f"{code}; exec sleep 600"))

        lines = driver.log_until("over")
        driver.stop()

        assert "bad � byte" in lines
        assert "\x1b[31mred\x1b[0m" in lines
        assert [line.strip() for line in lines if "0%" in line] == ["10%", "20%", "30%"]
        assert sum(line.count("z") for line in lines) >= 200_000

    def test_a_last_line_without_an_end_is_read_once_it_has_ended(self, driver: Driver) -> None:
        driver.start(driver.plan("/bin/sh", "-c", "echo whole; printf 'error: half'"))
        driver.ended()

        assert "error: half" in driver.log_until("error: half")

    def test_a_cursor_that_is_gone_starts_anew_and_says_so(self, driver: Driver) -> None:
        driver.start(driver.plan("/bin/sh", "-c", "echo one; exec sleep 600"))
        driver.log_until("one")

        chunk = driver.log("1:999999" if driver.runner.name != "systemd" else "s=00;i=1;b=00;m=1;t=1;x=1")
        driver.stop()

        assert chunk.gap
        assert "one" in chunk.lines


#: ignores SIGTERM, as do its children
STUBBORN = "trap '' TERM; (trap '' TERM; while :; do sleep 0.2; done) & while :; do sleep 0.2; done"
#: like llama-server with a stream: the first SIGTERM only begins the shutdown, the second ends it
SECOND_TERM = "n=0; trap 'n=$((n+1)); [ $n -lt 2 ] || exit 1' TERM; while :; do sleep 0.1; done"
#: like SGLang: kills its own process group when it is told to end
KILLS_ITSELF = "trap 'kill -KILL 0' TERM; sleep 600 & while :; do sleep 0.1; done"


class TestStop:
    def test_the_whole_tree_ends(self, driver: Driver) -> None:
        code = "setsid sleep 611 & sh -c 'sleep 612 & wait' & echo up; wait"
        driver.start(driver.plan("/bin/sh", "-c", code))
        driver.log_until("up")

        result = driver.stop()

        assert (result.acted, result.clean, result.survivors) == (True, True, ())
        assert driver.rig.run("pgrep -f 'sleep 61[12]' || echo none").strip() == "none"

    def test_stopping_twice_is_harmless(self, driver: Driver) -> None:
        driver.start(driver.plan("/bin/sleep", "600"))

        assert driver.stop().acted
        second = driver.stop()

        assert (second.acted, second.clean) == (False, True)

    def test_a_stubborn_tree_is_killed_after_the_grace_time(self, driver: Driver) -> None:
        driver.start(driver.plan("/bin/sh", "-c", f"echo up; {STUBBORN}"))
        driver.log_until("up")

        result = driver.stop(grace_s=3)

        assert (result.acted, result.killed, result.clean) == (True, True, True)

    def test_the_second_sigterm_comes_after_two_seconds(self, driver: Driver) -> None:
        driver.start(driver.plan("/bin/bash", "-c", f"echo up; {SECOND_TERM}"))
        driver.log_until("up")

        result = driver.stop()

        assert (result.acted, result.killed, result.clean) == (True, False, True)

    def test_a_server_that_kills_itself_has_stopped_normally(self, driver: Driver) -> None:
        driver.start(driver.plan("/usr/bin/setsid", "-w", "/bin/bash", "-c", f"echo up; {KILLS_ITSELF}"))
        driver.log_until("up")

        assert driver.stop().clean

    def test_port_and_gpu_memory_are_proved_free(self, driver: Driver) -> None:
        driver.start(driver.plan("/usr/bin/python3", "-u", "-m", "http.server", "8077", "--bind", "127.0.0.1"))
        driver.rig.until("curl -s http://127.0.0.1:8077/ >/dev/null")
        driver.rig.set_gpu_processes([{"pid": 1, "mib": 500, "name": "someone else"}], used_mib=501)

        result = driver.stop(port=8077)
        driver.rig.set_gpu_processes([])

        assert (result.port_open, result.clean) == (False, True)
        assert result.gpu_mib_before == {0: 501, 1: 1}
        assert result.gpu_mib_after == {0: 501, 1: 1}

    def test_gpu_memory_that_stays_names_the_orphan(self, driver: Driver) -> None:
        driver.start(driver.plan("/bin/sleep", "600"))
        pid = driver.state().pid
        driver.rig.set_gpu_processes([{"pid": pid, "mib": 40000, "name": "python3"}], used_mib=40001)

        result = driver.stop(settle_s=1)
        driver.rig.set_gpu_processes([])

        assert not result.clean
        assert [(s.pid, s.gpu_mib) for s in result.survivors] == [(pid, 40000)]

    def test_a_port_that_someone_else_holds_is_named(self, driver: Driver) -> None:
        driver.rig.run("systemd-run -u other-server python3 -m http.server 8078 --bind 127.0.0.1")
        driver.rig.until("curl -s http://127.0.0.1:8078/ >/dev/null")
        driver.start(driver.plan("/bin/sleep", "600"))

        result = driver.stop(port=8078, settle_s=1)
        driver.rig.run("systemctl stop other-server")

        assert result.port_open
        assert not result.clean
        if driver.user in ("root", "ops") and driver.runner.name == "systemd":
            assert "python3" in result.port_owner

    @pytest.mark.parametrize("user", ["root", "ops"])
    def test_a_foreign_unit_is_stopped_and_its_restart_with_it(self, driver_for: DriverFor, user: str) -> None:
        driver = driver_for("systemd", user)
        driver.rig.run(
            'printf \'[Service]\\nExecStart=/bin/sh -c "sleep 613 & sleep 613"\\nRestart=always\\nRestartSec=0\\n'
            "[Install]\\nWantedBy=multi-user.target\\n' >/etc/systemd/system/qwen.service; "
            "systemctl daemon-reload; systemctl enable --now qwen 2>/dev/null"
        )

        result = driver.stop(unit="qwen")
        driver.rig.run(
            "systemctl disable qwen 2>/dev/null; rm /etc/systemd/system/qwen.service; systemctl daemon-reload"
        )

        assert (result.acted, result.clean, result.enabled) == (True, True, True)
        assert driver.rig.run("pgrep -f '[s]leep 613' || echo none").strip() == "none"

    @pytest.mark.parametrize(("user", "as_root"), [("root", False), ("dev", False), ("ops", True), ("ops", False)])
    def test_a_foreign_process_tree_is_stopped(self, driver_for: DriverFor, user: str, as_root: bool) -> None:
        driver = driver_for("process", user)
        owner = "dev" if user == "ops" else user
        pid, started = _foreign(driver.rig, owner, "sh -c 'sleep 614 & sleep 614; true'")

        result = driver.stop(unit=None, pid=pid, pid_started=started, as_root=as_root)

        assert (result.acted, result.clean) == (True, True)
        assert driver.rig.run("pgrep -f '[s]leep 614' || echo none").strip() == "none"

    def test_a_pid_that_is_another_process_now_is_left_alone(self, driver_for: DriverFor) -> None:
        driver = driver_for("process", "root")
        pid, started = _foreign(driver.rig, "root", "sleep 615")

        result = driver.stop(unit=None, pid=pid, pid_started=started + 1)

        assert not result.acted
        assert driver.rig.run(f"ps -o comm= -p {pid}").strip() == "sleep"
        driver.rig.run(f"kill {pid}")

    def test_a_process_that_may_not_be_stopped_is_a_survivor(self, driver_for: DriverFor) -> None:
        driver = driver_for("process", "dev")
        pid, started = _foreign(driver.rig, "root", "sleep 616")

        result = driver.stop(unit=None, pid=pid, pid_started=started, grace_s=1, settle_s=1)
        driver.rig.run(f"kill {pid}")

        assert [(s.pid, s.user, s.command) for s in result.survivors] == [(pid, "root", "sleep")]


def _foreign(rig: RigHost, user: str, command: str) -> tuple[int, int]:
    """Start something as if by hand; its pid and start time."""
    inner = f"setsid {command} </dev/null >/dev/null 2>&1 & echo $!"
    pid = int(rig.run(f"su {user} -s /bin/sh -c {shlex.quote(inner)}").split()[0])
    rig.until(f"test -r /proc/{pid}/stat && ! grep -q '(sh)' /proc/{pid}/stat || pgrep -P {pid}")
    started = rig.run(f"sed 's/.*) //' /proc/{pid}/stat | cut -d ' ' -f 20")
    return pid, int(started)


def test_each_runner_has_tests() -> None:
    # containers have tests of their own: test_docker.py
    assert {getattr(r, "name", "") for r in plugins.load(bot.core.runners, "RUNNER").values()} == {*RUNNERS, "docker"}
