"""Side by side: two launches by their measurements, two configs by their settings."""

from typing import Any

from bot.core.catalog.diff import diff
from bot.core.catalog.proven import best_revision, decode_tok_s
from bot.core.domain.catalog import LaunchRecord
from bot.core.domain.measurement import Measurement
from bot.core.domain.message import Message
from bot.core.domain.records import to_json
from bot.errors import BadInputError
from bot.workflows.services import Services
from bot.workflows.speed import against, candidates, known_facts, revision_settings


def summary(launch: LaunchRecord, measurement: Measurement | None) -> dict[str, Any]:
    """One side: label and numbers."""
    level = measurement.levels[0] if measurement and measurement.levels else None
    return {
        "label": f"launch #{launch.number}",
        "decode_tok_s": level.decode_tok_s if level else None,
        "ttft_ms": level.ttft_ms_p50 if level else None,
        "accept_length": measurement.accept_length if measurement else None,
        "at": launch.started_at.isoformat(),
    }


def judged_pair(services: Services, older: LaunchRecord, newer: LaunchRecord) -> Message:
    """Two launches; the newer one is judged against the older."""
    old, new = services.launches.measurements(older.id), services.launches.measurements(newer.id)
    known = (*candidates(services, older.config), *candidates(services, newer.config))
    verdict, worth = None, []
    baseline = next((c for c in reversed(known) if c.launch == older.id), None)
    if new and baseline is not None:
        judged = against(services, newer, new[-1], baseline, "asked for", known)
        verdict = judged.verdict
        worth = [
            {"summary": f"{d.name}: {d.worth_pct:+.0f} % ({d.grounds})"}
            for d in judged.causes
            if d.worth_pct is not None
        ]
    before, after = _settings(services, older), _settings(services, newer)
    names = sorted({*before, *after})
    return Message(
        template="compare",
        context={
            "a": summary(newer, new[-1] if new else None),
            "other": summary(older, old[-1] if old else None),
            "verdict": to_json(verdict) if verdict else None,
            "differences": [
                {"name": n, "old": before.get(n), "new": after.get(n)} for n in names if before.get(n) != after.get(n)
            ],
            "same": sum(before.get(n) == after.get(n) for n in names),
            "worth": worth,
        },
    )


def _settings(services: Services, launch: LaunchRecord) -> dict[str, str]:
    config = services.catalog.catalog().configs.get(launch.config)
    revision = config.revision(launch.revision) if config else None
    known = revision_settings(services, revision) if revision else {}
    return {**known, **known_facts(services, launch.id)}


def diff_configs(services: Services, first: str, second: str) -> Message:
    """Two configs by meaning: equal flags under different names are equal."""
    catalog = services.catalog.catalog()
    configs = catalog.configs
    for name in (first, second):
        if name not in configs:
            raise BadInputError(f"there is no config {name}", remedy="say “list configs” to see the known ones")
    a, z = (
        best_revision(configs[name], [one for one in catalog.launches if one.config == name])
        for name in (first, second)
    )
    speeds = [
        decode_tok_s(configs[name], [one for one in catalog.launches if one.config == name]) for name in (first, second)
    ]
    lines = diff(a, z, services.engines)
    groups: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        groups.setdefault(line.group, []).append({"name": line.name, "old": line.old, "new": line.new})
    before, after = revision_settings(services, a), revision_settings(services, z)
    return Message(
        template="diff",
        context={
            "a": first,
            "z": second,
            "a_tok_s": speeds[0],
            "z_tok_s": speeds[1],
            "groups": [{"group": group, "differences": found} for group, found in groups.items()],
            "same": sum(before.get(name) == after.get(name) for name in {*before, *after}),
        },
    )
