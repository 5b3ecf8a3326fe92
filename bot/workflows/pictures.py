"""Pictures in the thread: speed over launches, and against concurrency. One that cannot be made is no failure."""

from collections.abc import Callable
from statistics import quantiles

import structlog

from bot.core.domain.message import Conversation
from bot.core.domain.picture import LaunchPoint, Picture
from bot.core.measuring.baseline import Candidate
from bot.core.measuring.fairness import DISTURBING
from bot.core.measuring.verdict import run_noise
from bot.errors import RelaunchError
from bot.workflows.services import Services
from bot.workflows.speed import candidates, judge, settings

_log = structlog.get_logger()
#: half width of the band in which launches are the same: two standard deviations between launches
_BAND = 2.0


def history(services: Services, launch_id: str, conversation: Conversation) -> bool:
    """Draw the launches of this launch's config on its host; nothing before the second measured one."""
    launch = services.launches.get(launch_id)
    if launch is None:
        return False
    known = [c for c in candidates(services, launch.config, launch.host) if _speed(c) is not None]
    newest = {c.launch: c for c in known}
    points = _points(services, list(newest.values()))
    if len(points) < 2:
        return False
    pinned = next((c for c in known if c.pinned), None)
    best = pinned or max(newest.values(), key=lambda c: _speed(c) or 0.0)
    width = min(services.workload.concurrency)
    noise_pct = _BAND * run_noise([c.measurement for c in known if c.revision == best.revision], width)

    def draw() -> Picture:
        return services.plotter.history(
            launch.config, launch.host, points, baseline_tok_s=_speed(best), noise_pct=noise_pct
        )

    return _upload(services, conversation, f"{launch_id}:history", "launches.png", draw)


def levels(services: Services, launch_id: str, operation: str, conversation: Conversation) -> bool:
    """Draw a measurement at several concurrencies, over its baseline's where there is one."""
    launch = services.launches.get(launch_id)
    measured = services.launches.measurements(launch_id)
    if launch is None or not measured or len(measured[-1].levels) < 2:
        return False
    judged = judge(services, launch, measured[-1])
    shown = [(f"#{launch.number}", measured[-1])]
    if judged.baseline is not None:
        shown.insert(0, (f"#{judged.baseline.number}", judged.baseline.measurement))

    def draw() -> Picture:
        return services.plotter.levels(f"{launch.config} on {launch.host}", shown)

    return _upload(services, conversation, f"{operation}:levels", "concurrency.png", draw)


def _upload(
    services: Services, conversation: Conversation, key: str, filename: str, draw: Callable[[], Picture]
) -> bool:
    try:
        picture = draw()
        services.messenger.upload(
            conversation,
            filename=filename,
            data=picture.png,
            title=picture.title,
            alt_text=picture.alt_text,
            key=key,
        )
    except (RelaunchError, ValueError) as error:
        _log.warning("no picture", key=key, error=str(error))
        return False
    return True


def _points(services: Services, known: list[Candidate]) -> list[LaunchPoint]:
    points: list[LaunchPoint] = []
    before: dict[str, str] | None = None
    for candidate in sorted(known, key=lambda c: c.number):
        plan = services.launches.plan(candidate.launch)
        now = settings(services, plan) if plan and plan.engine in services.engines else {}
        level = candidate.measurement.levels[0]
        low, high = _quartiles(level.samples)
        points.append(
            LaunchPoint(
                number=candidate.number,
                measured_at=candidate.measurement.measured_at,
                decode_tok_s=_speed(candidate) or 0.0,
                low=low,
                high=high,
                change=_change(before, now),
                doubtful=bool(DISTURBING & set(candidate.measurement.doubts)),
            )
        )
        before = now
    return points


def _change(before: dict[str, str] | None, now: dict[str, str]) -> str:
    """The first settings that differ from the launch before: "speculative steps 3 → 1"."""
    if before is None:
        return ""
    names = [name for name in sorted({*before, *now}, key=_by_weight) if before.get(name) != now.get(name)]
    words = [f"{name.replace('_', ' ')} {before.get(name, '–')} → {now.get(name, '–')}" for name in names[:1]]
    return (words[0] + (f", +{len(names) - 1}" if len(names) > 1 else "")) if words else ""


def _by_weight(name: str) -> tuple[bool, str]:
    return (name != "speculative_steps", name)


def _quartiles(samples: tuple[float, ...]) -> tuple[float | None, float | None]:
    if len(samples) < 4:
        return None, None
    low, _, high = quantiles(samples, n=4)
    return low, high


def _speed(candidate: Candidate) -> float | None:
    return candidate.measurement.levels[0].decode_tok_s if candidate.measurement.levels else None
