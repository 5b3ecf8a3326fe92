"""The docker runner with real containers of podman and docker, over OpenSSH."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from bot.core.domain.catalog import SecretRef
from bot.core.domain.container import Container
from bot.core.domain.plan import Plan
from bot.core.domain.runner import RunState, StartOutcome
from bot.core.runners.docker import RUNNER
from tests.integration.runners.driver import Driver, script
from tests.integration.runners.test_runners import HARD_WORDS, SHOW
from tests.rig.containers import IMAGE, ContainerHost
from tests.rig.sshd import free_port

pytestmark = pytest.mark.rig

PYTHON = "/usr/bin/python3"
#: ends in order when it is told to, as process 1 must ask for
_SERVE = (
    "import signal,sys,http.server as h\n"
    "signal.signal(signal.SIGTERM, lambda *_: (print('asked to end', flush=True), sys.exit(143)))\n"
    "s=h.HTTPServer(('127.0.0.1', int(sys.argv[1])), h.BaseHTTPRequestHandler)\n"
    "print('listening', flush=True)\ns.serve_forever()"
)


@dataclass
class Boxes(Driver):
    """The runner on a container host."""

    tool: str = "podman"

    def plan(self, *argv: Any, **changes: Any) -> Plan:
        given = {"container": Container(image=IMAGE, tool=self.tool, options=("--network=host",), lead=())}
        made = super().plan(*argv, **{"config": "tiny", **given, **changes})
        # as the planner names it: the last part is the operation
        self.unit = self.unit.replace("-", "x").replace("relaunchx", "relaunch-tiny-")
        return made


@pytest.fixture(params=["container_host", "docker_host"])
def boxes(request: pytest.FixtureRequest) -> Iterator[Boxes]:
    host: ContainerHost = request.getfixturevalue(request.param)
    yield Boxes(RUNNER, host, host.remote, "root", tool=host.tool)
    host.remove_all()


def test_words_environment_and_folder_arrive_byte_for_byte(boxes: Boxes) -> None:
    words = [word for word in HARD_WORDS if len(word) < 100]
    wanted = {"A_JSON": '{"a": "b c"}', "A_EMPTY": "", "A_ODD": "x $HOME %h \\n 'q' \"d\" é"}
    boxes.start(boxes.plan(PYTHON, "-c", SHOW, *words, env=tuple(wanted.items()), cwd="/usr/lib"))

    lines = boxes.log_until("SHOWN")

    assert f"ARGV {[word.encode().hex() for word in words]}" in lines
    shown = {line.split()[1]: line.split()[2:] for line in lines if line.startswith("ENV ")}
    assert {name: bytes.fromhex("".join(shown[name])).decode() for name in wanted} == wanted
    assert "CWD /usr/lib" in lines


def test_a_second_start_changes_nothing(boxes: Boxes) -> None:
    plan = boxes.plan(PYTHON, "-c", SHOW)

    first, second = boxes.start(plan), boxes.start(plan)

    assert (first.outcome, second.outcome) == (StartOutcome.STARTED, StartOutcome.ALREADY)
    assert first.status.state is RunState.RUNNING
    assert (second.status.pid, second.status.pid_started) == (first.status.pid, first.status.pid_started)
    assert boxes.rig.run(f"{boxes.tool} ps -aq | wc -l").strip() == "1"
    # also where the record of it is lost: the container itself says whose it is
    boxes.rig.run(f"rm -rf ~/.local/state/relaunch/{boxes.unit}")
    assert boxes.start(plan).outcome is StartOutcome.ALREADY


def test_the_process_is_the_hosts_and_its_stop_is_proved(boxes: Boxes) -> None:
    port = free_port()
    boxes.start(boxes.plan(PYTHON, "-c", _SERVE, str(port), port=port))
    boxes.log_until("listening")
    status = boxes.state()
    command = boxes.rig.run(f"tr '\\0' '\\n' </proc/{status.pid}/cmdline").splitlines()

    stopped = boxes.stop(port=port)

    assert command[0] == PYTHON
    assert command[-1] == str(port)
    assert (stopped.acted, stopped.clean, stopped.port_open, stopped.killed) == (True, True, False, False)
    ended = boxes.state()
    assert (ended.state, ended.signal) == (RunState.ENDED, "SIGTERM")
    assert "asked to end" in boxes.log().lines
    assert not boxes.stop(port=port).acted


def test_what_does_not_end_is_killed_after_the_grace_time(boxes: Boxes) -> None:
    boxes.start(boxes.plan(PYTHON, "-c", "import signal,time; signal.signal(15, lambda *_: 0)\nwhile 1: time.sleep(9)"))

    stopped = boxes.stop(grace_s=1)

    assert (stopped.clean, stopped.killed) == (True, True)
    assert boxes.state().signal == "SIGKILL"


def test_the_log_is_followed_without_loss_or_repetition(boxes: Boxes) -> None:
    boxes.start(boxes.plan(PYTHON, "-c", "for i in range(3000): print('line', i, flush=True)"))
    boxes.ended()

    lines: list[str] = []
    cursor, rounds = "", 0
    while True:
        chunk = boxes.log(cursor, limit_bytes=40_000)
        lines += chunk.lines
        rounds += 1
        assert not chunk.gap
        if not chunk.more:
            break
        cursor = chunk.cursor

    assert lines == [f"line {number}" for number in range(3000)]
    assert rounds > 1
    assert boxes.log(chunk.cursor).lines == ()


def test_secrets_come_from_the_host_and_stay_there(boxes: Boxes) -> None:
    boxes.rig.run("printf 'HF_TOKEN=\"hf_s3cr3t$x\"\\n' >~/hf.env")
    home = boxes.rig.run("echo ~").strip()
    plan = boxes.plan(PYTHON, "-c", SHOW, env=(("HF_TOKEN", SecretRef(f"env file {home}/hf.env")),))

    result = boxes.remote.run(boxes.host, RUNNER.start(plan, boxes.unit, script))
    lines = boxes.log_until("SHOWN")

    assert f"ENV HF_TOKEN {b'hf_s3cr3t$x'.hex()}" in lines
    assert "s3cr3t" not in result.stdout + result.stderr


def test_what_stands_against_a_start_is_said_with_the_remedy(boxes: Boxes) -> None:
    absent = boxes.start(boxes.plan(PYTHON, container=Container(image="localhost/none:1", tool=boxes.tool)))
    assert (absent.outcome, absent.remedy) == (
        StartOutcome.FAILED,
        f"on the host run: {boxes.tool} pull localhost/none:1",
    )

    program = boxes.start(boxes.plan("/none/such"))
    assert program.outcome is StartOutcome.FAILED
    assert "/none/such" in program.reason
    assert boxes.state().state is RunState.ABSENT
    assert boxes.rig.run(f"{boxes.tool} ps -aq").strip() == ""

    plan = boxes.plan(PYTHON, "-c", SHOW)
    boxes.rig.run(
        f"{boxes.tool} run -d --network=host --name {boxes.unit} {IMAGE} {PYTHON} -c 'import time; time.sleep(99)'"
    )
    taken = boxes.start(plan)
    assert taken.outcome is StartOutcome.FAILED
    assert "not of this launch" in taken.reason


def test_a_dead_container_of_ours_makes_room_and_its_log_is_kept(boxes: Boxes) -> None:
    boxes.rig.run(f"{boxes.tool} run --network=host --name theirs {IMAGE} {PYTHON} -c 'print(1)'")
    boxes.start(boxes.plan(PYTHON, "-c", "print('last words'); raise SystemExit(3)"))
    boxes.ended()
    first = boxes.unit

    boxes.start(boxes.plan(PYTHON, "-c", SHOW))

    assert set(boxes.rig.run(f"{boxes.tool} ps -a --format '{{{{.Names}}}}'").split()) == {"theirs", boxes.unit}
    boxes.unit = first
    assert boxes.log().lines == ("last words",)
    assert (boxes.state().state, boxes.state().exit_status) == (RunState.ENDED, 3)


def test_cleanup_takes_only_what_has_ended_and_is_ours(boxes: Boxes) -> None:
    boxes.start(boxes.plan(PYTHON, "-c", SHOW))
    assert boxes.cleanup().exit_status != 0
    boxes.stop(grace_s=1)

    assert boxes.cleanup().exit_status == 0

    assert boxes.rig.run(f"{boxes.tool} ps -aq").strip() == ""
    assert boxes.state().state is RunState.ABSENT


def test_a_foreign_container_is_stopped_by_its_name(boxes: Boxes) -> None:
    port = free_port()
    boxes.rig.run(f'{boxes.tool} run -d --network=host --name theirs {IMAGE} {PYTHON} -c "{_SERVE}" {port}')
    boxes.unit = "theirs"

    stopped = boxes.stop(port=port)

    assert (stopped.acted, stopped.clean) == (True, True)
    state = json.loads(boxes.rig.run(f"{boxes.tool} inspect --format '{{{{json .State}}}}' theirs"))
    assert (state["Status"], state["ExitCode"]) == ("exited", 143)
