"""The command line that a process really runs, against the one that was planned."""

import base64
from collections.abc import Sequence

from bot.core.domain.host import Host
from bot.core.domain.plan import Plan
from bot.core.domain.shell import ShellCommand
from bot.workflows.services import Services


def command_of(services: Services, host: Host, pid: int) -> list[str] | None:
    """Words of a process; None where it is gone or may not be read. Raises the errors of the Remote port."""
    result = services.remote.run(host, ShellCommand(text=f"base64 < /proc/{pid}/cmdline | tr -d '\\n'"))
    try:
        data = base64.b64decode(result.stdout or "", validate=True)
    except ValueError:
        return None
    return data.decode("utf-8", "replace").rstrip("\x00").split("\x00") if data else None


def same_command(running: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether a process runs the wanted command. An interpreter in front (a script's #! line), a resolved program path,
    and secrets ("<secret>") are no difference."""
    tail = list(running)[-(len(wanted) - 1) :] if len(wanted) > 1 else []
    program = running[: len(running) - len(tail)]
    name = wanted[0].rsplit("/", 1)[-1]
    if not program or not any(word.rsplit("/", 1)[-1] == name for word in program):
        return False
    return all(have == want or want == "<secret>" for have, want in zip(tail, wanted[1:], strict=True))


def runs_as_planned(running: Sequence[str], plan: Plan) -> bool:
    """Whether a process runs a plan's command. The entrypoint of a container's image may stand in front."""
    wanted = [str(word) for word in plan.argv]
    if same_command(running, wanted):
        return True
    tail = running[-len(wanted) :]
    return (
        plan.container is not None
        and plan.container.image_entrypoint
        and len(tail) == len(wanted)
        and all(have == want or want == "<secret>" for have, want in zip(tail, wanted, strict=True))
    )


def pythons_of(plan: Plan) -> tuple[str, ...]:
    """The host's Python that a plan runs; none where it runs inside a container."""
    program = str(plan.argv[0]) if plan.argv else ""
    return (program,) if "python" in program and plan.container is None else ()
