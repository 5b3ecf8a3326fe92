"""compare: two launches or configs side by side; why one is slower; what is normal."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from bot.commands._asking import ask
from bot.commands._spec import CommandSpec
from bot.core.catalog.proven import was_ready
from bot.core.domain.catalog import LaunchRecord
from bot.core.domain.command import Command, Intent
from bot.core.domain.message import Message
from bot.core.domain.operation import Permission
from bot.core.domain.records import to_json
from bot.core.measuring.baseline import normal
from bot.core.measuring.explain import Difference, revert
from bot.errors import BadInputError
from bot.workflows.answer import answer
from bot.workflows.compare import diff_configs, judged_pair, summary
from bot.workflows.find_launch import by_number, find_launch, fits, label
from bot.workflows.ports import Run
from bot.workflows.services import Request, Services
from bot.workflows.speed import Judged, candidates, judge, revision_settings


def _run(services: Services, request: Request, run: Run) -> None:
    command = request.command
    if command.ask:
        ask(services, request, run)
        return
    answer(services, request, run, lambda: _compare(services, request, command))


def _compare(services: Services, request: Request, command: Command) -> Message:
    if len(command.configs) == 2:
        return diff_configs(services, command.configs[0], command.configs[1])
    if len(command.launch_numbers) >= 2:
        first, second = (by_number(services, number) for number in command.launch_numbers[:2])
        return judged_pair(services, *sorted((first, second), key=lambda one: one.number))
    pair = _by_settings(services, request, command)
    if pair is not None:
        return judged_pair(services, *pair)
    if "normal" in command.text.lower():
        return _normal(services, find_launch(services, request))
    if request.context is None and not command.launch_numbers and "last" in command.text.lower():
        last = [
            one
            for one in services.launches.recent(host=command.host, limit=200)
            if fits(services, request, one) and one.decode_tok_s is not None
        ]
        if len(last) >= 2:
            return judged_pair(services, last[1], last[0])
        raise BadInputError("there are no two measured launches of that", remedy="say “history” to see what ran")
    return why(services, find_launch(services, request))


def _by_settings(services: Services, request: Request, command: Command) -> tuple[LaunchRecord, LaunchRecord] | None:
    """ "compare 3 steps with 1": the newest measured launch of each value of one setting."""
    varied = [(name, value) for name, value in command.overrides.items() if isinstance(value, list) and len(value) == 2]
    if not varied:
        return None
    name, values = varied[0]
    found = []
    configs = services.catalog.catalog().configs
    for value in values:
        for one in services.launches.recent(host=command.host, limit=200):
            config = configs.get(one.config)
            revision = config.revision(one.revision) if config else None
            if revision is None or one.decode_tok_s is None or not fits(services, request, one):
                continue
            if revision_settings(services, revision).get(name) == str(value):
                found.append(one)
                break
    if len(found) != 2:
        raise BadInputError(f"there is no measured launch for each of {values}", remedy="launch and measure both first")
    return found[1], found[0]


def why(services: Services, launch: LaunchRecord) -> Message:
    """Why a launch is slower (or not) than the best one of its config on its host."""
    measurements = services.launches.measurements(launch.id)
    if not measurements:
        raise BadInputError(f"{label(launch)} was not measured", remedy="say “bench” in its thread first")
    judged = judge(services, launch, measurements[-1])
    best = services.launches.get(judged.baseline.launch) if judged.baseline else None
    slower = judged.verdict is not None and judged.verdict.kind == "slower"
    offer = None
    if best is not None and slower and best.revision != launch.revision:
        offer = relaunch_offer(launch, best, judged.causes)
    return Message(
        template="why",
        context={
            "config": launch.config,
            "host": launch.host,
            "now": summary(launch, measurements[-1]),
            "best": _best(best, judged),
            "verdict": to_json(judged.verdict) if judged.verdict else None,
            "causes": [_cause(one) for one in judged.causes[:6]],
            "offer": offer,
        },
    )


def relaunch_offer(launch: LaunchRecord, best: LaunchRecord, causes: Sequence[Difference]) -> dict[str, Any]:
    """The revision of the best launch; where some of its settings have nothing to do with the speed (another port, a
    longer context), this launch's own with those taken back that have."""
    undone = revert(causes)
    kept = [one for one in causes if one.is_setting and not set(one.overrides) & set(undone)]
    extra: dict[str, Any] = {"config": best.config, "host": launch.host, "revision": best.revision}
    label_ = f"Relaunch as in launch #{best.number}"
    if undone and kept:
        extra |= {"config": launch.config, "revision": launch.revision, "overrides": undone}
        label_ = "Relaunch with " + ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in undone.items())
    return {"label": label_[:75], "action": "relaunch", "operation": "", "extra": extra}


def _best(best: LaunchRecord | None, judged: Judged) -> dict[str, Any] | None:
    if best is None or judged.baseline is None:
        return None
    return {**summary(best, judged.baseline.measurement), "at": best.started_at.isoformat()}


def _cause(difference: Difference) -> dict[str, Any]:
    worth = f"{difference.worth_pct:+.0f} % ({difference.grounds})" if difference.worth_pct is not None else None
    parts = [(difference.name, difference.before, difference.after), *difference.along]
    words = ", ".join(f"{name.replace('_', ' ')}: {before} → {after}" for name, before, after in parts)
    return {"summary": words, "worth": worth}


def _normal(services: Services, launch: LaunchRecord) -> Message:
    known = candidates(services, launch.config, launch.host)
    width = min(services.workload.concurrency)
    usual = normal(known, host=launch.host, concurrency=width)
    ready = [
        one.ready_after_s
        for one in services.launches.recent(config=launch.config, host=launch.host, limit=40)
        if was_ready(one) and one.ready_after_s
    ]
    pinned = next((one for one in known if one.pinned), None)
    lengths = [c.measurement.accept_length for c in known if c.measurement.accept_length is not None]
    ttfts = [
        level.ttft_ms_p50 for c in known if (level := c.measurement.level(width)) and level.ttft_ms_p50 is not None
    ]
    measurements = services.launches.measurements(launch.id)
    latest = None
    if measurements:
        judged = judge(services, launch, measurements[-1])
        kind = judged.verdict.kind.value if judged.verdict else "cannot tell"
        latest = {
            "label": label(launch),
            "decode_tok_s": summary(launch, measurements[-1])["decode_tok_s"],
            "kind": kind,
        }
    return Message(
        template="normal",
        context={
            "config": launch.config,
            "host": launch.host,
            "runs": usual.launches if usual else 0,
            "pinned": f"launch #{pinned.number}" if pinned else None,
            "decode_tok_s": usual.typical if usual else None,
            "low_tok_s": usual.low if usual else None,
            "high_tok_s": usual.high if usual else None,
            "ttft_ms": median(ttfts) if ttfts else None,
            "accept_length": median(lengths) if lengths else None,
            "ready_after_s": median(ready) if ready else None,
            "latest": latest,
        },
    )


COMMAND = CommandSpec(intent=Intent.COMPARE, permission=Permission.READ, run=_run)
