"""What docker and podman answer, recorded, and what it means."""

import json
from typing import Any

import pytest

from bot.core.domain.catalog import SecretRef
from bot.core.domain.container import Container
from bot.core.domain.plan import Plan
from bot.core.domain.runner import RunState, StartOutcome
from bot.core.domain.shell import ShellResult
from bot.core.runners.docker import RUNNER
from bot.errors import BadInputError
from tests.unit.core.runners.test_systemd import answer, script

#: podman 4.3.1 and docker 20.10.24, .State of inspect
PODMAN = {
    "OciVersion": "1.0.2-dev", "Status": "exited", "Running": False, "Paused": False, "Restarting": False,
    "OOMKilled": False, "Dead": False, "Pid": 0, "ExitCode": 137, "Error": "",
    "StartedAt": "2026-12-02T14:30:18.022856964Z", "FinishedAt": "2026-12-02T14:30:21.449170379Z",
    "Health": {"Status": "", "FailingStreak": 0, "Log": None},
}  # fmt: skip
DOCKER = {
    "Status": "running", "Running": True, "Paused": False, "Restarting": False, "OOMKilled": False, "Dead": False,
    "Pid": 4711, "ExitCode": 0, "Error": "", "StartedAt": "2026-12-02T15:16:40.1Z",
    "FinishedAt": "0001-01-01T00:00:00Z",
}  # fmt: skip


def plan(**changes: Any) -> Plan:
    given: dict[str, Any] = {
        "operation": "start", "host": "h", "config": "q", "revision": None, "argv": ("--port", "8000"),
        "container": Container(image="vllm/vllm-openai:v0.10.2", options=("--gpus=all",)), "runner": "docker",
    }  # fmt: skip
    return Plan(**{**given, **changes})


def state(shown: dict[str, Any], *more: str, **changes: Any) -> Any:
    return RUNNER.parse_state(answer(f"state {json.dumps({**shown, **changes})}", *more, "boot b/1"))


class TestState:
    def test_running(self) -> None:
        status = state(DOCKER, "pid_started 77", "started b/1")

        assert (status.state, status.pid, status.pid_started) == (RunState.RUNNING, 4711, 77)

    @pytest.mark.parametrize(
        ("changes", "boot", "wanted", "exit_status", "signal", "oom"),
        [
            ({}, "b/1", RunState.ENDED, None, "SIGKILL", False),
            ({"ExitCode": 143}, "b/1", RunState.ENDED, None, "SIGTERM", False),
            ({"ExitCode": 0}, "b/1", RunState.ENDED, 0, None, False),
            ({"ExitCode": 1}, "b/1", RunState.ENDED, 1, None, False),
            ({"OOMKilled": True}, "b/1", RunState.ENDED, None, "SIGKILL", True),
            ({"ExitCode": 255}, "b/1", RunState.ENDED, 255, None, False),
            ({"ExitCode": 255}, "other/1", RunState.LOST, None, None, False),
            ({"Status": "created"}, "other/1", RunState.LOST, None, None, False),
            ({"Status": "created"}, "b/1", RunState.UNKNOWN, None, None, False),
            ({"Status": "stopping"}, "b/1", RunState.STOPPING, None, None, False),
            ({"Status": "paused"}, "b/1", RunState.RUNNING, None, None, False),
        ],
    )
    def test_ended(
        self,
        changes: dict[str, Any],
        boot: str,
        wanted: RunState,
        exit_status: int | None,
        signal: str | None,
        oom: bool,
    ) -> None:
        status = state(PODMAN, f"started {boot}", **changes)

        assert (status.state, status.exit_status, status.signal, status.oom_killed) == (
            wanted,
            exit_status,
            signal,
            oom,
        )

    def test_a_silent_daemon_is_unknown_and_never_absent(self) -> None:
        said = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"
        status = RUNNER.parse_state(answer("started b/1", f"unknown {said}", "boot b/1"))

        assert (status.state, status.reason) == (RunState.UNKNOWN, said)
        assert RUNNER.parse_state(answer("boot b/1")).state is RunState.ABSENT
        assert RUNNER.parse_state(answer("started b/1", "boot b/1")).state is RunState.LOST
        assert RUNNER.parse_state(ShellResult(exit_status=1, stdout="", stderr="x")).state is RunState.UNKNOWN


def log(*lines: str, end: str = "0 4711", cursor: str = "") -> Any:
    text = "".join(f"{line}\n" for line in lines) + f"\nrelaunch status {end}\n"
    return RUNNER.parse_log(ShellResult(exit_status=0, stdout=text, stderr=""), cursor)


class TestLog:
    #: podman stamps what it reads at once, docker each line
    AT = ("2026-12-02T14:43:25.526954661Z", "2026-12-02T14:43:25.626954661Z", "2026-12-02T14:43:26Z")

    def test_lines_of_one_time_are_told_apart_by_their_number(self) -> None:
        a, b, c = self.AT
        first = log(f"{a} one", f"{a} two")
        again = log(f"{a} one", f"{a} two", f"{a} three", f"{b} four", f"{c} ", cursor=first.cursor)

        assert first.lines == ("one", "two")
        assert again.lines == ("three", "four", "")
        assert log(f"{c} ", cursor=again.cursor).lines == ()
        assert not again.gap

    def test_what_was_rotated_away_is_a_gap(self) -> None:
        a, b, c = self.AT
        chunk = log(f"{b} four", f"{c} five", cursor=f"{a} 2")

        assert (chunk.gap, chunk.lines) == (True, ("four", "five"))

    def test_a_line_in_pieces_is_one_and_counts_as_its_pieces(self) -> None:
        a, b, c = self.AT
        first = log(f"{a} a long {b} line", f"{b} next")
        again = log(f"{b} line", f"{b} next", f"{c} new", cursor=first.cursor)

        assert first.lines == ("a long line", "next")
        assert again.lines == ("new",)
        assert log(f"{a} built 2025-01-01T00:00:00.123456789Z here").lines == (
            "built 2025-01-01T00:00:00.123456789Z here",
        )

    def test_an_open_line_waits_while_the_container_runs(self) -> None:
        a, b, _ = self.AT
        text = f"{a} done\n{b} half"

        def read(pid: str) -> tuple[str, ...]:
            whole = f"{text}\nrelaunch status 0 {pid}\n"
            return RUNNER.parse_log(ShellResult(exit_status=0, stdout=whole, stderr=""), "").lines

        assert read("4711") == ("done",)
        assert read("0") == read("") == ("done", "half")

    def test_what_was_cut_goes_on(self) -> None:
        a, b, _ = self.AT
        cut = RUNNER.parse_log(ShellResult(exit_status=0, stdout=f"{a} one\n{b} tw", stderr=""), "")

        assert (cut.lines, cut.more, cut.cursor) == (("one",), True, f"{a} 1")

    def test_why_nothing_could_be_read(self) -> None:
        chunk = log("Error response from daemon: configured logging driver does not support reading", end="1 0")

        assert "does not support reading" in chunk.reason
        assert log().reason == ""

    def test_returns_of_a_progress_bar_end_lines(self) -> None:
        assert log(f"{self.AT[0]} 10%\r50%\r100%\r").lines == ("10%", "50%", "100%")


class TestStart:
    def test_the_command_runs_quoted_and_secrets_by_their_file(self) -> None:
        text = RUNNER.start(
            plan(
                argv=("--model", "two words", "--api-key", SecretRef("file /k")),
                env=(("A", "$HOME"), ("HF_TOKEN", SecretRef("env file /etc/hf.env"))),
            ),
            "relaunch-q-12",
            script,
        ).text

        [run] = [line for line in text.splitlines() if line.startswith("if answer=$($way")]
        assert "docker run --detach --pull=never --restart=no --name=relaunch-q-12" in run
        assert "--label=relaunch.operation=12" in run
        assert "'--env=A=$HOME' \"--env-file=$record/env\" vllm/vllm-openai:v0.10.2 --model 'two words'" in run
        assert '--api-key "$RELAUNCH_ARGUMENT_' in run
        assert "printf '%s=%s\\n' HF_TOKEN \"$HF_TOKEN\"" in text

    @pytest.mark.parametrize(
        "changes",
        [
            {"container": None},
            {"container": Container(image="--privileged")},
            {"container": Container(image="a", options=("-v", "/:/host"))},
            {"container": Container(image="a", tool="sh")},
            {"argv": ()},
        ],
    )
    def test_what_no_container_can_be_given_is_refused(self, changes: dict[str, Any]) -> None:
        with pytest.raises(BadInputError):
            RUNNER.start(plan(**changes), "relaunch-q-12", script)

    def test_a_refusal_of_the_daemon_is_its_own_words(self) -> None:
        result = RUNNER.parse_start(answer("outcome failed", "reason docker: invalid reference format", "boot b/1"))

        assert result.outcome is StartOutcome.FAILED
        assert "invalid reference format" in result.reason
