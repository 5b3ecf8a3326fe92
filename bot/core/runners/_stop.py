"""Stopping is the same for all runners but for who is asked: a manager, or the processes."""

from bot.core.domain.runner import Script, StopResult, StopTarget, Survivor
from bot.core.domain.shell import ShellCommand, ShellResult, quote
from bot.core.runners._answer import answers, last, number

#: for looking before and after, beyond the grace time
_LOOKING_S = 60.0


def stop_command(target: StopTarget, script: Script, *, as_root: bool) -> ShellCommand:
    """One script: look, stop, wait, look again."""
    text = script(
        "scripts/runner_stop.sh.j2",
        unit=quote(target.unit or ""),
        runner=quote(target.runner if target.unit else ""),
        pid="" if target.unit or target.pid is None else target.pid,
        pid_started="" if target.unit or target.pid_started is None else target.pid_started,
        port="" if target.port is None else target.port,
        grace_s=target.grace_s,
        settle_s=target.settle_s,
    )
    return ShellCommand(
        text=text, timeout_s=target.grace_s + target.settle_s + _LOOKING_S, as_root=as_root or target.as_root
    )


def parse_stop(result: ShellResult) -> StopResult:
    """Outcome. A script that did not come to its end proves nothing, and says so."""
    found = answers(result)
    reason = last(found, "reason")
    if "done" not in found and not reason:
        reason = f"the host gave no full answer (exit status {result.exit_status}): {result.stderr.strip()[-300:]}"
    port = last(found, "port")
    return StopResult(
        acted=last(found, "acted") == "yes",
        survivors=tuple(_survivor(line) for line in found.get("survivor", [])),
        port_open=port == "open" if port else None,
        port_owner=last(found, "port_owner"),
        gpu_mib_before=_memory(found.get("gpu_before", [])),
        gpu_mib_after=_memory(found.get("gpu_after", [])),
        enabled=last(found, "enabled") == "yes",
        killed=last(found, "killed") == "yes",
        reason=reason,
    )


def _survivor(line: str) -> Survivor:
    pid, mib, user, age, command = [*line.split(maxsplit=4), "", "", "", "", ""][:5]
    return Survivor(
        pid=number(pid) or 0, user=user, age_s=number(age) or 0, command=command or user, gpu_mib=number(mib)
    )


def _memory(lines: list[str]) -> dict[int, int] | None:
    pairs = (line.split() for line in lines)
    return {int(pair[0]): int(pair[1]) for pair in pairs if len(pair) == 2 and all(map(str.isdigit, pair))} or None
