"""A runner, a host and an account together: what a workflow does with a runner, one call each."""

import itertools
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bot.adapters.ssh.remote import SshRemote
from bot.core.domain.host import Host
from bot.core.domain.plan import Plan
from bot.core.domain.runner import (
    LogChunk,
    Runner,
    RunState,
    RunStatus,
    StartResult,
    StopResult,
    StopTarget,
    unit_name,
)
from bot.core.domain.shell import ShellResult
from tests.rig.containers import ContainerHost
from tests.rig.host import RigHost

_TEMPLATES = Path(__file__).resolve().parents[3] / "templates"
_ENVIRONMENT = Environment(
    loader=FileSystemLoader(_TEMPLATES), undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False
)
_NUMBERS = itertools.count(1)


def script(template: str, **values: Any) -> str:
    """Render a template of templates/."""
    return _ENVIRONMENT.get_template(template).render(**values)


@dataclass
class Driver:
    """Commands of one runner for one account on one host, each with a new unit name per `plan`."""

    runner: Runner
    rig: RigHost | ContainerHost
    remote: SshRemote
    user: str
    unit: str = ""

    @property
    def host(self) -> Host:
        return self.rig.host(self.user)

    def plan(self, *argv: Any, **changes: Any) -> Plan:
        """A plan, and a unit name of its own."""
        operation = f"{os.getpid()}-{next(_NUMBERS)}"
        self.unit = unit_name(operation)
        given: dict[str, Any] = {
            "operation": operation,
            "host": self.rig.name,
            "config": None,
            "revision": None,
            "argv": argv,
            "runner": self.runner.name,
            "model": "tiny",
        }
        return Plan(**{**given, **changes})

    def start(self, plan: Plan) -> StartResult:
        return self.runner.parse_start(self.remote.run(self.host, self.runner.start(plan, self.unit, script)))

    def state(self) -> RunStatus:
        return self.runner.parse_state(self.remote.run(self.host, self.runner.state(self.unit, script)))

    def log(self, cursor: str = "", limit_bytes: int = 1_000_000) -> LogChunk:
        command = self.runner.log(self.unit, cursor, script, limit_bytes=limit_bytes)
        return self.runner.parse_log(self.remote.run(self.host, command), cursor)

    def stop(self, **target: Any) -> StopResult:
        given: dict[str, Any] = {"unit": self.unit, "runner": self.runner.name}
        command = self.runner.stop(StopTarget(**{**given, **target}), script)
        return self.runner.parse_stop(self.remote.run(self.host, command))

    def cleanup(self) -> ShellResult:
        return self.remote.run(self.host, self.runner.cleanup(self.unit, script))

    def ended(self) -> RunStatus:
        """State once it has ended; fails after ten seconds."""
        deadline = time.monotonic() + 10
        while (status := self.state()).state in (RunState.RUNNING, RunState.STOPPING):
            assert time.monotonic() < deadline, status
        return status

    def log_until(self, word: str) -> tuple[str, ...]:
        """Log lines from the start, read by cursor, until one has the word; fails after ten seconds."""
        deadline = time.monotonic() + 10
        lines: list[str] = []
        cursor = ""
        while not any(word in line for line in lines):
            assert time.monotonic() < deadline, lines
            chunk = self.log(cursor)
            lines += chunk.lines
            cursor = chunk.cursor
        return tuple(lines)
