"""Planning a stop."""

from bot.core.domain.host import Host
from bot.core.domain.plan import Plan, Refusal, Step, StepKind
from bot.core.domain.reading import Known, Unknown
from bot.core.facts import HostFacts, ports, system, units
from bot.core.planning.runner import choose_runner
from bot.core.planning.situation import OUR_UNITS, Running

_ENDED = ("inactive", "failed")


def plan_stop(host: Host, target: Running, facts: HostFacts, *, reasons: tuple[str, ...] = ()) -> Plan | Refusal:
    """Plan to stop what runs. Always needs an approval; refused where it is seen not to run."""
    gone = _gone(target, facts)
    if gone:
        return Refusal(reason=f"{target.what} does not run on {host.name}: {gone}", remedy="ask for the host's status")
    pid = target.pid or _pid(target, facts)
    if target.unit is None and pid is None:
        return Refusal(
            reason=f"which process of {host.name} to stop is not known",
            remedy="name its port or config, or scan the host",
        )
    runner = "docker" if target.container else choose_runner(facts.reading(system.FACT), user=None)
    if isinstance(runner, Refusal):
        return runner
    approval = [f"{target.what} is stopped"]
    if host.protected:
        approval.append(f"{host.name} is protected")
    if target.launch is None and not (target.unit or "").startswith(OUR_UNITS):
        approval.append("it was not started by Relaunch")
    return Plan(
        operation="stop",
        host=host.name,
        config=target.launch.config if target.launch else None,
        revision=None,
        runner=runner if target.unit else "process",
        port=target.port,
        steps=(
            Step(kind=StepKind.STOP, summary=f"stop {target.what}", unit=target.unit, pid=pid),
            Step(
                kind=StepKind.PROVE,
                summary="check that processes, port and GPU memory are gone",
                unit=target.unit,
                pid=pid,
            ),
        ),
        relies_on=stop_relied_on(target, facts),
        needs_approval=tuple(approval),
        reasons=reasons,
    )


def stop_relied_on(target: Running, facts: HostFacts) -> tuple[tuple[str, str], ...]:
    """The pid that is stopped, for the look at the click (`changed_since`)."""
    return ((f"to stop: {target.unit or 'process'}", str(target.pid or _pid(target, facts) or "not known")),)


def _gone(target: Running, facts: HostFacts) -> str:
    """Why it is seen not to run, or ""."""
    listed = facts.reading(units.FACT)
    if target.unit is not None and target.managed and isinstance(listed, Known):
        found = [
            one for one in listed.value if one.name.removesuffix(".service") == target.unit.removesuffix(".service")
        ]
        if found and all(one.state in _ENDED for one in found):
            return f"its unit is {found[0].state}"
        if not found and target.unit.startswith(OUR_UNITS):
            return "it has no such unit"
    return ""


def _pid(target: Running, facts: HostFacts) -> int | None:
    """Main pid of the unit, else the owner of the port."""
    listed = facts.reading(units.FACT)
    if target.unit is not None and isinstance(listed, Known):
        for one in listed.value:
            if one.name.removesuffix(".service") == target.unit.removesuffix(".service"):
                return one.main_pid
    reading = facts.reading(ports.FACT)
    if target.port is None or isinstance(reading, Unknown):
        return None
    owners = {one.process.pid for one in reading.value if one.port == target.port and one.process is not None}
    return owners.pop() if len(owners) == 1 else None
