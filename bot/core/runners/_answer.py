"""Answers of the runners' scripts: lines "relaunch KEY VALUE", among whatever else a host prints."""

import re
from collections.abc import Mapping

from bot.core.domain.runner import RunState, RunStatus, StartOutcome, StartResult
from bot.core.domain.shell import ShellResult

_LINE = re.compile(r"^relaunch (\w+) ?(.*)$", re.MULTILINE)


def answers(result: ShellResult) -> dict[str, list[str]]:
    """Values by key, in their order."""
    found: dict[str, list[str]] = {}
    for key, value in _LINE.findall(result.stdout):
        found.setdefault(key, []).append(value.strip())
    return found


def last(found: Mapping[str, list[str]], key: str) -> str:
    """The last value of a key, or ""."""
    return found.get(key, [""])[-1]


def start_result(result: ShellResult, status: RunStatus) -> StartResult:
    """Outcome of a start script."""
    found = answers(result)
    try:
        outcome = StartOutcome(last(found, "outcome"))
    except ValueError:
        # a script that was cut off may have started the server: `state` tells
        words = (result.stderr or result.stdout).strip()[-300:]
        return StartResult(
            outcome=StartOutcome.FAILED if status.state is RunState.ABSENT else StartOutcome.ALREADY,
            status=status,
            reason=f"the host gave no answer to the start (exit status {result.exit_status}): {words}",
        )
    reasons = [status.reason] if status.state is not RunState.UNKNOWN and outcome is StartOutcome.FAILED else []
    reasons += [last(found, "reason")]
    return StartResult(
        outcome=outcome, status=status, reason=": ".join(filter(None, reasons)), remedy=last(found, "remedy")
    )


def number(text: str) -> int | None:
    """A whole number, or None."""
    return int(text) if re.fullmatch(r"\d{1,18}", text) else None
