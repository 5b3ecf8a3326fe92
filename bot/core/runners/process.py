"""A process in a session of its own, for hosts without systemd: pid file with start time, log file, and the exit status
noted by the shell that waits for it."""

from dataclasses import dataclass

from bot.core.domain.catalog import SecretRef
from bot.core.domain.plan import Plan
from bot.core.domain.runner import (
    LogChunk,
    Runner,
    RunState,
    RunStatus,
    Script,
    StartResult,
    StopResult,
    StopTarget,
)
from bot.core.domain.shell import ShellCommand, ShellResult, quote
from bot.core.runners._answer import answers, last, number, start_result
from bot.core.runners._log_file import file_log, parse_file_log
from bot.core.runners._secrets import secrets_of
from bot.core.runners._stop import parse_stop, stop_command
from bot.core.runners._systemd import ended_by
from bot.core.runners._words import command_words, shell_command
from bot.errors import BadInputError


@dataclass(frozen=True, slots=True)
class ProcessRunner:
    """setsid, pid file and log file."""

    name: str = "process"

    def start(self, plan: Plan, unit: str, script: Script) -> ShellCommand:
        """Start it in a session of its own, once."""
        words = command_words(plan)
        secrets = secrets_of(plan, words)
        environment = [(key, quote(value)) for key, value in plan.env if not isinstance(value, SecretRef)]
        for key, _ in plan.env:
            if not key.isidentifier() or not key.isascii():
                raise BadInputError(
                    f"{key!r} is no variable name that a shell takes", remedy='use the runner "systemd", or rename it'
                )
        text = script(
            "units/run.sh.j2",
            user=quote(plan.user) if plan.user else None,
            secrets=bool(secrets),
            environment=environment,
            working_directory=quote(plan.cwd) if plan.cwd else '"$HOME"',
            command=shell_command(words),
        )
        command = script(
            "scripts/runner_start_process.sh.j2",
            unit=quote(unit),
            user=plan.user,
            secrets=secrets,
            text=quote(text),
        )
        return ShellCommand(text=command, timeout_s=40.0, as_root=plan.user is not None)

    def unit_file(self, plan: Plan, unit: str, script: Script) -> None:
        """There is no unit."""

    def parse_start(self, result: ShellResult) -> StartResult:
        """Outcome of `start`."""
        return start_result(result, self.parse_state(result))

    def state(self, unit: str, script: Script) -> ShellCommand:
        """Look at the pid file and the process."""
        return ShellCommand(text=script("scripts/runner_state_process.sh.j2", unit=quote(unit)), timeout_s=20.0)

    def parse_state(self, result: ShellResult) -> RunStatus:
        """Outcome of `state`."""
        found = answers(result)
        if "boot" not in found:
            return RunStatus(state=RunState.UNKNOWN, reason=result.stderr.strip()[-300:] or "the host gave no answer")
        if last(found, "alive") == "yes":
            pid, _, started = last(found, "pid").partition(" ")
            return RunStatus(state=RunState.RUNNING, pid=number(pid), pid_started=number(started))
        ended, _, going_down = last(found, "ended").partition(" ")
        status = number(ended)
        if status is not None and going_down:
            return RunStatus(state=RunState.LOST, reason="the host was shut down while it ran")
        if status is not None:
            # sh says 128 + the signal
            signalled = 128 < status <= 128 + 64
            code, value = ("killed", status - 128) if signalled else ("exited", status)
            return ended_by(result="", code=code, status=str(value))
        if "started" not in found:
            return RunStatus(state=RunState.ABSENT, reason="it was not started here")
        if last(found, "started") != last(found, "boot"):
            return RunStatus(state=RunState.LOST, reason="the host was rebooted while it ran")
        return RunStatus(state=RunState.LOST, reason="it is gone, and so is the shell that watched it")

    def log(self, unit: str, cursor: str, script: Script, *, limit_bytes: int = 1_000_000) -> ShellCommand:
        """The log file after a cursor."""
        return file_log(unit, cursor, script, limit_bytes)

    def parse_log(self, result: ShellResult, cursor: str) -> LogChunk:
        """Lines of `log`."""
        return parse_file_log(result, cursor)

    def stop(self, target: StopTarget, script: Script) -> ShellCommand:
        """Stop the process tree and prove it; also one that others started."""
        return stop_command(target, script, as_root=False)

    def parse_stop(self, result: ShellResult) -> StopResult:
        """Outcome of `stop`."""
        return parse_stop(result)

    def cleanup(self, unit: str, script: Script) -> ShellCommand:
        """Remove pid file, log and run script."""
        return ShellCommand(text=script("scripts/runner_cleanup_process.sh.j2", unit=quote(unit)), timeout_s=20.0)


RUNNER: Runner = ProcessRunner()
