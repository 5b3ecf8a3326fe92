"""Planning a start and a restart."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from bot.core.domain.catalog import LaunchConfig, LaunchRecord, Revision
from bot.core.domain.engine import Engine
from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.host import Host
from bot.core.domain.plan import Plan, Refusal, Step, StepKind
from bot.core.facts import HostFacts, system
from bot.core.planning.free import free_sets, holders, is_passing, still_held
from bot.core.planning.relied_on import relied_on
from bot.core.planning.revision import diff_lines
from bot.core.planning.runner import choose_runner
from bot.core.planning.situation import OUR_UNITS, Check, Running, Situation

#: what these could not look at is for a person to decide on
_MUST_BE_KNOWN = ("foreign_processes", "port_free", "gpu_count", "gpu_memory")
#: of an engine's environment: the host's for a plain launch, the image's for a container
_OF_THE_HOST = frozenset({"compilers", "shm", "ulimits"})
_OF_THE_INSIDE = frozenset(
    {
        "architecture",
        "compute_capability",
        "driver_cuda",
        "engine_present",
        "flags",
        "memory_estimate",
        "model_complete",
        "shared_libraries",
    }
)
_READY = ("ready", "stopped", "stopping", "lost")


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRequest:
    """Everything that a start is planned from."""

    #: id of the operation: names the unit, so that a step done twice starts nothing twice
    operation_id: str
    host: Host
    config: LaunchConfig
    #: to be launched, overrides applied (`derived_revision`)
    revision: Revision
    engine: Engine
    facts: HostFacts
    #: checks by module name (bot.core.planning.checks)
    checks: Mapping[str, Check] = field(default_factory=dict)
    #: all that runs on the host, as far as it is known
    running: tuple[Running, ...] = ()
    #: launches of this config, oldest first
    history: Sequence[LaunchRecord] = ()
    #: why this revision, and what of the sentence was ignored
    reasons: tuple[str, ...] = ()
    #: made before: what has changed since the revision was proven
    drift: tuple[Finding, ...] = ()
    measure: bool = True


def unit_name(config: str, operation_id: str) -> str:
    """Unit of one start, without ".service": at most 60 letters that systemd takes."""
    slug = re.sub(r"[^a-z0-9]+", "-", config.lower()).strip("-")[:40].strip("-")
    return f"{OUR_UNITS}{slug or 'launch'}-{re.sub(r'[^A-Za-z0-9]', '', operation_id)[:10]}"


def plan_start(request: StartRequest) -> Plan | Refusal:
    """Plan a start, or say what stands against it."""
    mine = [one for one in request.running if one.launch is not None and one.launch.config == request.config.name]
    if mine:
        return Refusal(
            reason=f"{mine[0].what} already runs on {request.host.name}",
            remedy="restart it, or start it on another host",
            running=mine[0].launch.id if mine[0].launch else None,
            revision=request.revision.id,
        )
    return _plan(request, replaces=())


def plan_restart(request: StartRequest, target: Running) -> Plan | Refusal:
    """Plan to stop `target` and start the revision in its place. Always needs an approval."""
    return _plan(request, replaces=(target,))


def _plan(request: StartRequest, *, replaces: tuple[Running, ...]) -> Plan | Refusal:
    situation = _situation(request, replaces)
    judged = [one for check in request.checks.values() for one in check.judge(situation)]
    findings = (*(one for one in judged if _counts(situation, one)), *request.drift)
    refused = [one for one in findings if one.judgement is Judgement.REFUSE]
    if refused:
        return _refusal(situation, findings, refused[0])
    runner = _runner(request)
    if isinstance(runner, Refusal):
        return Refusal(reason=runner.reason, remedy=runner.remedy, findings=findings)
    same = [one for one in request.history if one.revision == request.revision.id]
    revision = request.revision
    return Plan(
        operation="restart" if replaces else "start",
        host=request.host.name,
        config=request.config.name,
        revision=revision.id,
        argv=revision.argv,
        env=revision.env,
        cwd=revision.cwd,
        user=revision.user,
        wrappers=revision.wrappers,
        container=revision.container,
        runner=runner,
        engine=request.engine.name,
        model=situation.line.model or revision.model,
        port=situation.port,
        steps=_steps(request, replaces),
        findings=findings,
        diff=diff_lines(request.engine, situation.proven_revision, revision),
        relies_on=relied_on(situation),
        needs_approval=_approval_reasons(request, replaces, findings),
        expected_ready_s=_median([one.ready_after_s for one in same or request.history]),
        expected_tok_s=_expected_tok_s(request, same),
        reasons=request.reasons,
    )


def _runner(request: StartRequest) -> str | Refusal:
    """A container's account is one inside."""
    if request.revision.container is not None:
        return "docker"
    return choose_runner(request.facts.reading(system.FACT), user=request.revision.user)


def _counts(situation: Situation, one: Finding) -> bool:
    """What the host itself has for an engine says nothing about a container; what is inside is not looked at."""
    if situation.revision.container is None:
        return True
    return one.check not in _OF_THE_HOST and (one.judgement is not Judgement.UNKNOWN or one.check not in _OF_THE_INSIDE)


def _refusal(situation: Situation, findings: tuple[Finding, ...], first: Finding) -> Refusal:
    waits = not situation.replaces and is_passing(situation, findings)
    return Refusal(
        reason=first.summary,
        remedy=first.remedy,
        findings=findings,
        free_gpus=free_sets(situation, findings) if waits else (),
        passing=waits,
        revision=situation.revision.id,
        holders=holders(situation) if waits else (),
    )


def held_back(request: StartRequest) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """What stands against a waiting start on its GPUs now, and who holds them; needs free.FREE_FACTS only."""
    situation = _situation(request, ())
    return still_held(situation, request.checks), holders(situation)


def _situation(request: StartRequest, replaces: tuple[Running, ...]) -> Situation:
    proven = next((one for one in reversed(request.history) if one.state in _READY and one.ready_after_s), None)
    revisions = {one.id: one for one in request.config.revisions}
    parent = revisions.get(request.revision.parent or "")
    return Situation(
        host=request.host,
        engine=request.engine,
        revision=request.revision,
        line=request.engine.parse(request.revision.argv),
        facts=request.facts,
        running=request.running,
        replaces=replaces,
        proven=proven,
        proven_revision=(revisions.get(proven.revision) if proven else None) or parent,
    )


def _steps(request: StartRequest, replaces: tuple[Running, ...]) -> tuple[Step, ...]:
    unit = unit_name(request.config.name, request.operation_id)
    steps = [
        Step(
            kind=StepKind.STOP,
            summary=f"stop {one.what}",
            unit=one.unit,
            pid=one.pid,
            runner=_stopped_by(request, one),
        )
        for one in replaces
    ]
    steps += [
        Step(kind=StepKind.START, summary=f"start {request.config.name} on {request.host.name}", unit=unit),
        Step(kind=StepKind.WATCH, summary="watch it until it is ready", unit=unit),
        Step(kind=StepKind.PROVE, summary="check process, port, model and one real token", unit=unit),
    ]
    if request.measure:
        steps.append(Step(kind=StepKind.MEASURE, summary="measure its speed", unit=unit))
    return tuple(steps)


def _stopped_by(request: StartRequest, one: Running) -> str | None:
    """None: the runner that starts the new one."""
    if one.container is not None or request.revision.container is None:
        return "docker" if one.container is not None else None
    chosen = choose_runner(request.facts.reading(system.FACT), user=None)
    return None if isinstance(chosen, Refusal) or one.unit is None else chosen


def _approval_reasons(
    request: StartRequest, replaces: tuple[Running, ...], findings: tuple[Finding, ...]
) -> tuple[str, ...]:
    reasons = [f"{one.what} is stopped" for one in replaces]
    if request.host.protected:
        reasons.append(f"{request.host.name} is protected")
    if any(one.check == "foreign_processes" and one.judgement is Judgement.WARN for one in findings):
        reasons.append("others use the same GPUs")
    unknown = [one for one in findings if one.judgement is Judgement.UNKNOWN and one.check in _MUST_BE_KNOWN]
    reasons += [one.summary for one in unknown]
    return tuple(dict.fromkeys(reasons))


def _expected_tok_s(request: StartRequest, same: list[LaunchRecord]) -> float | None:
    """Median of this revision's launches; what the catalog says where the revision is the config's own."""
    measured = _median([one.decode_tok_s for one in same])
    if measured is None and request.config.measured and request.revision.id == request.config.latest.id:
        return request.config.measured.decode_tok_s
    return measured


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(median(known)) if known else None
