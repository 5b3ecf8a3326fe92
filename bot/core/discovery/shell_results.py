"""What a shell found: launches, and the units and compose services that it starts."""

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.core.discovery.launch_call import Call, ComposeUp, ContainerRun, Evidence, Sighting, said_alike
from bot.core.discovery.shell_state import render

if TYPE_CHECKING:
    from bot.core.discovery.shell_run import Interpreter


def start_written(shell: "Interpreter", path: str, text: str) -> None:
    """Follow a unit that this text wrote before."""
    sources = tuple(Evidence(kind=kind, path=place) for kind, place in shell.scope.sources)
    for one in shell.world.read_unit(path, render(text)):
        evidence = _distinct((*shell.surroundings.evidence, *sources)) or one.evidence
        shell.launches.append(replace(one, evidence=evidence))
        shell.world.used.update(place for _, place in shell.scope.sources)


def start_services(shell: "Interpreter", up: ComposeUp) -> None:
    """Follow `docker compose up`. A history alone says no more than the file does, unless its variables count."""
    sources = tuple(Evidence(kind=kind, path=place) for kind, place in shell.scope.sources)
    around = shell.surroundings
    typed = not sources and any(one.kind == "history" for one in around.evidence)
    plain = shell.world.read_compose(replace(up, variables={}, env_file=None)) if typed else []
    for one in shell.world.read_compose(up):
        if typed and one.evidence and any(said_alike(one, other) for other in plain):
            shell.launches.append(one)
            continue
        evidence = _distinct((*around.evidence, *sources, *one.evidence))
        runner = "systemd" if around.unit else one.runner
        shell.launches.append(replace(one, evidence=evidence, unit=around.unit, runner=runner))
        shell.world.used.update(place for _, place in shell.scope.sources)


def emit(shell: "Interpreter", call: Call) -> bool:
    """Keep a command if it is a launch."""
    around = shell.surroundings
    line = f"line {call.line}" if call.line else ""
    sources = tuple(Evidence(kind=kind, path=path) for kind, path in shell.scope.sources)
    last = sources[-1:] and sources[-1]
    if last and line:
        sources = (*sources[:-1], replace(last, detail=line))
    container = around.container or (ContainerRun(name=call.container) if call.container else None)
    unit = around.unit or call.unit
    runner = "systemd" if unit else ("docker" if container and around.runner == "process" else around.runner)
    sighting = Sighting(
        argv=call.argv,
        env=call.env,
        cwd=call.cwd,
        user=call.user or shell.scope.user,
        venv=call.venv,
        wrappers=call.wrappers,
        runner=runner,
        unit=unit,
        container=container,
        evidence=_distinct((*around.evidence, *sources)),
        logs=call.logs,
    )
    if not shell.world.is_launch(sighting):
        return False
    shell.launches.append(sighting)
    shell.world.used.update(path for _, path in shell.scope.sources)
    return True


def _distinct(evidence: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    found: dict[tuple[str, str], Evidence] = {}
    for one in evidence:
        found.setdefault((one.kind, one.path), one)
    return tuple(found.values())
