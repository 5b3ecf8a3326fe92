"""What can go wrong with a host: each is said with the next step, and nothing hangs or is lost."""

import re

import pytest

from tests.integration.story.conftest import Stage
from tests.rig.host import RigHost

pytestmark = pytest.mark.rig

_PLAIN = "@Relaunch start qwen on opsbox"


@pytest.fixture(autouse=True)
def clean(stage: Stage) -> None:
    """No server is left from the last test."""
    stage.host.run("systemctl stop 'relaunch-*.service'; pkill -9 -f '[s]glang'; true", check=False)


class TestRefused:
    def test_a_foreign_process_on_the_port_is_named_with_owner_and_command(self, stage: Stage) -> None:
        pid = _spawn(stage.host, "dev", "python3 -m http.server 30001 --bind 127.0.0.1 --directory /var/empty")
        stage.host.until("ss -ltn | grep -q :30001")
        try:
            refused = _refused(stage)
        finally:
            stage.host.run(f"kill {pid}")
        assert "port 30001" in refused
        assert "dev" in refused
        assert "http.server 30001" in refused

    def test_a_foreign_process_on_the_gpu_is_named_with_owner_and_command(self, stage: Stage) -> None:
        pid = _spawn(stage.host, "dev", "python3 -c 'import time; time.sleep(600)' train.py --config pretrain.yaml")
        stage.gpus_hold({"pid": pid, "mib": 41000, "name": "python3"})
        try:
            refused = _refused(stage)
        finally:
            stage.gpus_hold()
            stage.host.run(f"kill {pid}")
        assert "dev" in refused
        assert "train.py --config pretrain.yaml" in refused
        assert "41000 MiB" in refused


class TestAccounts:
    @pytest.mark.parametrize(("name", "account", "unit"), [("opsbox", "ops", True), ("devbox", "dev", False)])
    def test_an_ordinary_account_starts_and_stops_a_server(
        self, stage: Stage, name: str, account: str, unit: bool
    ) -> None:
        talk = stage.talk
        ts = talk.say(f"@Relaunch start qwen on {name}")
        ready = talk.wait(ts, "is ready on")
        assert "runs exactly the planned command" in ready
        pid = re.search(r"process (\d+) runs exactly", ready)
        assert pid is not None
        assert stage.host.run(f"stat -c %U /proc/{pid[1]}").strip() == account
        assert stage.host.run(f"cat /proc/{pid[1]}/cgroup").strip().endswith(".service") is unit
        talk.wait(ts, "tok/s for one stream")

        ts = talk.say(f"@Relaunch stop qwen on {name}")
        card = talk.wait_message(ts, "Approve: stop")
        talk.click(card["ts"], "Approve")
        assert "port 30001 is closed" in talk.wait(ts, "is stopped on")
        assert stage.host.run("pgrep -fc '[s]glang' || true").strip() == "0"


class TestDisk:
    def test_no_room_for_the_log_is_said(self, stage: Stage) -> None:
        talk = stage.talk
        stage.host.run(
            "mkdir -p ~dev/.local/state && mount -t tmpfs -o size=4k,uid=$(id -u dev) tmpfs ~dev/.local/state"
        )
        stage.host.run("chown dev: ~dev/.local; head -c 4096 /dev/zero >~dev/.local/state/full", check=False)
        try:
            ts = talk.say("@Relaunch start qwen on devbox")
            failed = talk.wait(ts, "did not start on devbox")
        finally:
            stage.host.run("umount ~dev/.local/state")
        assert "No space left" in failed or "cannot be written" in failed, failed
        assert "make room on that disk" in failed


class TestHost:
    def test_a_network_that_goes_while_it_watches_is_waited_out(self, stage: Stage) -> None:
        talk = stage.talk
        with stage.slow_start(12.0):
            ts = talk.say(_PLAIN)
            talk.wait(ts, "weights")
            stage.host.cut()
            try:
                talk.wait(ts, "does not answer")
            finally:
                stage.host.mend()
            assert "is ready on opsbox" in talk.wait(ts, "is ready on")
        talk.wait(ts, "tok/s for one stream")

    def test_a_frozen_host_is_said_to_be_so_within_its_time_limits(self, stage: Stage) -> None:
        talk = stage.talk
        stage.host.pause()
        try:
            ts = talk.say("@Relaunch health of ct7")
            health = talk.wait(ts, "cannot be reached", timeout=45)
            started = talk.say(_PLAIN)
            talk.wait(started, "answers", timeout=45)
        finally:
            stage.host.resume()
        assert "Its servers are unknown, not fine" in health

    def test_a_reboot_in_the_middle_of_a_start_is_told_from_a_crash(self, stage: Stage) -> None:
        talk = stage.talk
        with stage.slow_start(30.0):
            ts = talk.say(_PLAIN)
            talk.wait(ts, "weights")
            stage.host.reboot()
            failed = talk.wait(ts, "did not start on opsbox")
        assert re.search("rebooted|shut down", failed), failed


def _spawn(host: RigHost, user: str, command: str) -> int:
    """A process of somebody else; gives its pid."""
    return int(
        host.run(f"setsid setpriv --reuid {user} --init-groups --regid {user} {command} >/dev/null 2>&1 & echo $!")
    )


def _refused(stage: Stage) -> str:
    """What a start is answered that is refused."""
    ts = stage.talk.say(_PLAIN)
    refused = stage.talk.wait(ts, "I did not start")
    assert stage.host.run("systemctl list-units --plain --no-legend 'relaunch-*' --state=active").strip() == ""
    return refused
