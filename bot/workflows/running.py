"""What runs on a host: launches of ours by their units, and servers that somebody else started."""

from collections.abc import Iterable, Sequence, Set
from dataclasses import replace

import structlog

from bot.core.domain.catalog import LaunchRecord
from bot.core.domain.host import Host
from bot.core.domain.launch import LaunchState
from bot.core.domain.message import Message
from bot.core.domain.reading import Known
from bot.core.facts import HostFacts, containers, ports, units
from bot.core.facts.containers import Box
from bot.core.facts.ports import Listener
from bot.core.facts.units import Unit
from bot.core.planning import Running
from bot.errors import RelaunchError
from bot.workflows.services import Services

_log = structlog.get_logger()
_ACTIVE = ("active", "activating", "reloading", "deactivating")


def running_on(services: Services, host: Host, facts: HostFacts) -> tuple[Running, ...]:
    """Ours first, then foreign ones. A launch whose unit is seen to be gone is recorded as lost and left out."""
    listed = facts.reading(units.FACT)
    seen = {u.name.removesuffix(".service"): u for u in listed.value} if isinstance(listed, Known) else None
    listening = facts.reading(ports.FACT)
    listeners = listening.value if isinstance(listening, Known) else ()
    known = facts.reading(containers.FACT)
    boxes = known.value.boxes if isinstance(known, Known) else None
    mine = [
        _our_box(services, launch, boxes)
        if _in_container(services, launch)
        else _ours(services, launch, seen, listeners)
        for launch in services.launches.running(host.name)
    ]
    ours = [one for one in mine if one is not None]
    foreign = _foreign_units(seen or {}, listeners, ours)
    foreign += _foreign_boxes(services, boxes or (), listeners, {one.unit for one in (*ours, *foreign)})
    foreign += _foreign_processes(services, listeners, {box.short_id for box in boxes or ()})
    taken = {one.port for one in ours if one.port is not None}
    return (*ours, *_distinct([one for one in foreign if one.port not in taken]))


def _ours(
    services: Services, launch: LaunchRecord, seen: dict[str, Unit] | None, listeners: Sequence[Listener]
) -> Running | None:
    unit = services.launches.unit(launch.id)
    plan = services.launches.plan(launch.id)
    port = plan.port if plan else None
    by_manager = plan is not None and plan.runner.startswith("systemd")
    known = seen.get(unit) if seen is not None else None
    if by_manager and seen is not None and (known is None or known.state not in _ACTIVE):
        if launch.state == LaunchState.READY:
            why = f"its unit is {known.state} ({known.result})" if known else "its unit is gone"
            services.launches.set_state(launch.id, LaunchState.LOST, at=services.clock.now(), detail=why)
            _say_lost(services, launch, why)
        return None
    owner = next((one.process.pid for one in listeners if one.port == port and one.process), None)
    pid = known.main_pid if known else owner
    return Running(unit=unit, pid=pid, port=port, launch=launch, managed=by_manager)


def _say_lost(services: Services, launch: LaunchRecord, why: str) -> None:
    """In the thread that it was started from; once, whoever finds it."""
    thread = services.launches.conversation(launch.id)
    if thread is None:
        return
    extra = {"config": launch.config, "host": launch.host, "revision": launch.revision}
    context = {
        "config": launch.config,
        "host": launch.host,
        "uptime_s": None,
        "seen_at": None,
        "ended": why,
        "diagnosis": None,
        "log_lines": None,
        "restart": {"label": "Start it again", "action": "start", "operation": launch.id, "extra": extra},
    }
    try:
        services.messenger.post(thread, Message(template="lost", context=context), key=f"{launch.id}:lost")
    except RelaunchError as error:
        # what was asked for is a look at the host, and it goes on
        _log.warning("not said that a server is gone", launch=launch.id, error=error.message)


def _in_container(services: Services, launch: LaunchRecord) -> bool:
    plan = services.launches.plan(launch.id)
    return plan is not None and plan.container is not None


def _our_box(services: Services, launch: LaunchRecord, boxes: Sequence[Box] | None) -> Running | None:
    unit, plan = services.launches.unit(launch.id), services.launches.plan(launch.id)
    box = next((one for one in boxes or () if one.name == unit), None)
    if boxes is not None and (box is None or not box.running):
        if launch.state == LaunchState.READY:
            why = f"its container is {box.state}" if box else "its container is gone"
            services.launches.set_state(launch.id, LaunchState.LOST, at=services.clock.now(), detail=why)
            _say_lost(services, launch, why)
        return None
    port = plan.port if plan else None
    if box is None:
        return Running(unit=unit, port=port, launch=launch, managed=False)
    return Running(unit=unit, pid=box.pid, port=port, launch=launch, managed=False, container=box.short_id)


def _foreign_boxes(
    services: Services, boxes: Sequence[Box], listeners: Sequence[Listener], known: Set[str | None]
) -> list[Running]:
    """Containers whose main process, or a process of theirs that listens, is an engine's. `known`: what is listed
    already; a container in a unit is the unit's."""
    found = []
    for box in boxes:
        own = [one for one in listeners if one.process and box.pid and one.process.container == box.short_id]
        processes = [box.process, *(one.process for one in own)]
        commands = [one.command.split() for one in processes if one and one.command]
        units_of = {(one.unit or "").removesuffix(".service") for one in processes if one}
        if not box.running or known & {box.name, *units_of} or not _any_engine(services, commands):
            continue
        port = next(iter([*box.ports, *(one.port for one in own)]), None)
        found.append(Running(unit=box.name, pid=box.pid, port=port, managed=False, container=box.short_id))
    return found


def _any_engine(services: Services, commands: Iterable[Sequence[str]]) -> bool:
    return any(engine.recognises(command) for command in commands for engine in services.engines.values())


def _foreign_units(seen: dict[str, Unit], listeners: Sequence[Listener], ours: Sequence[Running]) -> list[Running]:
    known = {one.unit for one in ours}
    return [
        Running(unit=name, pid=unit.main_pid, port=_port_of_unit(name, listeners))
        for name, unit in seen.items()
        if name not in known and unit.state in _ACTIVE
    ]


def _port_of_unit(name: str, listeners: Sequence[Listener]) -> int | None:
    owned = [one.port for one in listeners if one.process and (one.process.unit or "").removesuffix(".service") == name]
    return owned[0] if owned else None


def _foreign_processes(services: Services, listeners: Sequence[Listener], boxes: Set[str]) -> list[Running]:
    """Listening processes whose own command line is an engine's, outside of any unit or container that was listed."""
    found = []
    for one in listeners:
        process = one.process
        if process is None or not process.command or process.unit or process.container in boxes:
            continue
        if _any_engine(services, [process.command.split()]):
            found.append(Running(unit=None, pid=process.pid, port=one.port))
    return found


def _distinct(found: Sequence[Running]) -> list[Running]:
    kept: dict[tuple[str | None, int | None], Running] = {}
    for one in found:
        key = (one.unit, one.pid)
        kept[key] = one if key not in kept or kept[key].port is None else replace(kept[key])
    return list(kept.values())
