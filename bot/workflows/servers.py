"""What a running server says of itself: health, one real token, counters. Never shown as healthy unproven."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

from bot.core.domain.catalog import LaunchRecord
from bot.core.domain.engine import Engine, EngineMetrics
from bot.core.domain.host import Host
from bot.core.domain.launch import LaunchState
from bot.core.domain.operation import OperationState
from bot.core.domain.plan import Plan
from bot.errors import RelaunchError
from bot.workflows.services import Services

T = TypeVar("T")
R = TypeVar("R")
_PARALLEL = 16
#: between two looks at the counters; a busy server makes a token in a fraction of this
_BETWEEN_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerView:
    """One server of ours, as it answered just now. None: not known, and `token_problem` or `reason` says why."""

    launch: LaunchRecord
    engine: str
    port: int | None
    uptime_s: float | None
    #: None: no connection
    health_status: int | None = None
    reason: str = ""
    models: tuple[str, ...] = ()
    token: str | None = None
    token_problem: str | None = None
    metrics: EngineMetrics | None = None

    @property
    def well(self) -> bool:
        """A real token came back."""
        return self.token is not None


def observe(
    services: Services, launch: LaunchRecord, host: Host, *, prove_token: bool = True, of_users: bool = True
) -> ServerView:
    """Ask one server. Never raises for a silent server or host: the view says why. `of_users`: requests of a
    measurement of ours are not counted."""
    plan = services.launches.plan(launch.id)
    up_s = (services.clock.now() - launch.started_at).total_seconds()
    engine = services.engines.get(plan.engine) if plan else None
    bare = ServerView(
        launch=launch, engine=plan.engine if plan else "", port=plan.port if plan else None, uptime_s=up_s
    )
    if plan is None or engine is None or plan.port is None:
        return _with(bare, reason="its plan names no port")
    other = _answers_instead(services, launch, plan.port)
    if other is not None:
        return _with(bare, reason=f"port {plan.port} is answered by {other.config} (launch #{other.number})")
    try:
        with services.remote.forward(host, plan.port) as local:
            view = _ask(services, bare, engine, f"http://127.0.0.1:{local}", plan, prove_token)
    except RelaunchError as error:
        return _with(bare, reason=error.message, token_problem=error.message)
    return _with(view, metrics=_without_ours(services, launch, plan.port, view.metrics)) if of_users else view


def _answers_instead(services: Services, launch: LaunchRecord, port: int) -> LaunchRecord | None:
    """The ready server on the port of a launch that is not ready: what answers there is not this launch."""
    if launch.state == LaunchState.READY:
        return None
    for one in services.launches.running(launch.host):
        plan = services.launches.plan(one.id)
        if one.id != launch.id and one.state == LaunchState.READY and plan is not None and plan.port == port:
            return one
    return None


def _without_ours(
    services: Services, launch: LaunchRecord, port: int, seen: EngineMetrics | None
) -> EngineMetrics | None:
    """Requests of a measurement of ours are not users': while one runs, how many are theirs is not known."""
    if seen is None or not seen.running_requests:
        return seen
    running = services.operations.in_state(OperationState.RUNNING)
    ours = any(
        operation == launch.id
        or (kind == "measure" and where == launch.host and services.operations.plan(operation).port in (None, port))
        for operation, kind, where in running
    )
    return replace(seen, running_requests=None, waiting_requests=None) if ours else seen


def _ask(services: Services, bare: ServerView, engine: Engine, url: str, plan: Plan, prove_token: bool) -> ServerView:
    server = services.model_server
    status, reason = server.health(url, engine.health_path())
    if status is None:
        return _with(bare, reason=reason, token_problem=reason)
    models: tuple[str, ...] = ()
    token, problem = None, None
    # before the token: it is a request as well
    counted = _now_running(services, engine, url)
    try:
        models = server.models(url)
        if prove_token:
            token = server.token(url, models[0] if models else plan.model)
    except RelaunchError as error:
        problem = error.message
    return _with(
        bare,
        health_status=status,
        reason=reason,
        models=models,
        token=token,
        token_problem=problem,
        metrics=counted,
    )


def _now_running(services: Services, engine: Engine, url: str) -> EngineMetrics | None:
    """Counters and gauges. The gauge of an idle server may still show its last load: it counts only while tokens
    come."""
    first = metrics(services, engine, url)
    if first is None or not first.running_requests:
        return first
    services.clock.sleep(_BETWEEN_S)
    second = metrics(services, engine, url)
    if second is None or not second.running_requests:
        return second
    if first.generation_tokens_total is None or second.generation_tokens_total is None:
        return second
    moved = second.generation_tokens_total > first.generation_tokens_total
    return second if moved else replace(second, running_requests=0)


def metrics(services: Services, engine: Engine, url: str) -> EngineMetrics | None:
    """Counters and gauges, or None where the server shows none."""
    try:
        page = services.model_server.get_text(url, "/metrics")
    except RelaunchError:
        return None
    return engine.parse_metrics(page) if page else None


def busy_requests(services: Services, launch: LaunchRecord, host: Host, *, of_users: bool = True) -> int | None:
    """Requests that run now; None when that cannot be seen. `of_users`: not known while we measure it ourselves."""
    seen = observe(services, launch, host, prove_token=False, of_users=of_users).metrics
    return None if seen is None or seen.running_requests is None else round(seen.running_requests)


def observe_all(services: Services, *, host: str | None = None, prove_token: bool = True) -> tuple[ServerView, ...]:
    """All servers that should be up, asked at once."""
    inventory = services.hosts.inventory().hosts

    def one(launch: LaunchRecord) -> ServerView:
        known = inventory.get(launch.host)
        if known is None:
            plan = services.launches.plan(launch.id)
            gone = ServerView(launch=launch, engine=plan.engine if plan else "", port=None, uptime_s=None)
            return _with(gone, reason=f"{launch.host} is not in the inventory any more")
        return observe(services, launch, known, prove_token=prove_token)

    return in_parallel(one, services.launches.running(host))


def in_parallel(work: Callable[[T], R], items: Iterable[T]) -> tuple[R, ...]:
    """Results in the order of the items."""
    listed = list(items)
    if not listed:
        return ()
    with ThreadPoolExecutor(max_workers=min(_PARALLEL, len(listed)), thread_name_prefix="servers") as pool:
        return tuple(pool.map(work, listed))


def _with(view: ServerView, **changes: object) -> ServerView:
    fields = {name: getattr(view, name) for name in ServerView.__slots__}
    return ServerView(**{**fields, **changes})
