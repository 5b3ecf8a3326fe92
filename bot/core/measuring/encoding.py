"""Measurement <-> JSON, the shape of `relaunch bench --json`. Numbers carry their unit in the name."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from bot.core.domain.measurement import Level, Measurement, Verdict, Workload
from bot.errors import BadInputError

VERSION = 1


def measurement_to_json(measurement: Measurement) -> dict[str, Any]:
    """A JSON object with every field."""
    return {"version": VERSION, **asdict(measurement), "measured_at": measurement.measured_at.isoformat()}


def verdict_to_json(verdict: Verdict) -> dict[str, Any]:
    """A JSON object with every field."""
    return {**asdict(verdict), "kind": verdict.kind.value}


def measurement_from_json(data: Mapping[str, Any]) -> Measurement:
    """Read what measurement_to_json wrote, also inside {"measurement": …}. Raises BadInputError naming what is wrong.
    Unknown fields are left out, so that a newer file can be read."""
    data = data.get("measurement", data)
    try:
        workload = _known(Workload, data["workload"])
        levels = tuple(Level(**_known(Level, level)) for level in data["levels"])
        rest = _known(Measurement, data)
        rest |= {"measured_at": datetime.fromisoformat(data["measured_at"]), "levels": levels}
        return Measurement(**(rest | {"workload": Workload(**workload)}))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInputError(
            f"not a measurement: {type(error).__name__} {error}",
            remedy="give a file that `relaunch bench --json` wrote",
        ) from error


def _known(kind: type[Workload | Level | Measurement], data: Mapping[str, Any]) -> dict[str, Any]:
    names = {f.name for f in fields(kind)}
    return {k: tuple(v) if isinstance(v, list) else v for k, v in data.items() if k in names}
