"""A launch on a host whose readings are raw text, as case files have them."""

import json
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import bot.core.engines
import bot.core.facts
import bot.core.planning.checks
from bot import plugins
from bot.core.domain.catalog import LaunchConfig, LaunchRecord, Revision
from bot.core.domain.container import Container
from bot.core.domain.engine import Engine
from bot.core.domain.host import Host
from bot.core.domain.reading import Reading, Unknown
from bot.core.domain.records import from_json
from bot.core.facts import Fact, HostFacts
from bot.core.planning import Check, Running, Situation

CASES = Path(__file__).parents[3] / "cases" / "planning"
ENGINES = cast(dict[str, Engine], plugins.load(bot.core.engines, "ENGINE"))
FACTS = cast(dict[str, Fact[Any]], plugins.load(bot.core.facts, "FACT"))
CHECKS = cast(dict[str, Check], plugins.load(bot.core.planning.checks, "CHECK"))
GOOD: dict[str, Any] = json.loads((CASES / "host.json").read_text())
NOW = datetime(2026, 12, 2, 8, 0, tzinfo=UTC)


def readings(texts: dict[str, str] | None = None, unknown: dict[str, str] | None = None) -> HostFacts:
    """A good host's readings, some texts replaced, some unknown."""
    found: dict[str, Reading[object]] = {
        name: FACTS[name].parse(text) for name, text in {**GOOD["facts"], **(texts or {})}.items()
    }
    found |= {name: Unknown(reason) for name, reason in (unknown or {}).items()}
    return HostFacts(readings=found, taken_at=NOW)


def engine_of(argv: list[str]) -> Engine:
    return next(engine for engine in ENGINES.values() if engine.recognises(argv))


def revision(command: str | None = None, **more: Any) -> Revision:
    argv = shlex.split(command or GOOD["command"])
    return Revision(engine=engine_of(argv).name, model="a", argv=tuple(argv), **more)


def record(number: int = 1, **more: Any) -> LaunchRecord:
    values: dict[str, Any] = {
        "id": f"l{number}", "number": number, "config": "a", "revision": "r", "host": "h", "state": "ready",
        "started_at": NOW + timedelta(hours=number), "ready_after_s": 90.0,
    }  # fmt: skip
    return LaunchRecord(**{**values, **more})


def running(unit: str | None = "relaunch-a-1", pid: int | None = 700, port: int | None = 30000, *, config: str = "a",
            number: int = 7, ours: bool = True) -> Running:  # fmt: skip
    return Running(unit=unit, pid=pid, port=port, launch=record(number, config=config) if ours else None)


def situation(row: dict[str, Any]) -> Situation:
    box = from_json(Container, row["container"]) if "container" in row else None
    env = tuple((row.get("env") or {}).items())
    one = revision(row.get("command"), env=env, container=box, **row.get("revision", {}))
    engine = engine_of([str(word) for word in one.argv])
    history = [record(**more) for more in row.get("history", ())]
    return Situation(
        host=Host(name="h", address="h.invalid", protected=row.get("protected", False)),
        engine=engine,
        revision=one,
        line=engine.parse(one.argv),
        facts=readings(row.get("facts"), row.get("unknown")),
        running=tuple(running(**more) for more in row.get("running", ())),
        replaces=tuple(running(**more) for more in row.get("replaces", ())),
        proven=history[-1] if history else None,
    )


def config(*revisions: Revision, **more: Any) -> LaunchConfig:
    return LaunchConfig(name="a", revisions=revisions, **more)
