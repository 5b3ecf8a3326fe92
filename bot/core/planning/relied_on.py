"""State of the host that a plan relies on, as comparable pairs; looked at again at the click."""

from bot.core.domain.plan import Plan
from bot.core.domain.reading import Known, Unknown
from bot.core.facts import containers, gpu_processes, ports
from bot.core.planning.situation import Situation

#: stands for all of a plan that could not be made again, with the reason
PLAN = "plan"
_ON_GPU = "processes on GPU "


def gpus_of(plan: Plan) -> frozenset[str]:
    """Indices of the GPUs that a plan takes; empty where they are not known."""
    return frozenset(name.removeprefix(_ON_GPU) for name, _ in plan.relies_on if name.startswith(_ON_GPU))


def relied_on(situation: Situation) -> tuple[tuple[str, str], ...]:
    """Who owns the port, who is on each wanted GPU, the engine's version, and the pids of what is stopped first."""
    pairs = [(f"port {situation.port}", _port(situation))]
    wanted, processes = situation.wanted_gpus(), situation.facts.reading(gpu_processes.FACT)
    if isinstance(wanted, Known) and isinstance(processes, Known):
        for gpu in wanted.value:
            pids = sorted(one.process.pid for one in processes.value if one.gpu_uuid == gpu.uuid)
            pairs.append((f"{_ON_GPU}{gpu.index}", ", ".join(map(str, pids)) or "none"))
    else:
        pairs.append(("processes on the GPUs", "not known"))
    pairs.append(("engine version", situation.engine_version() or "not known"))
    container = situation.revision.container
    if container is not None:
        seen = situation.facts.reading(containers.FACT)
        images = seen.value.images if isinstance(seen, Known) else {}
        pairs.append((f"image {container.image}", images.get(container.tool, "not known")))
    pairs += [(f"to stop: {one.unit or 'process'}", str(one.pid or "not known")) for one in situation.replaces]
    return tuple(pairs)


def changed_since(plan: Plan, now: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """What is no longer as the plan has it, a line each; empty: the plan may be carried out."""
    current = dict(now)
    if PLAN in current:
        # it cannot be planned any more: that says it all
        return (current[PLAN],)
    return tuple(
        f"{name} was {value}, now {current.get(name, 'not looked at')}"
        for name, value in plan.relies_on
        if current.get(name) != value
    )


def _port(situation: Situation) -> str:
    reading = situation.facts.reading(ports.FACT)
    if isinstance(reading, Unknown):
        return "not known"
    owners = [one.process for one in reading.value if one.port == situation.port]
    return ", ".join(sorted(f"pid {one.pid}" if one else "owner not visible" for one in owners)) or "free"
