"""What preflight checks judge: the launch as it would be, and the host as it was read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bot.core.domain.catalog import LaunchRecord, Revision
from bot.core.domain.engine import CommandLine, Engine
from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.host import Host
from bot.core.domain.reading import Known, Reading, Unknown
from bot.core.facts import HostFacts, engine_version, gpus
from bot.core.facts._processes import Process
from bot.core.facts.gpus import Gpu

#: words of NVIDIA_VISIBLE_DEVICES that name no device
_ALL_DEVICES = ("", "all", "none", "void")
#: units that Relaunch started
OUR_UNITS = "relaunch-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A launch that runs on the host: one of ours, or one that was found there (`launch` None)."""

    #: without ".service"; None: a process without a unit
    unit: str | None
    pid: int | None = None
    port: int | None = None
    launch: LaunchRecord | None = None
    #: whether systemd knows `unit`; else it only names the record of a plain process, or a container
    managed: bool = True
    #: `unit` is a container; its id, 12 digits
    container: str | None = None

    @property
    def what(self) -> str:
        """Config or unit or pid, for people."""
        if self.launch is not None:
            return f"{self.launch.config} (launch {self.launch.number})"
        return f"container {self.unit}" if self.container else self.unit or f"process {self.pid}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """One launch on one host, before it is made."""

    host: Host
    engine: Engine
    revision: Revision
    line: CommandLine
    facts: HostFacts
    running: tuple[Running, ...] = ()
    #: what the plan stops first: it holds no port, GPU or memory against the launch
    replaces: tuple[Running, ...] = ()
    #: newest launch that became ready with this config, for comparison
    proven: LaunchRecord | None = None
    #: the revision that launch ran
    proven_revision: Revision | None = None

    @property
    def port(self) -> int:
        """Port of the host that the server will be reached at; 0: a container's that is not published."""
        inside = self.line.port if self.line.port is not None else self.engine.default_port
        container = self.revision.container
        return inside if container is None else container.host_port(inside) or 0

    @property
    def environment(self) -> Mapping[str, str]:
        """The launch's environment; secrets read "<secret>"."""
        return {name: str(value) for name, value in self.revision.env}

    def is_replaced(self, process: Process) -> bool:
        """Whether the plan itself stops this process first."""
        return any(_holds(one, process) for one in self.replaces)

    def is_ours(self, process: Process) -> bool:
        """Whether Relaunch started this process."""
        unit = process.unit or ""
        return unit.startswith(OUR_UNITS) or any(
            one.launch is not None and _holds(one, process) for one in self.running
        )

    def engine_version(self) -> str | None:
        """Installed engine version, where it is known."""
        reading = self.facts.reading(engine_version.FACT)
        return reading.value.version if isinstance(reading, Known) else None

    def wanted_gpus(self) -> Reading[tuple[Gpu, ...]]:
        """The GPUs that the launch will take, in its own order; fewer than it needs when the host has fewer."""
        return gpus_taken(self.engine, self.revision, self.facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One preflight check. `judge` gives its findings, none where it does not apply."""

    judge: Callable[[Situation], tuple[Finding, ...]]
    #: names of the facts it reads
    needs: tuple[str, ...] = field(default=())


def gpus_taken(engine: Engine, revision: Revision, facts: HostFacts) -> Reading[tuple[Gpu, ...]]:
    """The GPUs that a launch of the revision takes, in its own order; fewer than it needs when the host has fewer."""
    reading = facts.reading(gpus.FACT)
    if isinstance(reading, Unknown):
        return reading
    line = engine.parse(revision.argv)
    given, own = gpu_choice(revision)
    offered = visible_gpus(reading.value, given)
    visible = visible_gpus(offered, _renumbered(own, offered))
    needed, first = engine.gpus_needed(line), engine.first_gpu(line)
    return Known(visible if needed is None else visible[first : first + needed])


def gpu_choice(revision: Revision) -> tuple[str | None, str | None]:
    """(GPUs that its container is given, CUDA_VISIBLE_DEVICES): indices or UUIDs joined by commas; None: all."""
    environment = {name: str(value) for name, value in revision.env}
    container = revision.container
    devices = container.gpu_devices if container else None
    if container is not None and devices is None:
        named = environment.get("NVIDIA_VISIBLE_DEVICES", "all")
        devices = None if named in _ALL_DEVICES else named
    return devices, environment.get("CUDA_VISIBLE_DEVICES")


def visible_gpus(all_gpus: tuple[Gpu, ...], devices: str | None) -> tuple[Gpu, ...]:
    """What CUDA_VISIBLE_DEVICES leaves: indices or UUIDs (beginnings count), ending at the first that is none."""
    if devices is None:
        return all_gpus
    chosen = []
    for word in (part.strip() for part in devices.split(",")):
        found = [gpu for gpu in all_gpus if word and (str(gpu.index) == word or gpu.uuid.startswith(word))]
        if len(found) != 1:
            break
        chosen.append(found[0])
    return tuple(chosen)


def _renumbered(devices: str | None, given: tuple[Gpu, ...]) -> str | None:
    """CUDA_VISIBLE_DEVICES where some GPUs are given only: inside a container they are numbered anew."""
    if devices is None:
        return None
    words = [word.strip() for word in devices.split(",")]
    return ",".join(
        given[int(word)].uuid if word.isdigit() and int(word) < len(given) else word if not word.isdigit() else "none"
        for word in words
    )


def finding(check: str, judgement: Judgement, summary: str, *evidence: str, remedy: str = "") -> Finding:
    """A finding with its evidence as separate lines."""
    return Finding(check=check, judgement=judgement, summary=summary, evidence=evidence, remedy=remedy)


def unknown(check: str, what: str, reason: str, *, remedy: str = "") -> tuple[Finding, ...]:
    """One finding that something could not be looked at."""
    return (finding(check, Judgement.UNKNOWN, f"{what}: not known", reason, remedy=remedy),)


def age(seconds: int | None) -> str:
    """ "3 d 4 h", "5 h 12 min", "40 s"; "age not known"."""
    if seconds is None:
        return "age not known"
    for unit, size, smaller, inner in (("d", 86400, "h", 3600), ("h", 3600, "min", 60), ("min", 60, "", 1)):
        if seconds >= size:
            rest = seconds % size // inner
            return f"{seconds // size} {unit}" + (f" {rest} {smaller}" if rest and smaller else "")
    return f"{seconds} s"


def who(process: Process) -> str:
    """A process in one line: pid, owner, age, unit or container, command."""
    parts = [f"pid {process.pid}", process.owner or "owner not visible", age(process.age_s)]
    if process.unit:
        parts.append(process.unit)
    elif process.container:
        parts.append(f"container {process.container}")
    return ", ".join(parts) + f": {(process.command or 'command not visible')[:160]}"


def _holds(one: Running, process: Process) -> bool:
    if one.container is not None:
        # the port of a container is held by its own process, or by one of the engine's that names it
        command = process.command or ""
        forwards = one.port is not None and f"-host-port {one.port} " in f"{command} "
        return process.container == one.container or one.container in command or forwards
    if one.unit is not None and process.unit is not None:
        return process.unit.removesuffix(".service") == one.unit.removesuffix(".service")
    return one.pid is not None and one.pid in (process.pid, process.parent_pid)
