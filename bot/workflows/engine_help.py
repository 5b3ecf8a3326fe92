"""The flags of an installed engine: read once for each program and version, as importing an engine takes seconds."""

import hashlib
import json
from dataclasses import asdict, replace
from datetime import timedelta

from bot.core.domain.catalog import Revision
from bot.core.domain.engine import Engine
from bot.core.domain.host import Host
from bot.core.domain.reading import Known, Reading, Unknown
from bot.core.facts import HostFacts, ProbeTarget, engine_help, engine_version
from bot.core.facts.engine_help import EngineHelp
from bot.core.planning import probe_target
from bot.errors import RelaunchError
from bot.workflows.look import look
from bot.workflows.services import Services

#: a program that did not answer in time is not asked again so soon: it would hold up every plan
_RETRY_AFTER = timedelta(hours=6)
_LATE = "no answer within"


def look_for_start(services: Services, host: Host, engine: Engine, revision: Revision) -> HostFacts:
    """All facts of a start. The engine's own help comes from memory where this version's was read before; the first
    time it is asked in the same round trip, and a plan waits for it no longer than the fact's limit."""
    target = probe_target(engine, revision, with_help=True)
    if not target.program:
        return look(services, host, target)
    program = _program(target)
    kept = services.helps.get(host.name, program)
    if kept is None:
        facts = look(services, host, target)
        return _with(facts, _keep(services, host, program, facts))
    facts = look(services, host, replace(target, help_words=()))
    version, read_at, reading = kept
    old = isinstance(reading, Unknown) and services.clock.now() - read_at > _RETRY_AFTER
    if version == _version(facts) and not old:
        return _with(facts, reading)
    return _with(facts, _read_again(services, host, target, program, facts))


def _read_again(
    services: Services, host: Host, target: ProbeTarget, program: str, facts: HostFacts
) -> Reading[EngineHelp]:
    """Another version is installed by now."""
    if _version(facts) is None:
        return Unknown("the installed version is not known")
    try:
        asked = look(services, host, target, only=("engine_help",))
    except RelaunchError as error:
        return Unknown(error.message)
    return _keep(services, host, program, _with(facts, asked.reading(engine_help.FACT)))


def _keep(services: Services, host: Host, program: str, facts: HostFacts) -> Reading[EngineHelp]:
    reading, version = facts.reading(engine_help.FACT), _version(facts)
    late = isinstance(reading, Unknown) and reading.reason.startswith(_LATE)
    if version is not None and (isinstance(reading, Known) or late):
        services.helps.put(host.name, program, version, reading, at=services.clock.now())
    return reading


def _with(facts: HostFacts, reading: Reading[EngineHelp]) -> HostFacts:
    readings: dict[str, Reading[object]] = dict(facts.readings)
    readings[engine_help.FACT.name] = Known(reading.value) if isinstance(reading, Known) else reading
    return replace(facts, readings=readings)


def _version(facts: HostFacts) -> str | None:
    """Engine and interpreter: another one of either prints other flags."""
    reading = facts.reading(engine_version.FACT)
    if not isinstance(reading, Known) or reading.value.version is None:
        return None
    return f"{reading.value.version} in {reading.value.program}"


def _program(target: ProbeTarget) -> str:
    chosen = {name: value for name, value in asdict(target).items() if name in ("program", "cwd", "path")}
    return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()[:32]
