"""A launch failed: its log is saved first, then it is diagnosed and said, with a retry where the log allows one."""

import json
import signal as signals
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.core.diagnosis import diagnose
from bot.core.diagnosis.kinds import KINDS
from bot.core.domain.catalog import LaunchRecord
from bot.core.domain.diagnosis import Diagnosis
from bot.core.domain.launch import LaunchState
from bot.core.domain.message import Json, Message
from bot.core.domain.plan import StepKind
from bot.core.planning.relied_on import gpus_of
from bot.core.rendering.redact import redact
from bot.errors import RelaunchError
from bot.workflows.job import Job
from bot.workflows.services import Services
from bot.workflows.start import kernel_lines
from bot.workflows.steady import steady

#: the fact of a launch that keeps what was said of its failure
FAILURE = "_failure"
#: of one log; a longer one keeps its beginning, where the cause often is, and its end
_CHUNK_BYTES = 2_000_000
_MOST_CHUNKS = 60
#: of Slack's 75 characters on a button, what "Retry with" leaves
_LABEL_ROOM = 60


def save_log(job: Job) -> Json:
    """Keep the whole log in the database. Gives the number of lines."""
    lines = list(_whole_log(job))
    job.services.launches.save_log(job.operation, redact("\n".join(lines)))
    return len(lines)


def _whole_log(job: Job) -> list[str]:
    lines: list[str] = []
    cursor, services = "", job.services
    for _ in range(_MOST_CHUNKS):
        command = job.runner.log(job.unit, cursor, services.script, limit_bytes=_CHUNK_BYTES)
        try:
            result = steady(services.clock, lambda command=command: services.remote.run(job.host, command))  # type: ignore[misc]  # bound now
        except RelaunchError as error:
            lines.append(f"[the log could not be read further: {error.message}]")
            break
        chunk = job.runner.parse_log(result, cursor)
        lines += chunk.lines
        if not chunk.more or chunk.cursor == cursor:
            break
        cursor = chunk.cursor
    return lines


def say(job: Job, watched: Mapping[str, Any]) -> Json:
    """Diagnose from the saved log and what the host says, record and post."""
    services = job.services
    status = dict(watched.get("status") or {})
    log = services.launches.log(job.operation) or ""
    kernel = _kernel_lines(job)
    diagnosis = diagnose(
        log,
        engine=job.plan.engine,
        argv=job.plan.argv,
        exit_status=status.get("exit_status"),
        signal=_number(status.get("signal")),
        kernel_log=kernel,
        slow=False,
    )
    diagnosis = naming_ours(job, diagnosis)
    ended = _ended(watched, status)
    services.launches.set_state(
        job.operation, LaunchState.FAILED, at=services.clock.now(), detail=f"{ended}: {diagnosis.cause}"[:2000]
    )
    return _post(job, diagnosis, ended, len(log.splitlines()) if log else None)


def naming_ours(job: Job, diagnosis: Diagnosis) -> Diagnosis:
    """Where a server of ours holds the port or the GPUs, the diagnosis names it instead of a stranger."""
    kind = KINDS.get(diagnosis.kind)
    of_memory = kind is not None and kind.family == "memory" and diagnosis.kind.startswith("gpu_")
    if not of_memory and diagnosis.kind != "port_in_use":
        return diagnosis
    for launch in job.services.launches.running(job.plan.host):
        plan = job.services.launches.plan(launch.id)
        if launch.id == job.operation or plan is None:
            continue
        what = f"{launch.config} (launch #{launch.number}), which I started, "
        shared = ", ".join(sorted(gpus_of(plan) & gpus_of(job.plan)))
        if of_memory and shared:
            cause = f"{what}holds memory of GPU {shared}, so there was too little left."
        elif not of_memory and plan.port == job.plan.port:
            cause = f"{what}serves on port {plan.port} already."
        else:
            continue
        other = "other GPUs" if of_memory else "another port"
        fix = f"Leave {launch.config} alone and choose {other}, or ask to stop it first."
        return replace(diagnosis, cause=cause, fix=fix, confidence="high", alternatives=(), overrides={})
    return diagnosis


def not_started(job: Job, started: Mapping[str, Any]) -> Json:
    """The runner could not even start it: its words are the diagnosis."""
    diagnosis = Diagnosis(kind="not_started", cause=str(started["reason"]), fix=str(started["remedy"]))
    return _post(job, diagnosis, "it was not started", None)


def _post(job: Job, diagnosis: Diagnosis, ended: str, log_lines: int | None) -> Json:
    launch = job.services.launches.get(job.operation)
    after_s = (job.services.clock.now() - launch.started_at).total_seconds() if launch else None
    stopped = any(step.kind is StepKind.STOP for step in job.plan.steps)
    context = {
        "verb": job.plan.operation,
        "config": job.plan.config or "",
        "host": job.plan.host,
        "number": launch.number if launch else None,
        "after_s": after_s,
        "ended": ended,
        "diagnosis": {
            "kind": diagnosis.kind,
            "cause": diagnosis.cause,
            "fix": diagnosis.fix,
            "evidence": [{"number": line.number, "text": redact(line.text)} for line in diagnosis.evidence],
            "confidence": diagnosis.confidence,
            "alternatives": list(diagnosis.alternatives),
        },
        "log_lines": log_lines,
        "before": "The server that ran before was stopped and stays so." if stopped else None,
        "retry": _retry(job, diagnosis),
        "operation": job.operation,
        "launch": job.operation if launch else None,
    }
    if launch:
        kept = {name: value for name, value in context.items() if name not in ("retry", "before")}
        job.services.launches.set_facts(job.operation, {FAILURE: json.dumps(kept)})
    return job.post("failed", Message(template="failed", context=context))


def told_again(services: Services, launch: LaunchRecord) -> Message | None:
    """What was said when this launch failed; None where nothing is kept of it."""
    kept = services.launches.facts(launch.id).get(FAILURE)
    if kept is None:
        return None
    return Message(template="failed", context={**json.loads(kept), "before": None, "retry": None})


def _retry(job: Job, diagnosis: Diagnosis) -> dict[str, Any] | None:
    """A button that plans the same launch with the diagnosis' overrides."""
    if not diagnosis.overrides or not job.plan.config:
        return None
    engine = job.services.engines[job.plan.engine]
    now = engine.flags_to_overrides(engine.parse(job.plan.argv).flags)
    changes = [
        {"name": name, "old": _text(now.get(name)), "new": _text(value)} for name, value in diagnosis.overrides.items()
    ]
    words = _settings_in_words(diagnosis.overrides)
    extra = {
        "config": job.plan.config,
        "host": job.plan.host,
        "revision": job.plan.revision,
        "overrides": dict(diagnosis.overrides),
    }
    return {"label": f"Retry with {words}", "operation": job.operation, "extra": extra, "changes": changes}


def _settings_in_words(overrides: Mapping[str, Any]) -> str:
    """ "speculative steps 1, topk 1": a first word that several share is said once; a button has room for few."""
    said, before = [], ""
    for name, value in overrides.items():
        first, _, rest = name.replace("_", " ").partition(" ")
        said.append(f"{rest if rest and first == before else f'{first} {rest}'.strip()} {_text(value)}")
        before = first
    words = ", ".join(said)
    return words if len(words) <= _LABEL_ROOM else f"{len(said)} changes"


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _kernel_lines(job: Job) -> tuple[str, ...]:
    """What the kernel said since this launch began: an older error is not its cause."""
    before = job.services.launches.facts(job.operation).get("_kernel_log_before", "").splitlines()
    return tuple(line for line in kernel_lines(job) if line not in before)


def _number(name: object) -> int | None:
    try:
        return int(signals.Signals[str(name)]) if name else None
    except KeyError:
        return None


def _ended(watched: Mapping[str, Any], status: Mapping[str, Any]) -> str:
    if watched["end"] == "timeout":
        return f"not ready in time ({watched['problem']}); it still runs"
    if watched["end"] == "away":
        return f"the host does not answer any more ({watched['problem']}); it may still run"
    if status.get("oom_killed"):
        return "killed by the kernel for memory"
    if status.get("signal"):
        return f"killed by {status['signal']}"
    if status.get("exit_status") is not None:
        return f"exit status {status['exit_status']}"
    return str(status.get("reason") or status.get("state") or "ended")
