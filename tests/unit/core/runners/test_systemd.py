"""Units as text, and what systemd's answers mean."""

import json
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bot.core.domain.catalog import SecretRef
from bot.core.domain.plan import Plan
from bot.core.domain.runner import RunState, StartOutcome, StopTarget, unit_name
from bot.core.domain.shell import ShellResult
from bot.core.runners.systemd import RUNNER
from bot.errors import BadInputError

_ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).resolve().parents[4] / "templates"),
    undefined=StrictUndefined,
    autoescape=False,
)


def script(template: str, **values: Any) -> str:
    return _ENVIRONMENT.get_template(template).render(**values)


def unit_text(**changes: Any) -> str:
    """The unit file of a plan."""
    seen: list[str] = []

    def spy(template: str, **values: Any) -> str:
        text = script(template, **values)
        seen.append(text)
        return text

    RUNNER.start(plan(**changes), "relaunch-1", spy)
    return seen[0]


def plan(**changes: Any) -> Plan:
    given: dict[str, Any] = {"operation": "1", "host": "gpu1", "config": None, "revision": None, "argv": ("/bin/true",)}
    return Plan(**{**given, **changes})


def answer(*lines: str, exit_status: int = 0, stderr: str = "") -> ShellResult:
    return ShellResult(exit_status=exit_status, stdout="".join(f"relaunch {line}\n" for line in lines), stderr=stderr)


class TestUnit:
    @pytest.mark.parametrize(
        ("argv", "line"),
        [
            (("/bin/a", "b c", "$X", "100%", 'q"\\'), 'ExecStart="/bin/a" "b c" "$$X" "100%%" "q\\"\\\\"'),
            (("vllm", "serve"), 'ExecStart=/usr/bin/env -- "vllm" "serve"'),
            (("./server", "a\nb\tc\x07"), 'ExecStart=/usr/bin/env -- "./server" "a\\nb\\tc\\x07"'),
            (("/bin/a", "--api-key", SecretRef("file /k")), 'ExecStart="/bin/a" "--api-key" "${RELAUNCH_ARGUMENT_2}"'),
        ],
    )
    def test_words_are_escaped_as_systemd_reads_them(self, argv: tuple[Any, ...], line: str) -> None:
        assert line in unit_text(argv=argv).splitlines()

    def test_wrappers_come_first_outermost_first(self) -> None:
        text = unit_text(wrappers=("numactl -N 0", "nice -n 5"))

        assert 'ExecStart=/usr/bin/env -- "numactl" "-N" "0" "nice" "-n" "5" "/bin/true"' in text

    def test_environment_keeps_dollars_and_doubles_percents(self) -> None:
        assert 'Environment="A=$x %%h \\"q\\""' in unit_text(env=(("A", '$x %h "q"'),))

    def test_secrets_are_no_part_of_the_unit(self) -> None:
        assert "HF_TOKEN" not in unit_text(env=(("HF_TOKEN", SecretRef("env file /etc/hf.env")),))

    def test_a_description_cannot_add_lines(self) -> None:
        assert "\nExecStartPre" not in unit_text(model="x\nExecStartPre=/bin/evil")

    @pytest.mark.parametrize("argv", [(), ("/bin/a", "nul\0"), ("/bin/a", "bad\udcff")])
    def test_what_no_process_can_be_given_is_refused(self, argv: tuple[str, ...]) -> None:
        with pytest.raises(BadInputError):
            RUNNER.start(plan(argv=argv), "relaunch-1", script)

    def test_a_secret_in_a_place_that_cannot_be_read_is_refused(self) -> None:
        with pytest.raises(BadInputError, match="vault"):
            RUNNER.start(
                plan(
                    env=(
                        (
                            "A",
                            SecretRef("the vault"),
                        ),
                    )
                ),
                "relaunch-1",
                script,
            )

    def test_the_unit_is_named_after_the_operation(self) -> None:
        assert unit_name("Ab-1_c") == "relaunch-Ab-1_c"
        assert unit_name("a/b;c d") == "relaunch-a-b-c-d"


SHOWN = ("show LoadState=loaded", "show SubState=x", "show Result=success", "boot b/1")


class TestState:
    def test_running(self) -> None:
        status = RUNNER.parse_state(answer(*SHOWN, "show ActiveState=active", "show MainPID=42", "pid_started 77"))

        assert (status.state, status.pid, status.pid_started) == (RunState.RUNNING, 42, 77)

    @pytest.mark.parametrize(
        ("lines", "state", "exit_status", "signal", "oom"),
        [
            ((), RunState.ABSENT, None, None, False),
            (("started b/1", "ended success exited 0 running"), RunState.ENDED, 0, None, False),
            (("started b/1", "ended exit-code exited 137 degraded"), RunState.ENDED, 137, None, False),
            (("started b/1", "ended signal killed KILL running"), RunState.ENDED, None, "SIGKILL", False),
            (("started b/1", "ended core-dump dumped ABRT running"), RunState.ENDED, None, "SIGABRT", False),
            (("started b/1", "ended oom-kill killed KILL running"), RunState.ENDED, None, "SIGKILL", True),
            (("started b/1", "ended signal killed TERM stopping"), RunState.LOST, None, None, False),
            (("started b/0",), RunState.LOST, None, None, False),
            (("started b/1",), RunState.LOST, None, None, False),
        ],
    )
    def test_not_running(
        self, lines: tuple[str, ...], state: RunState, exit_status: int | None, signal: str | None, oom: bool
    ) -> None:
        status = RUNNER.parse_state(answer(*SHOWN, "show ActiveState=inactive", *lines))

        assert (status.state, status.exit_status, status.signal, status.oom_killed) == (state, exit_status, signal, oom)

    @pytest.mark.parametrize(
        "result", [answer(), answer("unknown Failed to connect to bus: x"), answer(stderr="sh: no")]
    )
    def test_no_answer_is_unknown_with_a_reason(self, result: ShellResult) -> None:
        status = RUNNER.parse_state(result)

        assert status.state is RunState.UNKNOWN
        assert status.reason


class TestStart:
    def test_a_start_that_was_cut_off_counts_as_started(self) -> None:
        result = RUNNER.parse_start(answer(*SHOWN, "show ActiveState=active", "show MainPID=4", exit_status=-1))

        assert result.outcome is StartOutcome.ALREADY

    def test_a_failure_has_the_hosts_words_and_the_remedy(self) -> None:
        result = RUNNER.parse_start(answer("outcome failed", "reason No space left on device", "remedy make room"))

        assert (result.outcome, result.reason, result.remedy) == (
            StartOutcome.FAILED,
            "No space left on device",
            "make room",
        )


class TestLog:
    def test_entries_become_lines_and_the_last_whole_one_the_cursor(self) -> None:
        entries = [
            {"__CURSOR": "c1", "MESSAGE": "one"},
            {"__CURSOR": "c2", "MESSAGE": [98, 97, 100, 255]},
            {"__CURSOR": "c3", "MESSAGE": " 10%\r 20%"},
            {"__CURSOR": "c4", "MESSAGE": None},
        ]
        text = "\n".join(map(json.dumps, entries)) + '\n{"__CURSOR": "c5", "MESS'

        chunk = RUNNER.parse_log(ShellResult(exit_status=0, stdout=text, stderr=""), "c0")

        assert chunk.lines == ("one", "bad�", " 10%", " 20%", "")
        assert (chunk.cursor, chunk.more) == ("c4", True)

    def test_nothing_new_keeps_the_cursor(self) -> None:
        chunk = RUNNER.parse_log(ShellResult(exit_status=0, stdout="", stderr=""), "c9")

        assert (chunk.lines, chunk.cursor, chunk.more, chunk.reason) == ((), "c9", False, "")

    def test_no_journal_is_a_reason(self) -> None:
        chunk = RUNNER.parse_log(ShellResult(exit_status=1, stdout="", stderr="there is no journal\n"), "c9")

        assert (chunk.cursor, chunk.reason) == ("c9", "there is no journal")


class TestStop:
    def test_a_full_answer_is_read(self) -> None:
        result = RUNNER.parse_stop(
            answer(
                "gpu_before 0 40000",
                "gpu_before 1 2",
                "acted yes",
                "killed yes",
                "enabled yes",
                "survivor 12 30000 root 3600 python3",
                "survivor 13 - dev 5 VLLM::EngineCore",
                "port open",
                "port_owner 99 python3",
                "gpu_after 0 30000",
                "gpu_after 1 2",
                "done yes",
            )
        )

        assert [(s.pid, s.gpu_mib, s.user, s.age_s, s.command) for s in result.survivors] == [
            (12, 30000, "root", 3600, "python3"),
            (13, None, "dev", 5, "VLLM::EngineCore"),
        ]
        assert (result.port_open, result.port_owner) == (True, "99 python3")
        assert (result.gpu_mib_before, result.gpu_mib_after) == ({0: 40000, 1: 2}, {0: 30000, 1: 2})
        assert (result.acted, result.killed, result.enabled, result.clean) == (True, True, True, False)

    def test_an_answer_that_was_cut_off_proves_nothing(self) -> None:
        result = RUNNER.parse_stop(answer("acted yes", exit_status=-1))

        assert not result.clean
        assert "no full answer" in result.reason

    def test_names_are_quoted(self) -> None:
        assert "unit='a b;c' " in RUNNER.stop(StopTarget(unit="a b;c"), script).text
