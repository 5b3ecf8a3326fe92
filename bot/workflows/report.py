"""Health reports: hosts, GPUs, servers with a real token, findings. What cannot be looked at is said, never hidden."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.host import Host
from bot.core.domain.message import Conversation, Json, Message
from bot.core.domain.operation import Schedule
from bot.core.domain.reading import Known
from bot.core.domain.records import from_json, to_json
from bot.core.facts import HostFacts, gpu_processes, gpus
from bot.core.health import worst
from bot.core.rendering.redact import redact
from bot.errors import RelaunchError
from bot.workflows.drift import running_drift
from bot.workflows.host_gpus import host_gpus
from bot.workflows.look import look_everywhere
from bot.workflows.ports import Run
from bot.workflows.rhythm import rhythm
from bot.workflows.servers import ServerView, in_parallel, observe_all
from bot.workflows.services import Services


def health(services: Services, host: str | None = None, schedule: str | None = None) -> Message:
    """Look at all hosts (or one) and all servers now; keeps a sample of each host."""
    inventory = services.hosts.inventory().hosts
    wanted = [h for h in inventory.values() if host in (None, h.name)]
    needs = {"gpus", "gpu_processes"}.union(*(probe.needs for probe in services.probes.values()))
    seen = look_everywhere(services, wanted, only=needs)
    views = observe_all(services, host=host)
    changed = _drift(services, views)
    hosts = [_host(services, h, seen[h.name], [v for v in views if v.launch.host == h.name], changed) for h in wanted]
    now = services.clock.now()
    for one in hosts:
        services.health_samples.add(one["name"], now, one)
    judgements = [Judgement.UNKNOWN if not h["reachable"] else Judgement(h["judgement"]) for h in hosts]
    return Message(
        template="health",
        context={
            "at": now.isoformat(),
            "judgement": (Judgement.REFUSE if any(not h["reachable"] for h in hosts) else worst(judgements)).value,
            "hosts": hosts,
            "schedule": schedule,
        },
    )


def _drift(services: Services, views: Sequence[ServerView]) -> dict[str, tuple[Finding, ...]]:
    """Launch id -> what is not as it was when it was proven, of servers that answer."""
    inventory = services.hosts.inventory().hosts
    well = [view.launch for view in views if view.well and view.launch.host in inventory]
    found = in_parallel(lambda launch: running_drift(services, launch, inventory[launch.host]), well)
    return {
        launch.id: tuple(replace(one, summary=f"{launch.config}: {one.summary}") for one in findings)
        for launch, findings in zip(well, found, strict=True)
    }


def _host(
    services: Services,
    host: Host,
    facts: HostFacts | RelaunchError,
    views: list[ServerView],
    changed: Mapping[str, tuple[Finding, ...]],
) -> dict[str, Any]:
    if isinstance(facts, RelaunchError):
        return {
            "name": host.name,
            "reachable": False,
            "reason": facts.message,
            "gpus": [],
            "cards": None,
            "servers": [],
            "findings": [],
        }
    findings = [f for probe in services.probes.values() for f in probe.judge(facts)]
    findings += [f for view in views for f in changed.get(view.launch.id, ())]
    servers = [_server(view) for view in views]
    judgements = [f.judgement for f in findings] + [Judgement(s["judgement"]) for s in servers]
    return {
        "name": host.name,
        "reachable": True,
        "reason": None,
        "judgement": worst(judgements).value,
        "gpus": _gpus(facts, host),
        "cards": host_gpus(services, host, facts, [view.launch for view in views]),
        "servers": servers,
        "findings": [_finding(f) for f in findings],
    }


def _server(view: ServerView) -> dict[str, Any]:
    starting = view.launch.state == "starting"
    metrics = view.metrics
    return {
        "name": view.launch.config or view.launch.id,
        "judgement": (Judgement.OK if view.well else Judgement.UNKNOWN if starting else Judgement.REFUSE).value,
        "token": view.token,
        "token_problem": "still starting" if starting and not view.well else view.token_problem,
        "decode_tok_s": view.launch.decode_tok_s,
        "running_requests": metrics.running_requests if metrics else None,
        "waiting_requests": metrics.waiting_requests if metrics else None,
        "uptime_s": view.uptime_s,
    }


def _gpus(facts: HostFacts, host: Host) -> list[dict[str, Any]]:
    reading = facts.reading(gpus.FACT)
    if not isinstance(reading, Known):
        return []
    others = _others(facts, host)
    return [
        {
            "index": gpu.index,
            "used_mib": gpu.memory_used_mib,
            "total_mib": gpu.memory_total_mib,
            "utilisation_pct": gpu.utilization_pct,
            "temperature_c": gpu.temperature_c,
            "power_w": gpu.power_w,
            "others": others.get(gpu.uuid, []),
        }
        for gpu in reading.value
    ]


def _others(facts: HostFacts, host: Host) -> dict[str, list[str]]:
    """GPU uuid -> processes of other accounts than the one that servers are started with there."""
    reading = facts.reading(gpu_processes.FACT)
    found: dict[str, list[str]] = {}
    for one in reading.value if isinstance(reading, Known) else ():
        if one.process.owner not in (None, host.user):
            said = f"{one.process.owner}: {one.process.command or one.name}"
            found.setdefault(one.gpu_uuid, []).append(redact(said)[:200])
    return found


def _finding(finding: Finding) -> dict[str, Any]:
    return {"judgement": finding.judgement.value, "summary": finding.summary, "remedy": finding.remedy}


def fire(services: Services, schedule: Schedule, slot: str) -> None:
    """A schedule's time has come; `slot` makes the run the same in every replica."""
    services.runs.submit(
        "report_v1",
        run_id=f"report:{schedule.id}:{slot}",
        partition=None,
        arguments={"schedule": to_json(schedule), "slot": slot},
    )


def report(services: Services, run: Run, arguments: Mapping[str, Any]) -> Json:
    """Post one scheduled report. arguments: schedule, slot."""
    schedule = from_json(Schedule, arguments["schedule"])

    def work() -> str:
        message = health(services, schedule.host, rhythm(schedule))
        key = f"report:{schedule.id}:{arguments['slot']}"
        return services.messenger.post(Conversation(channel=schedule.channel), message, key=key).ts

    return {"ts": run.step("report", work)}
