"""A unit of systemd's system or user manager. Its log is the journal (system) or a file (user: a user may not read the
journal everywhere, and not at all where it is not kept on disk)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from bot.core.domain.catalog import SecretRef
from bot.core.domain.plan import Plan
from bot.core.domain.runner import (
    LogChunk,
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
from bot.core.runners._words import command_words, systemd_command, systemd_word

STOP_TIMEOUT_S = 30
_SHUTTING_DOWN = "stopping"


@dataclass(frozen=True, slots=True)
class SystemdRunner:
    """`scope`: "system" or "user"."""

    name: str
    scope: str

    def start(self, plan: Plan, unit: str, script: Script) -> ShellCommand:
        """Write the unit and start it, once."""
        text, secrets = self.unit_file(plan, unit, script), secrets_of(plan, command_words(plan))
        return self._command(
            script(
                "scripts/runner_start_systemd.sh.j2",
                unit=quote(unit),
                scope=self.scope,
                user=plan.user,
                secrets=secrets,
                names=[quote(key) for key, _ in plan.env],
                text=quote(text),
            ),
            timeout_s=60.0,
        )

    def unit_file(self, plan: Plan, unit: str, script: Script) -> str:
        """Text of the unit."""
        plain = [(key, value) for key, value in plan.env if not isinstance(value, SecretRef)]
        return script(
            "units/server.service.j2",
            description=_one_line(f"{plan.model or plan.engine} started by Relaunch ({plan.operation})"),
            user=plan.user if self.scope == "system" else None,
            # "~" is the account's home; "-" would let a missing folder pass
            working_directory=(plan.cwd or "~").replace("%", "%%"),
            environment=[systemd_word(f"{key}={value}", expands_variables=False) for key, value in plain],
            command=systemd_command(command_words(plan)),
            stop_timeout_s=STOP_TIMEOUT_S,
            identifier=unit,
        )

    def parse_start(self, result: ShellResult) -> StartResult:
        """Outcome of `start`."""
        return start_result(result, self.parse_state(result))

    def state(self, unit: str, script: Script) -> ShellCommand:
        """Look at the unit; needs no root."""
        text = script("scripts/runner_state_systemd.sh.j2", unit=quote(unit), scope=self.scope)
        return ShellCommand(text=text, timeout_s=20.0)

    def parse_state(self, result: ShellResult) -> RunStatus:
        """Outcome of `state`."""
        found = answers(result)
        if "unknown" in found or "show" not in found:
            reason = last(found, "unknown") or result.stderr.strip()[-300:] or "systemd gave no answer"
            return RunStatus(state=RunState.UNKNOWN, reason=reason)
        shown = dict(line.partition("=")[::2] for line in found["show"])
        active = shown.get("ActiveState", "")
        if active in ("active", "activating", "reloading", "refreshing"):
            pid = number(shown.get("MainPID", "")) or None
            return RunStatus(state=RunState.RUNNING, pid=pid, pid_started=number(last(found, "pid_started")))
        if active == "deactivating":
            return RunStatus(state=RunState.STOPPING, pid=number(shown.get("MainPID", "")) or None)
        return _inactive(found, shown)

    def log(self, unit: str, cursor: str, script: Script, *, limit_bytes: int = 1_000_000) -> ShellCommand:
        """Journal or log file after a cursor."""
        if self.scope == "user":
            return file_log(unit, cursor, script, limit_bytes)
        text = script(
            "scripts/runner_log_journal.sh.j2", unit=quote(unit), cursor=quote(cursor), limit_bytes=limit_bytes
        )
        return ShellCommand(text=text, timeout_s=60.0, output_limit_bytes=limit_bytes + 1000, as_root=True)

    def parse_log(self, result: ShellResult, cursor: str) -> LogChunk:
        """Lines of `log`."""
        return parse_file_log(result, cursor) if self.scope == "user" else _parse_journal(result, cursor)

    def stop(self, target: StopTarget, script: Script) -> ShellCommand:
        """Stop the unit and prove it."""
        return stop_command(target, script, as_root=self.scope == "system")

    def parse_stop(self, result: ShellResult) -> StopResult:
        """Outcome of `stop`."""
        return parse_stop(result)

    def cleanup(self, unit: str, script: Script) -> ShellCommand:
        """Remove the unit."""
        return self._command(
            script("scripts/runner_cleanup_systemd.sh.j2", unit=quote(unit), scope=self.scope), timeout_s=30.0
        )

    def _command(self, text: str, *, timeout_s: float) -> ShellCommand:
        return ShellCommand(text=text, timeout_s=timeout_s, as_root=self.scope == "system")


def _inactive(found: Mapping[str, list[str]], shown: Mapping[str, str]) -> RunStatus:
    """What became of a unit that does not run now."""
    started, ended, boot = last(found, "started"), last(found, "ended").split(), last(found, "boot")
    if len(ended) >= 3 and _SHUTTING_DOWN not in ended[3:]:
        return ended_by(result=ended[0], code=ended[1], status=ended[2])
    if ended:
        return RunStatus(state=RunState.LOST, reason="the host or its service manager was shut down while it ran")
    if started and started != boot:
        return RunStatus(state=RunState.LOST, reason="the host was rebooted while it ran")
    if shown.get("ExecMainStartTimestampMonotonic", "0") not in ("", "0"):
        code = {"1": "exited", "2": "killed", "3": "dumped"}.get(shown.get("ExecMainCode", ""), "")
        return ended_by(result=shown.get("Result", ""), code=code, status=shown.get("ExecMainStatus", ""))
    if started:
        return RunStatus(state=RunState.LOST, reason="it was started, and systemd knows nothing of it any more")
    return RunStatus(state=RunState.ABSENT, reason="there is no such unit")


def ended_by(*, result: str, code: str, status: str) -> RunStatus:
    """From systemd's $SERVICE_RESULT, $EXIT_CODE and $EXIT_STATUS, systemd.exec(5)."""
    if code in ("killed", "dumped"):
        signal = _signal_name(status)
        memory = result == "oom-kill"
        reason = "the out-of-memory killer ended it" if memory else f"ended by {signal}"
        return RunStatus(state=RunState.ENDED, signal=signal, oom_killed=memory, reason=reason)
    exit_status = number(status)
    if result == "oom-kill":
        return RunStatus(
            state=RunState.ENDED,
            exit_status=exit_status,
            oom_killed=True,
            reason="the out-of-memory killer ended one of its processes",
        )
    reason = _EXIT_WORDS.get(exit_status or 0, f"ended with exit status {status}")
    return RunStatus(state=RunState.ENDED, exit_status=exit_status, reason=reason)


#: systemd.exec(5), "Process Exit Codes"
_EXIT_WORDS = {
    200: "its working directory is not there (200/CHDIR)",
    203: "its program cannot be executed (203/EXEC)",
    205: "its limits cannot be set (205/LIMITS)",
    209: "its output cannot be opened (209/STDOUT)",
    216: "its group is not there (216/GROUP)",
    217: "its account is not there (217/USER)",
}
_SIGNALS = {1: "HUP", 2: "INT", 3: "QUIT", 4: "ILL", 6: "ABRT", 7: "BUS", 8: "FPE", 9: "KILL", 11: "SEGV", 15: "TERM"}


def _signal_name(status: str) -> str:
    """ "KILL", "9" or "SIGKILL" to "SIGKILL"."""
    given = number(status)
    return f"SIG{_SIGNALS.get(given, str(given)) if given is not None else status.removeprefix('SIG')}"


def _parse_journal(result: ShellResult, cursor: str) -> LogChunk:
    """Lines of `journalctl -o json`: a message is a string, or a list of bytes where it is no plain text."""
    if result.exit_status != 0 and not result.stdout:
        reason = result.stderr.strip()[-300:] or f"journalctl ended with exit status {result.exit_status}"
        return LogChunk(lines=(), cursor=cursor, reason=reason)
    lines: list[str] = []
    cut = False
    for raw in result.stdout.split("\n"):
        if not raw.startswith("{"):
            continue
        try:
            entry = json.loads(raw)
        except ValueError:
            cut = True
            break
        cursor = str(entry.get("__CURSOR", cursor))
        message = entry.get("MESSAGE")
        text = bytes(message).decode("utf-8", "replace") if isinstance(message, list) else str(message or "")
        lines += [line for line in text.replace("\r", "\n").split("\n") if line] or [""]
    return LogChunk(lines=tuple(lines), cursor=cursor, more=cut, gap=result.stdout.startswith("relaunch gap"))


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("%", "%%").rstrip("\\")
