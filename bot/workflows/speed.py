"""Measured speed in context: the baseline of a launch, the verdict against it, and what differs."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.core.domain.catalog import LaunchRecord, Revision
from bot.core.domain.engine import Engine
from bot.core.domain.measurement import Measurement, Verdict, Workload
from bot.core.domain.plan import Plan
from bot.core.measuring.baseline import Candidate, Choice, choose_baseline
from bot.core.measuring.explain import Difference, Observed, SpeculationCost, explain, speculation_cost
from bot.core.measuring.verdict import compare_measurements, run_noise
from bot.errors import BadInputError
from bot.workflows.services import Services

#: launches of a config that comparisons look at
_LAUNCHES = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A measurement against its baseline."""

    measurement: Measurement
    baseline: Candidate | None
    #: why this baseline, or why there is none
    why: str
    verdict: Verdict | None
    causes: tuple[Difference, ...] = ()
    speculation: SpeculationCost | None = None


def candidates(services: Services, config: str | None, host: str | None = None) -> tuple[Candidate, ...]:
    """Every measurement of every launch of a config, oldest first."""
    if not config:
        return ()
    found = []
    for launch in reversed(services.launches.recent(config=config, host=host, limit=_LAUNCHES)):
        pinned = services.launches.baseline(config, launch.host)
        found += [
            Candidate(
                launch=launch.id,
                number=launch.number,
                revision=launch.revision,
                host=launch.host,
                measurement=one,
                pinned=pinned is not None and pinned == (launch.id, one),
            )
            for one in services.launches.measurements(launch.id)
        ]
    return tuple(found)


def judge(services: Services, launch: LaunchRecord, measurement: Measurement) -> Judged:
    """Compare a measurement with the pinned or best one of its config on its host."""
    known = candidates(services, launch.config)
    choice: Choice = choose_baseline(known, host=launch.host, workload=measurement.workload, exclude=launch.id)
    if choice.baseline is None:
        return Judged(measurement=measurement, baseline=None, why=choice.why, verdict=None)
    return against(services, launch, measurement, choice.baseline, choice.why, known)


def against(
    services: Services,
    launch: LaunchRecord,
    measurement: Measurement,
    baseline: Candidate,
    why: str,
    known: Sequence[Candidate],
) -> Judged:
    """Compare a measurement with a given one."""
    same = [c.measurement for c in known if c.revision == baseline.revision and c.host == baseline.host]
    width = min(measurement.workload.concurrency)
    verdict = compare_measurements(baseline.measurement, measurement, run_noise_pct=run_noise(same, width))
    current = observed(services, launch, measurement)
    other = services.launches.get(baseline.launch)
    causes: tuple[Difference, ...] = ()
    cost = None
    if current and other and (best := observed(services, other, baseline.measurement)):
        others = [
            seen
            for c in known
            if (record := services.launches.get(c.launch)) and (seen := observed(services, record, c.measurement))
        ]
        causes = explain(current, best, others)
        cost = speculation_cost(others, current)
    return Judged(measurement=measurement, baseline=baseline, why=why, verdict=verdict, causes=causes, speculation=cost)


def observed(services: Services, launch: LaunchRecord, measurement: Measurement) -> Observed | None:
    """A measured launch with its settings, each as text."""
    plan = services.launches.plan(launch.id)
    if plan is None or plan.engine not in services.engines:
        return None
    return Observed(
        number=launch.number,
        host=launch.host,
        settings=settings(services, plan),
        measurement=measurement,
        model=plan.model,
        environment={name: str(value) for name, value in plan.env},
    )


def known_facts(services: Services, launch: str) -> dict[str, str]:
    """Facts of a launch that comparisons are about; names with an underscore are notes of ours."""
    return {name: value for name, value in services.launches.facts(launch).items() if not name.startswith("_")}


def settings(services: Services, plan: Plan) -> dict[str, str]:
    """Neutral settings of a plan's command, and flags without a neutral name, as text."""
    return _settings(services.engines[plan.engine], plan.argv)


def revision_settings(services: Services, revision: Revision) -> dict[str, str]:
    """The same of a revision; empty for an engine that is not known."""
    engine = services.engines.get(revision.engine)
    return _settings(engine, revision.argv) if engine else {}


def _settings(engine: Engine, argv: Sequence[object]) -> dict[str, str]:
    flags = engine.parse(argv).flags
    neutral = engine.flags_to_overrides(flags)
    named: set[str] = set()
    for name, value in neutral.items():
        try:
            named |= set(engine.overrides_to_flags({name: value}))
        except BadInputError:
            continue
    rest = {name: value for name, value in flags.items() if name not in named}
    return {name: str(value) for name, value in {**rest, **neutral}.items()}


def workload_of(services: Services, concurrency: Sequence[int] = (), prompt_tokens: int | None = None) -> Workload:
    """The usual workload, or the one asked for."""
    usual = services.workload
    return Workload(
        concurrency=tuple(concurrency) or usual.concurrency,
        prompt_tokens=prompt_tokens or usual.prompt_tokens,
        output_tokens=usual.output_tokens,
        max_level_s=usual.max_level_s,
        reuse_prompts=usual.reuse_prompts,
    )
