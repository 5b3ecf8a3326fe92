"""A Command as JSON, in the shape that `relaunch understand --json` prints."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from bot.core.domain.command import Command, ThreadContext

_LEFT_OUT = frozenset({"text", "reasons", "names", "nearest"})


def answer(command: Command) -> dict[str, Any]:
    """Every slot by its name; what was not said is null, false or empty."""
    full = asdict(command)
    result: dict[str, Any] = {k: _plain(v) for k, v in full.items() if k not in _LEFT_OUT}
    result["intent"] = command.intent.value
    result["question"] = command.question.code if command.question else None
    result["question_values"] = dict(command.question.values) if command.question else {}
    result["nearest"] = {k: list(v) for k, v in command.nearest.items()}
    result["reasons"] = [asdict(r) for r in command.reasons]
    return result


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    return value


def context_from_json(data: object) -> ThreadContext | None:
    """The `context` of a JSONL row: {"launch": {"config", "host", "state"}}; None when it names no launch."""
    launch = data.get("launch") if isinstance(data, Mapping) else None
    if not isinstance(launch, Mapping):
        return None
    number = launch.get("number")
    return ThreadContext(
        config=_text(launch.get("config")),
        host=_text(launch.get("host")),
        state=_text(launch.get("state")),
        launch_number=number if isinstance(number, int) else None,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
