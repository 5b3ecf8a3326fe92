"""SshRemote against whole hosts: with and without sudo, and hosts that reboot, freeze or lose their network."""

import threading
import time
from collections.abc import Callable

import pytest

from bot.core.domain.runner import RunState, StartOutcome
from bot.core.domain.shell import ShellCommand, shell
from bot.core.runners.process import RUNNER as PROCESS
from bot.core.runners.systemd import RUNNER as SYSTEMD
from bot.errors import CommandTimeoutError, PermanentError, UnreachableError
from tests.integration.runners.driver import Driver
from tests.rig.host import RigHost, reached

pytestmark = pytest.mark.rig


class TestSudo:
    @pytest.mark.parametrize("user", ["root", "ops"])
    def test_as_root_is_root(self, shared_rig_host: RigHost, user: str) -> None:
        remote, host = shared_rig_host.remote(), shared_rig_host.host(user)

        assert remote.run(host, shell("id", "-u", as_root=True)).stdout == "0\n"
        assert remote.run(host, ShellCommand(text="id -u\nprintf '%s' \"it's\"", as_root=True)).stdout == "0\nit's"
        assert remote.run(host, ShellCommand(text="cat; exit 3", stdin=b"in\xff", as_root=True)).stdout == "in�"

    def test_output_status_and_locale_pass_through_sudo(self, shared_rig_host: RigHost) -> None:
        command = ShellCommand(text='echo out; echo err >&2; echo "$LC_ALL"; exit 7', as_root=True)

        result = shared_rig_host.remote().run(shared_rig_host.host("ops"), command)

        assert (result.stdout, result.stderr, result.exit_status) == ("out\n\n", "err\n", 7)

    def test_without_sudo_rights_it_is_said_with_the_remedy(self, shared_rig_host: RigHost) -> None:
        remote, host = shared_rig_host.remote(), shared_rig_host.host("dev")

        with pytest.raises(PermanentError, match="dev may not use sudo") as caught:
            remote.run(host, shell("id", as_root=True))

        assert "sudoers.d" in caught.value.remedy
        with (
            pytest.raises(PermanentError, match="dev may not use sudo"),
            remote.stream(host, shell("id", as_root=True)) as chunks,
        ):
            list(chunks)

    def test_a_command_that_fails_like_sudo_is_not_taken_for_it(self, shared_rig_host: RigHost) -> None:
        command = ShellCommand(text="echo 'sudo: unable to resolve host x' >&2; exit 1", as_root=True)

        assert shared_rig_host.remote().run(shared_rig_host.host("ops"), command).exit_status == 1

    @pytest.mark.parametrize("user", ["root", "ops"])
    def test_a_hanging_root_command_is_ended(self, shared_rig_host: RigHost, user: str) -> None:
        remote, host = shared_rig_host.remote(), shared_rig_host.host(user)

        with pytest.raises(CommandTimeoutError):
            remote.run(host, ShellCommand(text="sleep 621; true", timeout_s=1, as_root=True))
        with remote.stream(host, ShellCommand(text="echo on; sleep 622; true", as_root=True)) as chunks:
            next(chunks)

        assert shared_rig_host.run("pgrep -f '[s]leep 62[12]' || echo none").strip() == "none"


@pytest.fixture(scope="module")
def rig(_rig_hosts: Callable[[], RigHost]) -> RigHost:
    """A host to maltreat; each test leaves it up and reachable."""
    return _rig_hosts()


class TestTrouble:
    def test_a_silent_network_is_noticed(self, rig: RigHost) -> None:
        remote, host = rig.remote(connect_timeout_s=2), rig.host()
        remote.run(host, shell("true"))

        rig.cut()
        with pytest.raises(UnreachableError, match="does not answer within"):
            remote.run(host, shell("true"))
        rig.mend()

        assert remote.run(host, shell("echo", "back")).stdout == "back\n"

    def test_a_network_that_goes_while_a_command_runs_ends_at_its_limit(self, rig: RigHost) -> None:
        remote, host = rig.remote(connect_timeout_s=2), rig.host()
        with remote.stream(host, ShellCommand(text="echo on; sleep 60", timeout_s=3)) as chunks:
            assert next(chunks) == b"on\n"
            rig.cut()
            with pytest.raises((CommandTimeoutError, UnreachableError)):
                next(chunks)
        rig.mend()

    def test_a_frozen_host_is_told_from_a_dead_one(self, rig: RigHost) -> None:
        remote, host = rig.remote(connect_timeout_s=2), rig.host()
        remote.run(host, shell("true"))

        rig.pause()
        try:
            started = time.monotonic()
            with pytest.raises(UnreachableError, match="no SSH server answers"):
                remote.run(host, shell("true"))
            assert time.monotonic() - started < 30
        finally:
            rig.resume()
        assert remote.run(host, shell("true")).ok

    def test_a_host_that_freezes_in_the_middle_of_a_command_ends_at_its_limit(self, rig: RigHost) -> None:
        remote, host = rig.remote(connect_timeout_s=2), rig.host()
        frozen = threading.Timer(0.5, rig.pause)
        frozen.start()
        try:
            with pytest.raises(CommandTimeoutError):
                remote.run(host, ShellCommand(text="sleep 60", timeout_s=2))
        finally:
            frozen.join()
            rig.resume()

    def test_after_a_reboot_what_ran_is_lost_and_not_started_again(self, rig: RigHost) -> None:
        drivers = [Driver(runner, rig, rig.remote(), "root") for runner in (SYSTEMD, PROCESS)]
        plans = [driver.plan("/bin/sh", "-c", "echo began; sleep 600") for driver in drivers]
        for driver, plan in zip(drivers, plans, strict=True):
            driver.start(plan)
        ended = Driver(SYSTEMD, rig, rig.remote(), "root")
        ended.start(ended.plan("/bin/sh", "-c", "exit 4"))
        assert ended.ended().exit_status == 4

        rig.reboot()

        for driver, plan in zip(drivers, plans, strict=True):
            assert driver.state().state is RunState.LOST
            assert driver.start(plan).outcome is StartOutcome.ALREADY
            assert driver.state().state is RunState.LOST
            assert driver.stop().clean
        assert (ended.state().state, ended.state().exit_status) == (RunState.ENDED, 4)

    def test_a_power_cut_is_lost_as_well(self, rig: RigHost) -> None:
        driver = Driver(SYSTEMD, rig, rig.remote(), "root")
        driver.start(driver.plan("/bin/sleep", "600"))

        rig.crash()

        assert driver.state().state is RunState.LOST

    def test_a_journal_that_is_not_kept_still_gives_the_log(self, rig: RigHost) -> None:
        rig.run(
            "mkdir -p /etc/systemd/journald.conf.d; printf '[Journal]\\nStorage=volatile\\n' "
            ">/etc/systemd/journald.conf.d/v.conf; rm -rf /var/log/journal; systemctl restart systemd-journald"
        )
        driver = Driver(SYSTEMD, rig, rig.remote(), "root")
        driver.start(driver.plan("/bin/sh", "-c", "echo began; sleep 600"))

        driver.log_until("began")
        old = driver.log().cursor
        rig.reboot()

        assert reached(rig.remote(), rig.host())
        again = driver.log(old)
        assert "began" not in again.lines
        assert not again.reason
