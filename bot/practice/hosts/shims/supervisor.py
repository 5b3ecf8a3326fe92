"""Runs one service as systemd does: its own session, output into the journal, state in a file, restarts, stop.

`supervisor.py SCOPE UNIT`. SIGTERM stops the service: the stop signal to every process of the unit, SIGKILL after
TimeoutStopSec. Processes of the unit are told by INVOCATION_ID in their environment, which systemd sets as well.
"""

import contextlib
import os
import pwd
import select
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

from . import journal, unit_file
from .unit_file import Unit
from .view import JsonObject, processes, root, write_json

_SIGNALS = {s.name: int(s) for s in signal.Signals}
_ERRNO_EXEC = 203
_CHDIR = 200
_EXIT_NAMES = {0: "SUCCESS", 1: "FAILURE", _CHDIR: "CHDIR", _ERRNO_EXEC: "EXEC"}
_POLL_S = 0.05


def state_path(scope: str, name: str) -> Path:
    """Where the state of a unit is kept."""
    return root() / "units" / f"{scope}-{name}.json"


def seconds(text: str, default: float) -> float:
    """A time span such as 90, 5s, 2min, infinity."""
    if text == "infinity":
        return 1e9
    units = {"ms": 0.001, "s": 1, "sec": 1, "min": 60, "m": 60, "h": 3600, "": 1}
    digits = "".join(c for c in text if c.isdigit() or c == ".")
    unit = text.replace(digits, "", 1).strip()
    return float(digits) * units.get(unit, 1) if digits else default


class Service:
    """One service, from start to its last end."""

    def __init__(self, scope: str, unit: Unit) -> None:
        self.scope = scope
        self.unit = unit
        self.invocation = uuid.uuid4().hex
        self.restarts = 0
        self.stopping = False
        self.pid = 0
        self.reader = -1
        self.held = b""
        self.state: JsonObject = {"Id": unit.name, "Supervisor": os.getpid()}

    # --- state and words

    def tell(self, **changes: object) -> None:
        """Change the state on disk."""
        self.state.update(changes)
        self.state["NRestarts"] = self.restarts
        write_json(state_path(self.scope, self.unit.name), self.state)

    def say(self, text: str) -> None:
        """A line of the manager about this unit."""
        key = "USER_UNIT" if self.scope == "user" else "UNIT"
        fields = {key: self.unit.name, "SYSLOG_IDENTIFIER": "systemd", "_COMM": "systemd", "_PID": str(os.getpid())}
        fields["USER_INVOCATION_ID" if self.scope == "user" else "INVOCATION_ID"] = self.invocation
        journal.append(self.scope, text.encode(), fields | {"PRIORITY": "6"})

    def output(self, line: bytes) -> None:
        """A line of the service."""
        unit_key = "_SYSTEMD_USER_UNIT" if self.scope == "user" else "_SYSTEMD_UNIT"
        fields = {
            unit_key: self.unit.name,
            "_SYSTEMD_INVOCATION_ID": self.invocation,
            "SYSLOG_IDENTIFIER": self.identifier,
            "_PID": str(self.pid),
            "_COMM": self.identifier[:15],
            "_UID": "1000",
            "_TRANSPORT": "stdout",
            "PRIORITY": "6",
        }
        journal.append(self.scope, line.rstrip(), fields)

    # --- life

    def run(self) -> None:
        """Start, and again where Restart= says so."""
        while True:
            self.once()
            if self.state["SubState"] != "auto-restart":
                return
            pause = time.monotonic() + seconds(self.unit.last("RestartSec"), 0.1)
            while time.monotonic() < pause and not self.stopping:
                time.sleep(_POLL_S)
            if self.stopped():
                self.tell(ActiveState="inactive", SubState="dead", Result="success")
                return
            self.restarts += 1
            self.say(f"{self.unit.name}: Scheduled restart job, restart counter is at {self.restarts}.")
            self.invocation = uuid.uuid4().hex

    def stopped(self) -> bool:
        """Whether the service was told to stop, perhaps by a signal just now."""
        return self.stopping

    def wants_restart(self, failed: bool) -> bool:
        """Whether Restart= asks for another round."""
        policy = self.unit.last("Restart", "no")
        return policy == "always" or (policy.startswith("on-") and failed and policy != "on-success")

    def once(self) -> None:
        """One run of the main process."""
        unit = self.unit
        self.identifier = "(unknown)"
        words = unit_file.split(unit_file.specifiers(unit.last("ExecStart"), unit.name))
        variables = self.variables()
        words = unit_file.expand(words, variables)
        program = words[0].lstrip("-@:+!")
        words[0] = program
        self.identifier = unit.last("SyslogIdentifier") or Path(program).name
        self.tell(
            ActiveState="activating", SubState="start", InvocationID=self.invocation, Result="success", ExecStart=words
        )
        executed = self.spawn(program, words, variables)
        now = int(time.time() * 1e6)
        main = {"MainPID": self.pid, "ExecMainPID": self.pid, "ExecMainStartTimestamp": now}
        self.state.update(main, ExecMainCode=0, ExecMainStatus=0)
        # Type=exec counts as started once the program runs, Type=simple as soon as it was forked
        if executed or unit.last("Type", "simple") == "simple":
            self.tell(ActiveState="active", SubState="running", ActiveEnterTimestamp=now)
            self.say(f"Started {unit.last('Description', unit.name, 'Unit')}.")
        self.finish(self.wait())

    def variables(self) -> dict[str, str]:
        """Environment of the service: the manager's, not the login's."""
        kept = ("HOME", "LANG", "PATH", "XDG_RUNTIME_DIR")
        inherited = {k: v for k, v in os.environ.items() if k in kept or k.startswith("PRACTICE_")}
        account = {"USER": "serve", "LOGNAME": "serve", "SHELL": "/bin/sh", "INVOCATION_ID": self.invocation}
        with contextlib.suppress(KeyError):
            account["USER"] = account["LOGNAME"] = os.environ.get("PRACTICE_USER") or pwd.getpwuid(os.getuid()).pw_name
        return inherited | account | {"JOURNAL_STREAM": "8:1"} | unit_file.environment(self.unit)

    def spawn(self, program: str, words: list[str], variables: dict[str, str]) -> bool:
        """Fork the main process with its output on a pipe or in a file. Whether its program was executed."""
        self.reader, writer = os.pipe()
        # closed by a successful exec, written to by a failed one
        verdict, failed = os.pipe()
        target = self.unit.last("StandardOutput", "journal")
        folder = unit_file.specifiers(self.unit.last("WorkingDirectory", "~").lstrip("-"), self.unit.name)
        found = program if "/" in program else self._search(program, variables)
        self.pid = os.fork()
        if self.pid:
            os.close(writer)
            os.close(failed)
            executed = not os.read(verdict, 1)
            os.close(verdict)
            return executed
        status = _ERRNO_EXEC
        try:
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            if target.partition(":")[0] in ("append", "file", "truncate"):
                flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if target.startswith("append") else os.O_TRUNC)
                writer = os.open(unit_file.specifiers(target.partition(":")[2], self.unit.name), flags, 0o644)
            null = os.open("/dev/null", os.O_RDONLY)
            for source, place in ((null, 0), (writer, 1), (writer, 2)):
                os.dup2(source, place)
            status = _CHDIR
            os.chdir(Path.home() if folder == "~" else folder)
            status = _ERRNO_EXEC
            os.execve(found, words, variables)
        except OSError as error:
            step = "CHDIR" if status == _CHDIR else "EXEC"
            self.say(f"{self.unit.name}: Failed at step {step} spawning {program}: {error.strerror}")
        os.write(failed, b"x")
        os._exit(status)

    def _search(self, program: str, variables: dict[str, str]) -> str:
        for folder in variables.get("PATH", "/usr/bin:/bin").split(":"):
            if os.access(f"{folder}/{program}", os.X_OK):
                return f"{folder}/{program}"
        return program

    def wait(self) -> int:
        """Read output until the main process has ended; gives its wait status."""
        kill_at = 0.0
        while True:
            ready, _, _ = select.select([self.reader], [], [], _POLL_S) if self.reader >= 0 else ([], [], [])
            if ready:
                self.read()
            elif self.reader < 0:
                time.sleep(_POLL_S)
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                self.drain()
                return status
            if self.stopping and not kill_at:
                self.tell(ActiveState="deactivating", SubState="stop-sigterm")
                self.say(f"Stopping {self.unit.last('Description', self.unit.name, 'Unit')}...")
                self.signal_all(_SIGNALS.get(self.unit.last("KillSignal", "SIGTERM"), signal.SIGTERM))
                kill_at = time.monotonic() + seconds(self.unit.last("TimeoutStopSec"), 90)
            if kill_at and time.monotonic() > kill_at:
                self.say(f"{self.unit.name}: State 'stop-sigterm' timed out. Killing.")
                self.state["Result"] = "timeout"
                self.signal_all(signal.SIGKILL)
                kill_at = time.monotonic() + 10

    def read(self) -> None:
        """Take what is there, a line at a time."""
        data = os.read(self.reader, 65536)
        if not data:
            os.close(self.reader)
            self.reader = -1
        *lines, self.held = (self.held + data).split(b"\n")
        for line in lines:
            self.output(line)
        if len(self.held) > journal.LINE_BYTES or (not data and self.held):
            self.output(self.held)
            self.held = b""

    def drain(self) -> None:
        """Read what is left once the main process has ended."""
        while self.reader >= 0 and select.select([self.reader], [], [], 0)[0]:
            self.read()
        if self.held:
            self.output(self.held)
            self.held = b""

    def signal_all(self, number: int) -> None:
        """Signal the processes of this unit as KillMode= says."""
        mode = self.unit.last("KillMode", "control-group")
        pids = (
            [self.pid]
            if mode in ("process", "none") or (mode == "mixed" and number != signal.SIGKILL)
            else self.members()
        )
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def members(self) -> list[int]:
        """Living processes of this run."""
        return [p for p, v in processes().items() if v.get("INVOCATION_ID") == self.invocation and p != os.getpid()]

    def finish(self, status: int) -> None:
        """Clear up after the main process and say how it ended."""
        unit = self.unit
        if unit.last("KillMode", "control-group") not in ("process", "none"):
            for pid in self.members():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        if os.WIFSIGNALED(status):
            code, number = 2, os.WTERMSIG(status)
            name = f"code=killed, status={number}/{signal.Signals(number).name[3:]}"
            fine = number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE)
            result = "signal"
        else:
            code, number = 1, os.WEXITSTATUS(status)
            name = f"code=exited, status={number}/{_EXIT_NAMES.get(number, 'n/a')}"
            fine = number == 0
            result = "exit-code"
        accepted = unit_file.split(" ".join(unit.all("SuccessExitStatus")))
        fine = fine or str(number) in accepted or (code == 2 and signal.Signals(number).name in accepted)
        if number or code == 2:
            self.say(f"{unit.name}: Main process exited, {name}")
        if self.state.get("Result") == "timeout":
            fine, result = False, "timeout"
        if fine:
            self.say(f"{unit.name}: Deactivated successfully.")
        else:
            self.say(f"{unit.name}: Failed with result '{result}'.")
        if self.stopping:
            self.say(f"Stopped {unit.last('Description', unit.name, 'Unit')}.")
        self.after_stop("success" if fine else result, code, number)
        again = not self.stopping and self.wants_restart(not fine)
        now = int(time.time() * 1e6)
        self.tell(
            ActiveState="activating" if again else "inactive" if fine else "failed",
            SubState="auto-restart" if again else "dead" if fine else "failed",
            Result="success" if fine else result,
            MainPID=0,
            ExecMainCode=code,
            ExecMainStatus=number,
            ExecMainExitTimestamp=now,
            InactiveEnterTimestamp=now,
        )

    def after_stop(self, result: str, code: int, number: int) -> None:
        """Run the commands of ExecStopPost=, told how the service ended."""
        status = signal.Signals(number).name[3:] if code == 2 else str(number)
        told = {"SERVICE_RESULT": result, "EXIT_CODE": "killed" if code == 2 else "exited", "EXIT_STATUS": status}
        for line in self.unit.all("ExecStopPost"):
            words = unit_file.split(unit_file.specifiers(line.lstrip("-@:+!"), self.unit.name))
            words = unit_file.expand(words, self.variables())
            with contextlib.suppress(OSError):
                subprocess.run(words, env=self.variables() | told, stdin=subprocess.DEVNULL, timeout=20, check=False)


def main(arguments: list[str]) -> int:
    """Supervise a unit."""
    scope, name = arguments
    unit = unit_file.load(scope, name)
    if unit is None or not unit.last("ExecStart"):
        return 1
    service = Service(scope, unit)

    def stop(_number: int, _frame: object) -> None:
        service.stopping = True

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    service.run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
