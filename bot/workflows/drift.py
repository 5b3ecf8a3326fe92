"""What has changed since a launch was proven: engine and library versions, driver, GPUs, model files, the command,
the unit."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bot.core.catalog.found_unit import as_found, found_unit
from bot.core.discovery.candidate import Candidate
from bot.core.discovery.declared import Declared, declared_by_others, declared_by_us, unreadable
from bot.core.discovery.drift import drift
from bot.core.discovery.launch_call import Evidence
from bot.core.domain.catalog import LaunchConfig, LaunchRecord, Revision
from bot.core.domain.engine import Engine
from bot.core.domain.finding import Finding
from bot.core.domain.host import Host
from bot.core.domain.plan import Plan
from bot.core.domain.reading import Known, Reading, Unknown
from bot.core.facts import Fact, HostFacts, containers, driver, engine_version, gpus, model_files, unit_file
from bot.core.facts.gpus import Gpu
from bot.core.planning import gpu_choice, gpus_taken, probe_target
from bot.errors import RelaunchError
from bot.workflows.command_line import command_of, runs_as_planned
from bot.workflows.look import look
from bot.workflows.services import Services

_FACTS = ("engine_version", "driver", "gpus", "model_files", "containers")
_VERSION = "_version"
#: kept name -> (what people call it, the fact that shows it)
_KEPT: dict[str, tuple[str, Fact[Any]]] = {
    "driver": ("driver", driver.FACT),
    "gpus_used": ("GPUs", gpus.FACT),
    "gpu_cards": ("GPU cards", gpus.FACT),
    "gpus_power_limit_w": ("power limit (W)", gpus.FACT),
    "model_hash": ("model files", model_files.FACT),
    "chat_template_hash": ("chat template", model_files.FACT),
    "image": ("image", containers.FACT),
}
#: which cards a launch takes, in two ways
_GPU_SET = frozenset({"gpus_used", "gpu_cards"})
_CARD_DIGITS = 8


def kept_facts(facts: HostFacts, engine: Engine, revision: Revision) -> dict[str, str]:
    """Facts that are kept with a launch of the revision, as far as they are known."""
    readings = _readings(facts, engine, revision)
    return {key: reading.value for key, reading in readings.items() if isinstance(reading, Known)}


def _readings(facts: HostFacts, engine: Engine, revision: Revision) -> dict[str, Reading[str]]:
    """Kept name -> its reading; what there is none of is left out."""
    found: dict[str, Reading[str]] = {}
    version = facts.reading(engine_version.FACT)
    if isinstance(version, Known):
        packages = {name: value for name, value in version.value.packages.items() if name != engine.distribution}
        found |= {"engine_version": Known(version.value.version)} if version.value.version else {}
        found |= {f"{name}{_VERSION}": Known(value) for name, value in packages.items()}
    installed = facts.reading(driver.FACT)
    if isinstance(installed, Known):
        found["driver"] = Known(installed.value.version)
    taken = gpus_taken(engine, revision, facts)
    if isinstance(taken, Known):
        found |= {key: Known(value) for key, value in _cards(taken.value).items()}
    model = facts.reading(model_files.FACT)
    if isinstance(model, Known) and model.value.exists:
        found |= {"model_hash": Known(model.value.hash)} if model.value.hash else {}
        if model.value.chat_template_unread:
            found["chat_template_hash"] = Unknown(model.value.chat_template_unread)
        elif model.value.chat_template_hash:
            found["chat_template_hash"] = Known(model.value.chat_template_hash)
    boxes = facts.reading(containers.FACT)
    if isinstance(boxes, Known) and boxes.value.images:
        found["image"] = Known(", ".join(sorted({image[:19] for image in boxes.value.images.values()})))
    return found


def _cards(taken: Sequence[Gpu]) -> dict[str, str]:
    """The cards of a launch: "0,1 (NVIDIA RTX A6000)", beginnings of their UUIDs, their power limits."""
    if not taken:
        return {}
    names = " + ".join(dict.fromkeys(card.name for card in taken))
    limits = sorted({card.power_limit_w for card in taken if card.power_limit_w is not None})
    kept = {
        "gpus_used": f"{','.join(str(card.index) for card in taken)} ({names})",
        "gpu_cards": ", ".join(card.uuid.removeprefix("GPU-")[:_CARD_DIGITS] for card in taken),
    }
    return kept | ({"gpus_power_limit_w": ", ".join(f"{limit:g}" for limit in limits)} if limits else {})


def start_drift(
    services: Services, config: LaunchConfig, revision: Revision, host: str, facts: HostFacts
) -> tuple[Finding, ...]:
    """What is not as it was when this revision, or else this config, last became ready on the host; and what the unit
    says by now that it was found in."""
    unit = _found_in(services, config, revision, host, facts)
    ready = [one for one in services.launches.recent(config=config.name, host=host, limit=50) if one.ready_after_s]
    same = [one for one in ready if one.revision == revision.id]
    for launch in same or ready:
        # the engine's own version is a preflight check
        proven = {key: value for key, value in services.launches.facts(launch.id).items() if key != "engine_version"}
        if proven:
            plan = services.launches.plan(launch.id)
            before = planned_revision(plan) if plan is not None else revision
            return _changed(services, revision, proven, facts, unit=unit, before=before)
    return _changed(services, revision, {}, facts, unit=unit)


def _found_in(
    services: Services, config: LaunchConfig, revision: Revision, host: str, facts: HostFacts
) -> Declared | None:
    """The unit that the revision was found in, on the host that it was found on."""
    found = found_unit(revision)
    recorded = as_found(revision, {one.id: one for one in config.revisions})
    if found is None or recorded is None or config.host != host:
        return None
    reading = facts.reading(unit_file.FACT)
    if isinstance(reading, Unknown):
        return unreadable(found[0], reading)
    return declared_by_others(reading.value, recorded, found[0], services.engines)


def running_drift(services: Services, launch: LaunchRecord, host: Host) -> tuple[Finding, ...]:
    """What is not as it was when a running server was proven, its own command and its unit included."""
    plan, proven = services.launches.plan(launch.id), services.launches.facts(launch.id)
    if plan is None or plan.engine not in services.engines:
        return ()
    revision = planned_revision(plan)
    target = probe_target(services.engines[plan.engine], revision)
    unit = services.launches.unit(launch.id)
    try:
        written = services.runners[plan.runner].unit_file(plan, unit, services.script)
        wanted = (*_FACTS, unit_file.FACT.name) if written is not None else _FACTS
        name = f"{unit}.service"
        facts = look(services, host, replace(target, unit=name if written is not None else None), only=wanted)
        running = _running(services, launch, plan, host)
    except RelaunchError:
        # that the host does not answer is said by the report itself
        return ()
    declared = None
    if written is not None:
        reading = facts.reading(unit_file.FACT)
        declared = (
            unreadable(name, reading)
            if isinstance(reading, Unknown)
            else declared_by_us(reading.value, written, plan, name, services.engines)
        )
    return _changed(services, revision, proven, facts, running=running, unit=declared)


def planned_revision(plan: Plan) -> Revision:
    """The revision that a plan launches, without where it came from."""
    return Revision(
        engine=plan.engine,
        model=plan.model,
        argv=plan.argv,
        env=plan.env,
        cwd=plan.cwd,
        user=plan.user,
        wrappers=plan.wrappers,
        container=plan.container,
    )


def _changed(
    services: Services,
    revision: Revision,
    proven: Mapping[str, str],
    facts: HostFacts,
    *,
    running: Candidate | None = None,
    unit: Declared | None = None,
    before: Revision | None = None,
) -> tuple[Finding, ...]:
    """`before`: what the launch ran that `proven` is of; None: the same revision."""
    engine = services.engines[revision.engine]
    now = _now(proven, facts, engine, revision)
    on_purpose = before is not None and _chosen(before, engine) != _chosen(revision, engine)
    left_out = _GPU_SET if on_purpose else _same_gpus(proven, now)
    declared = unit or Declared()
    changes = drift(
        revision,
        engine=engine,
        running=running,
        unit=declared.candidate,
        unit_recorded=declared.recorded,
        proven={_name(key, engine.name): value for key, value in proven.items() if key in now and key not in left_out},
        now={_name(key, engine.name): value for key, value in now.items()},
    )
    return (*declared.findings, *changes)


def _same_gpus(proven: Mapping[str, str], now: Mapping[str, Reading[str]]) -> frozenset[str]:
    """What need not be said of the GPUs: nothing where the cards are the same ones, and a change once."""
    if "gpu_cards" not in proven:
        return frozenset()
    same = [now.get(key) == Known(proven.get(key)) for key in ("gpu_cards", "gpus_used")]
    return _GPU_SET if same[0] else frozenset({"gpu_cards"} if not same[1] else {"gpus_used"})


def _chosen(revision: Revision, engine: Engine) -> tuple[object, ...]:
    """How a launch chooses its GPUs; another choice is made on purpose."""
    line = engine.parse(revision.argv)
    return (*gpu_choice(revision), engine.gpus_needed(line), engine.first_gpu(line))


def _now(proven: Mapping[str, str], facts: HostFacts, engine: Engine, revision: Revision) -> dict[str, Reading[str]]:
    """Today's readings of what was kept; kept facts of other kinds are left out."""
    known = _readings(facts, engine, revision)
    model = facts.reading(model_files.FACT)
    gone = isinstance(model, Known) and not model.value.exists
    found: dict[str, Reading[str]] = {}
    for key in proven:
        if (key not in _KEPT and not key.endswith(_VERSION)) or (gone and key == "chat_template_hash"):
            continue
        fact: Fact[Any] = _KEPT[key][1] if key in _KEPT else engine_version.FACT
        reading = facts.reading(fact)
        if key in known:
            found[key] = known[key]
        elif isinstance(reading, Unknown):
            found[key] = reading
        else:
            found[key] = Known("none")
    return found


def _name(key: str, engine: str) -> str:
    if key == "engine_version":
        return engine
    return _KEPT[key][0] if key in _KEPT else key.removesuffix(_VERSION)


def _running(services: Services, launch: LaunchRecord, plan: Plan, host: Host) -> Candidate | None:
    """The running command where it is another one than planned; None where it is the same or cannot be seen."""
    runner = services.runners[plan.runner]
    unit = services.launches.unit(launch.id)
    pid = runner.parse_state(services.remote.run(host, runner.state(unit, services.script))).pid
    if pid is None:
        return None
    words = command_of(services, host, pid)
    if words is None or runs_as_planned(words, plan):
        return None
    engine = services.engines[plan.engine]
    if not engine.recognises(words):
        return None
    return Candidate(
        engine=plan.engine,
        model=engine.parse(words).model or plan.model,
        argv=tuple(words),
        status="running",
        evidence=(Evidence(kind="proc", path=f"/proc/{pid}"),),
        pid=pid,
    )
