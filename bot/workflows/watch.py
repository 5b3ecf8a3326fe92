"""Watch a start until a real token comes back, or it ends: log milestones drive one edited progress message."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from statistics import median
from typing import Any

from bot.core.domain.launch import Milestone, Phase
from bot.core.domain.message import Message
from bot.core.domain.operation import OperationState
from bot.core.domain.reading import Known
from bot.core.domain.runner import RunState
from bot.core.engines import LogPosition, follow
from bot.core.facts import ports
from bot.core.facts._processes import is_forwarder
from bot.core.rendering.redact import redact
from bot.errors import RelaunchError, TemporaryError
from bot.workflows.job import Job
from bot.workflows.look import look
from bot.workflows.ports import Run
from bot.workflows.stall import QUIET_S, activity, stall

#: rounds in one durable step: a crash repeats at most this many looks
_ROUNDS = 3
_PAUSE_S = 0.7
_LAST_LINES = 6
#: a phase is called slow from this many times its usual length on, and not before this many seconds
_SLOW_TIMES = 2.0
_SLOW_LEAST_S = 20.0
#: a host that does not answer for this long ends the watch; the server may well be up
_AWAY_LIMIT_S = 600.0
#: what the message says at each end of a watch
_ENDS = {"ready": "ready", "ended": "failed", "timeout": "not_ready", "away": "away", "cancelled": "cancelled"}
_ENDED = (RunState.ENDED, RunState.LOST, RunState.ABSENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What a watch knows; goes from step to step as JSON. `end`: "" while it goes on, "ready", "ended", "timeout",
    "away" or "cancelled"."""

    began_at: str
    cursor: str = ""
    end: str = ""
    #: phase -> [first seen, last seen], ISO times
    phases: dict[str, list[str]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    fractions: dict[str, float | None] = field(default_factory=dict)
    last_lines: list[str] = field(default_factory=list)
    line_at: str = ""
    away_since: str = ""
    status: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    #: what a silent start was seen to do, and when that was looked at
    stall: str = ""
    stall_at: str = ""
    #: phases of which it was said that they take long
    slow_said: list[str] = field(default_factory=list)
    #: engines.LogPosition
    position: dict[str, Any] = field(default_factory=dict)


def watch(job: Job, run: Run) -> Mapping[str, Any]:
    """Rounds of looking until the end. Gives the last state."""
    usual: Any = run.step("usual times", lambda: usual_times(job))
    state: Any = run.step("watch begins", lambda: asdict(Watched(began_at=_now(job).isoformat())))
    while not state["end"]:
        state = _next(job, run, state, usual)
    result: Mapping[str, Any] = state
    return result


def _next(job: Job, run: Run, state: Any, usual: Any) -> Any:
    return run.step("watch", lambda: asdict(_rounds(job, Watched(**state), usual)))


def _rounds(job: Job, state: Watched, usual: Mapping[str, float]) -> Watched:
    for _ in range(_ROUNDS):
        state = _look(job, state)
        job.update("progress", _message(job, state, usual), final=bool(state.end))
        if state.end:
            break
        state = say_slow(job, state, usual)
        job.services.clock.sleep(_PAUSE_S)
    return state


def _look(job: Job, state: Watched) -> Watched:
    """One look: cancelled? log, process, readiness."""
    if job.services.operations.state(job.operation) is OperationState.CANCELLED:
        return replace(state, end="cancelled")
    now = _now(job)
    try:
        state = replace(_read_log(job, state, now), away_since="")
        status = job.runner.parse_state(
            job.services.remote.run(job.host, job.runner.state(job.unit, job.services.script))
        )
    except TemporaryError as error:
        return _away(state, now, error)
    if status.state in _ENDED:
        # what it said last may have come after the log was read
        state = _read_log(job, state, now)
        return replace(state, end="ended", status=_status(status))
    state = _silence(job, state, now)
    problem = _not_ready(job)
    if problem is None:
        return replace(_reached(job, state, Milestone(phase=Phase.READY, text=""), now), end="ready")
    if (now - datetime.fromisoformat(state.began_at)).total_seconds() > job.services.ready_timeout_s:
        return replace(state, end="timeout", problem=problem)
    return replace(state, problem=problem)


def _silence(job: Job, state: Watched, now: datetime) -> Watched:
    """Look at GPUs and disks once a minute while the log is silent."""
    last = datetime.fromisoformat(state.line_at or state.began_at)
    quiet_s = (now - last).total_seconds()
    if quiet_s < QUIET_S:
        return replace(state, stall="", stall_at="")
    if state.stall_at and (now - datetime.fromisoformat(state.stall_at)).total_seconds() < QUIET_S:
        return state
    return replace(state, stall=stall(job, quiet_s), stall_at=now.isoformat())


def _status(status: Any) -> dict[str, Any]:
    return {
        "state": status.state.value,
        "exit_status": status.exit_status,
        "signal": status.signal,
        "oom_killed": status.oom_killed,
        "reason": status.reason,
    }


def _away(state: Watched, now: datetime, error: RelaunchError) -> Watched:
    since = state.away_since or now.isoformat()
    gone_s = (now - datetime.fromisoformat(since)).total_seconds()
    end = "away" if gone_s > _AWAY_LIMIT_S else ""
    return replace(state, away_since=since, end=end, problem=error.message)


def _read_log(job: Job, state: Watched, now: datetime) -> Watched:
    more = True
    while more:
        command = job.runner.log(job.unit, state.cursor, job.services.script)
        chunk = job.runner.parse_log(job.services.remote.run(job.host, command), state.cursor)
        engine = job.services.engines[job.plan.engine]
        piece = "".join(f"{line}\n" for line in chunk.lines)
        found, position = follow(engine, piece, LogPosition(**state.position))
        state = replace(state, position=asdict(position))
        for milestone in found:
            state = _reached(job, state, milestone, now)
        shown = [redact(line.split("\r")[-1])[:300] for line in chunk.lines if line.strip()]
        if shown:
            kept = [*state.last_lines, *shown][-_LAST_LINES:]
            state = replace(state, last_lines=kept, line_at=now.isoformat())
        more = chunk.more and chunk.cursor != state.cursor
        state = replace(state, cursor=chunk.cursor)
    return state


def _reached(job: Job, state: Watched, milestone: Milestone, now: datetime) -> Watched:
    key = ("draft " if milestone.draft else "") + milestone.phase.value
    first = state.phases.get(key, [now.isoformat()])[0]
    if key not in state.phases or milestone.fraction == 1.0:
        job.services.launches.add_milestone(job.operation, replace(milestone, reached_at=now))
    return replace(
        state,
        phases={**state.phases, key: [first, now.isoformat()]},
        texts={**state.texts, key: milestone.text},
        fractions={**state.fractions, key: milestone.fraction},
    )


def _not_ready(job: Job) -> str | None:
    """None once health answers 200 and one real token came; else why not yet."""
    port, server = job.plan.port, job.services.model_server
    if port is None:
        return "the plan names no port"
    engine = job.services.engines[job.plan.engine]
    try:
        with job.services.remote.forward(job.host, port) as local:
            url = f"http://127.0.0.1:{local}"
            status, reason = server.health(url, engine.health_path())
            if status != 200:
                return reason or f"health answers {status}"
            models = server.models(url)
            if not models:
                return "it serves no model"
            server.token(url, models[0])
        return _answered_by_another(job, port)
    except RelaunchError as error:
        return error.message


def _answered_by_another(job: Job, port: int) -> str | None:
    """A server that answers on the port need not be this launch: an engine binds late, and somebody may be faster."""
    reading = look(job.services, job.host, only=("ports",)).reading(ports.FACT)
    if not isinstance(reading, Known):
        return None
    listeners = [one for one in reading.value if one.port == port]
    if not listeners:
        return f"something answers on port {port}, but no process of this host listens there"
    owners = [one.process for one in listeners if one.process is not None]
    if job.plan.container is not None:
        # a published port is held by docker's own processes, and a unit around it is not the launch's
        owners = [owner for owner in owners if owner.container is None and not is_forwarder(owner)]
    if not owners or any(owner.unit is None or _is_unit(owner.unit, job.unit) for owner in owners):
        return None
    return f"port {port} is answered by {owners[0].unit} (pid {owners[0].pid}), not by this launch"


def _is_unit(seen: str, unit: str) -> bool:
    return seen.removesuffix(".service") == unit


def usual_times(job: Job) -> dict[str, float]:
    """Median seconds of each phase, and "total", over earlier launches of this config here that became ready."""
    taken: dict[str, list[float]] = {}
    launches = job.services.launches
    for launch in launches.recent(config=job.plan.config, host=job.plan.host, limit=12):
        if launch.ready_after_s is None or launch.id == job.operation:
            continue
        taken.setdefault("total", []).append(launch.ready_after_s)
        stones = [m for m in launches.milestones(launch.id) if m.reached_at is not None]
        for before, after in pairwise(stones):
            if before.reached_at and after.reached_at and before.phase is not after.phase:
                key = ("draft " if before.draft else "") + before.phase.value
                taken.setdefault(key, []).append((after.reached_at - before.reached_at).total_seconds())
    return {key: float(median(values)) for key, values in taken.items()}


def _message(job: Job, state: Watched, usual: Mapping[str, float]) -> Message:
    now = _now(job)
    elapsed_s = (now - datetime.fromisoformat(state.began_at)).total_seconds()
    total = usual.get("total")
    phases = _phases(state, usual, now)
    return Message(
        template="progress",
        context={
            "verb": job.plan.operation,
            "config": job.plan.config,
            "host": job.plan.host,
            "operation": job.operation,
            "cancellable": not state.end,
            "phases": phases,
            "elapsed_s": elapsed_s,
            "usual_s": total,
            "fraction": 1.0 if state.end == "ready" else min(0.99, elapsed_s / total) if total else None,
            "last_lines": state.last_lines if state.end != "ready" else [],
            "outcome": _ENDS[state.end] if state.end else None,
            "slow": (state.problem if state.away_since else None) or state.stall or _slow(phases),
        },
    )


def _phases(state: Watched, usual: Mapping[str, float], now: datetime) -> list[dict[str, Any]]:
    reached = [key for key in state.phases if key != Phase.READY.value]
    rows = []
    for at, key in enumerate(reached):
        begun = datetime.fromisoformat(state.phases[key][0])
        following = state.phases[reached[at + 1]][0] if at + 1 < len(reached) else None
        done = following is not None or state.end == "ready"
        until = datetime.fromisoformat(following) if following else now
        rows.append(
            {
                "name": key.replace("_", " "),
                "state": "done" if done else "active",
                "text": state.texts.get(key, ""),
                "fraction": state.fractions.get(key),
                "took_s": (until - begun).total_seconds(),
                "usual_s": usual.get(key),
            }
        )
    return rows


def _slow(phases: list[dict[str, Any]]) -> str | None:
    row = _slow_row(phases)
    return f"{row['name']} takes {row['took_s']:.0f} s so far, usually {row['usual_s']:.0f} s" if row else None


def _slow_row(phases: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The phase that takes far longer than it does usually."""
    for row in phases:
        usual = row["usual_s"]
        if row["state"] == "active" and usual and row["took_s"] > max(_SLOW_TIMES * usual, _SLOW_LEAST_S):
            return row
    return None


def say_slow(job: Job, state: Watched, usual: Mapping[str, float]) -> Watched:
    """Once for each phase, as a message of its own: an edit notifies nobody."""
    row = _slow_row(_phases(state, usual, _now(job)))
    if row is None or row["name"] in state.slow_said or state.away_since:
        return state
    found = activity(job)
    context = {
        "config": job.plan.config or "",
        "host": job.plan.host,
        "phase": row["name"],
        "elapsed_s": row["took_s"],
        "usual_s": row["usual_s"],
        "working": found.working,
        "evidence": list(found.seen),
        "operation": job.operation,
    }
    job.post(f"slow {row['name']}", Message(template="slow_phase", context=context))
    return replace(state, slow_said=[*state.slow_said, row["name"]])


def _now(job: Job) -> datetime:
    return job.services.clock.now()
