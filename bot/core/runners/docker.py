"""A container of docker or podman, called like the unit and labelled with its operation. The daemon keeps its log."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bot.core.domain.catalog import SecretRef, Word
from bot.core.domain.container import CONFIG_LABEL, OPERATION_LABEL, env_file, run_words
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
from bot.core.runners._secrets import secrets_of
from bot.core.runners._stop import parse_stop, stop_command
from bot.core.runners._systemd import ended_by
from bot.core.runners._words import check, shell_command
from bot.errors import BadInputError

_ALIVE = ("running", "paused", "restarting")
_LINE = re.compile(r"(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)) ?(.*)")
#: of a line that podman got in pieces, each piece has its time in front
_PIECE = re.compile(r"(\d{4}-\d\d-\d\dT[\d:]{8}\.\d{7,9}(?:Z|[+-]\d\d:\d\d)) ")
_STATUS = re.compile(r"\nrelaunch status (\d+) (\d*)\n\Z")
#: what the daemon notes of a container that ran when the machine went down
_WENT_DOWN = 255


@dataclass(frozen=True, slots=True)
class DockerRunner:
    """`docker run --detach`, or podman's."""

    name: str = "docker"

    def start(self, plan: Plan, unit: str, script: Script) -> ShellCommand:
        """Run it, once. Raises BadInputError for a plan without an image."""
        if plan.container is None:
            raise BadInputError("the launch names no image", remedy="give the launch config a container")
        check(plan)
        words = plan_words(plan, unit)
        secrets = secrets_of(plan, words)
        place = f"--env-file={env_file(unit)}"
        text = script(
            "scripts/runner_start_docker.sh.j2",
            unit=quote(unit),
            tool=quote(plan.container.tool),
            image=quote(plan.container.image),
            operation=quote(operation_of(unit)),
            operation_label=OPERATION_LABEL,
            config_filter=quote(f"label={CONFIG_LABEL}={plan.config or ''}"),
            secrets=secrets,
            secret_names=[key for key, value in plan.env if isinstance(value, SecretRef)],
            command=shell_command(words).replace(quote(place), '"--env-file=$record/env"'),
        )
        return ShellCommand(text=text, timeout_s=90.0)

    def unit_file(self, plan: Plan, unit: str, script: Script) -> None:
        """There is no unit."""

    def parse_start(self, result: ShellResult) -> StartResult:
        """Outcome of `start`."""
        return start_result(result, self.parse_state(result))

    def state(self, unit: str, script: Script) -> ShellCommand:
        """Ask the daemon; where the container was removed, what was kept of it."""
        return ShellCommand(text=script("scripts/runner_state_docker.sh.j2", unit=quote(unit)), timeout_s=20.0)

    def parse_state(self, result: ShellResult) -> RunStatus:
        """Outcome of `state`."""
        found = answers(result)
        if "unknown" in found or "boot" not in found:
            reason = last(found, "unknown") or result.stderr.strip()[-300:] or "the host gave no answer"
            return RunStatus(state=RunState.UNKNOWN, reason=reason)
        shown = _object(last(found, "state"))
        if shown:
            return _status(shown, found)
        if "started" in found:
            return RunStatus(state=RunState.LOST, reason="it was started, and its container was removed since")
        return RunStatus(state=RunState.ABSENT, reason="it was not started here")

    def log(self, unit: str, cursor: str, script: Script, *, limit_bytes: int = 1_000_000) -> ShellCommand:
        """The log from the cursor on: "TIME COUNT", the time of the last piece that was read, and how many pieces of
        that time were."""
        text = script(
            "scripts/runner_log_docker.sh.j2",
            unit=quote(unit),
            **{"from": quote(_just_before(cursor.partition(" ")[0]))},
            limit_bytes=limit_bytes,
        )
        return ShellCommand(text=text, timeout_s=60.0, output_limit_bytes=limit_bytes + 1000)

    def parse_log(self, result: ShellResult, cursor: str) -> LogChunk:
        """Lines of `log`; a progress bar's returns end lines as well."""
        whole = _STATUS.search(result.stdout)
        text = result.stdout[: whole.start()] if whole else result.stdout.rpartition("\n")[0]
        rows = _rows(text)
        if not rows and (whole is None or whole[1] != "0"):
            reason = (text.strip() or result.stderr.strip())[-300:] or "the log could not be read"
            return LogChunk(lines=(), cursor=cursor, reason=reason)
        if whole is not None and whole[2].strip("0") and text and not text.endswith("\n"):
            # the rest of this line is yet to come
            rows.pop()
        before, _, count = cursor.partition(" ")
        times = [at for row in rows for at in row.times]
        # what was read last comes again, unless it is gone
        gap = bool(before) and before not in times
        seen = 0 if not before or gap else times.index(before) + min(times.count(before), number(count) or 0)
        lines: list[str] = []
        for row in rows:
            if seen < len(row.times) and (not gap or row.times[0] > before):
                lines += row.text.removesuffix("\r").split("\r")
            seen = max(seen - len(row.times), 0)
        at = times[-1] if times else before
        position = f"{at} {times.count(at) or count}" if at else ""
        return LogChunk(lines=tuple(lines), cursor=position, more=whole is None, gap=gap)

    def stop(self, target: StopTarget, script: Script) -> ShellCommand:
        """Stop the container and prove it; also one that others started."""
        return stop_command(target, script, as_root=False)

    def parse_stop(self, result: ShellResult) -> StopResult:
        """Outcome of `stop`."""
        return parse_stop(result)

    def cleanup(self, unit: str, script: Script) -> ShellCommand:
        """Remove the container, unless it runs or is not ours."""
        text = script("scripts/runner_cleanup_docker.sh.j2", unit=quote(unit), operation_label=OPERATION_LABEL)
        return ShellCommand(text=text, timeout_s=30.0)


def operation_of(unit: str) -> str:
    """Id of the operation that a unit is named after."""
    return unit.rpartition("-")[2]


def plan_words(plan: Plan, unit: str) -> tuple[Word, ...]:
    """The `docker run` of a plan, a word each. Raises BadInputError for a variable that no file can carry."""
    assert plan.container is not None
    for key, value in plan.env:
        if isinstance(value, SecretRef) and not (key.isidentifier() and key.isascii()):
            raise BadInputError(f"{key!r} is no variable name that a secret can have", remedy="rename it")
    return run_words(
        plan.container,
        plan.argv,
        name=unit,
        operation=operation_of(unit),
        config=plan.config,
        env=[(key, value) for key, value in plan.env if isinstance(value, str)],
        secrets=any(isinstance(value, SecretRef) for _, value in plan.env),
        cwd=plan.cwd,
        user=plan.user,
        wrappers=plan.wrappers,
    )


def _status(shown: Mapping[str, Any], found: Mapping[str, list[str]]) -> RunStatus:
    """From .State of `inspect`."""
    word, pid = str(shown.get("Status") or ""), shown.get("Pid")
    main = pid if isinstance(pid, int) and pid else None
    if word in _ALIVE:
        return RunStatus(state=RunState.RUNNING, pid=main, pid_started=number(last(found, "pid_started")))
    if word in ("stopping", "removing"):
        return RunStatus(state=RunState.STOPPING, pid=main)
    code = number(str(shown.get("ExitCode", "")))
    rebooted = last(found, "started") not in ("", last(found, "boot"))
    if rebooted and (code == _WENT_DOWN or word not in ("exited", "dead", "stopped")):
        return RunStatus(state=RunState.LOST, reason="the host was rebooted while it ran")
    if word not in ("exited", "dead", "stopped") or code is None:
        return RunStatus(state=RunState.UNKNOWN, reason=f"its container is {word or 'in no known state'}")
    killed = 128 < code <= 128 + 64
    return ended_by(
        result="oom-kill" if shown.get("OOMKilled") is True else "",
        code="killed" if killed else "exited",
        status=str(code - 128 if killed else code),
    )


def _object(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True)
class _Row:
    """A log line, and the times of the pieces that it came in."""

    times: tuple[str, ...]
    text: str


def _rows(text: str) -> list[_Row]:
    """Lines in their order; what has no time goes on the line before it."""
    rows: list[_Row] = []
    for line in text.split("\n"):
        match = _LINE.fullmatch(line)
        if match is not None:
            rows.append(_row(match[1], match[2]))
        elif rows and line:
            rows[-1] = _Row(rows[-1].times, f"{rows[-1].text}\r{line}")
    return rows


def _row(at: str, text: str) -> _Row:
    """Pieces of one line: of the same day, else a time is part of the text."""
    times, parts, start = [at], [], 0
    for found in _PIECE.finditer(text):
        if found[1][:10] == at[:10]:
            times.append(found[1])
            parts.append(text[start : found.start()])
            start = found.end()
    return _Row(tuple(times), "".join([*parts, text[start:]]))


def _just_before(at: str) -> str:
    """A microsecond earlier: what docker gives from a time on, podman gives only after it."""
    if not at:
        return ""
    moment = datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", at).replace("Z", "+00:00"))
    return (moment - timedelta(microseconds=1)).isoformat(timespec="microseconds")


RUNNER: Runner = DockerRunner()
