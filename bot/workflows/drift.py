"""What has changed since a launch was proven: engine and library versions, driver, GPUs, model files, the command."""

from collections.abc import Mapping
from typing import Any

from bot.core.discovery.candidate import Candidate
from bot.core.discovery.drift import drift
from bot.core.discovery.launch_call import Evidence
from bot.core.domain.catalog import LaunchConfig, LaunchRecord, Revision
from bot.core.domain.engine import Engine
from bot.core.domain.finding import Finding
from bot.core.domain.host import Host
from bot.core.domain.plan import Plan
from bot.core.domain.reading import Known, Reading, Unknown
from bot.core.facts import Fact, HostFacts, containers, driver, engine_version, gpus, model_files
from bot.core.planning import probe_target
from bot.errors import RelaunchError
from bot.workflows.command_line import command_of, runs_as_planned
from bot.workflows.look import look
from bot.workflows.services import Services

_FACTS = ("engine_version", "driver", "gpus", "model_files", "containers")
_VERSION = "_version"
#: kept name -> (what people call it, the fact that shows it)
_KEPT: dict[str, tuple[str, Fact[Any]]] = {
    "driver": ("driver", driver.FACT),
    "gpu": ("GPUs", gpus.FACT),
    "power_limit_w": ("power limit (W)", gpus.FACT),
    "model_hash": ("model files", model_files.FACT),
    "chat_template": ("chat template", model_files.FACT),
    "image": ("image", containers.FACT),
}


def kept_facts(facts: HostFacts, engine: Engine) -> dict[str, str]:
    """Facts that are kept with a launch, as far as they are known."""
    kept: dict[str, str] = {}
    version = facts.reading(engine_version.FACT)
    if isinstance(version, Known):
        kept |= {"engine_version": version.value.version} if version.value.version else {}
        libraries = {name: value for name, value in version.value.packages.items() if name != engine.distribution}
        kept |= {f"{name}{_VERSION}": value for name, value in libraries.items()}
    installed = facts.reading(driver.FACT)
    if isinstance(installed, Known):
        kept["driver"] = installed.value.version
    cards = facts.reading(gpus.FACT)
    if isinstance(cards, Known):
        kept["gpu"] = ", ".join(sorted({card.name for card in cards.value}))
        limits = sorted({card.power_limit_w for card in cards.value if card.power_limit_w is not None})
        kept |= {"power_limit_w": ", ".join(f"{limit:g}" for limit in limits)} if limits else {}
    model = facts.reading(model_files.FACT)
    if isinstance(model, Known) and model.value.exists:
        kept |= {"model_hash": model.value.hash} if model.value.hash else {}
        kept["chat_template"] = "present" if model.value.chat_template else "none"
    boxes = facts.reading(containers.FACT)
    if isinstance(boxes, Known) and boxes.value.images:
        kept["image"] = ", ".join(sorted({image[:19] for image in boxes.value.images.values()}))
    return kept


def start_drift(
    services: Services, config: LaunchConfig, revision: Revision, host: str, facts: HostFacts
) -> tuple[Finding, ...]:
    """What is not as it was when this revision, or else this config, last became ready on the host."""
    ready = [one for one in services.launches.recent(config=config.name, host=host, limit=50) if one.ready_after_s]
    same = [one for one in ready if one.revision == revision.id]
    for launch in same or ready:
        # the engine's own version is a preflight check
        proven = {key: value for key, value in services.launches.facts(launch.id).items() if key != "engine_version"}
        if proven:
            return _changed(services, revision, proven, facts, None)
    return ()


def running_drift(services: Services, launch: LaunchRecord, host: Host) -> tuple[Finding, ...]:
    """What is not as it was when a running server was proven, its own command included."""
    plan, proven = services.launches.plan(launch.id), services.launches.facts(launch.id)
    if plan is None or plan.engine not in services.engines:
        return ()
    revision = Revision(
        engine=plan.engine, model=plan.model, argv=plan.argv, env=plan.env, cwd=plan.cwd, container=plan.container
    )
    target = probe_target(services.engines[plan.engine], revision)
    try:
        facts = look(services, host, target, only=_FACTS)
        running = _running(services, launch, plan, host)
    except RelaunchError:
        # that the host does not answer is said by the report itself
        return ()
    return _changed(services, revision, proven, facts, running)


def _changed(
    services: Services, revision: Revision, proven: Mapping[str, str], facts: HostFacts, running: Candidate | None
) -> tuple[Finding, ...]:
    engine = services.engines[revision.engine]
    now = _now(proven, facts, engine)
    return drift(
        revision,
        engine=engine,
        running=running,
        proven={_name(key, engine.name): value for key, value in proven.items() if key in now},
        now={_name(key, engine.name): value for key, value in now.items()},
    )


def _now(proven: Mapping[str, str], facts: HostFacts, engine: Engine) -> dict[str, Reading[str]]:
    """Today's readings of what was kept; kept facts of other kinds are left out."""
    known = kept_facts(facts, engine)
    found: dict[str, Reading[str]] = {}
    for key in proven:
        if key not in _KEPT and not key.endswith(_VERSION):
            continue
        fact: Fact[Any] = _KEPT[key][1] if key in _KEPT else engine_version.FACT
        reading = facts.reading(fact)
        if key in known:
            found[key] = Known(known[key])
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
