"""vLLM's speculative options, which come as one JSON text, as dotted options, or as --spec-* flags (since 0.22.1)."""

import json
import re
from collections.abc import Mapping
from typing import Any

from bot.core.engines._argv import Value
from bot.errors import BadInputError

OPTION = "speculative-config"
STEPS = "num_speculative_tokens"
_SHORT = {"spec-method": "method", "spec-model": "model", "spec-tokens": STEPS}


def speculation_of(flags: Mapping[str, Value]) -> dict[str, Any] | None:
    """The speculative options that the flags add up to; None without speculation or with JSON that cannot be read."""
    options: dict[str, Any] = {}
    text = flags.get(OPTION)
    if isinstance(text, str):
        try:
            read = json.loads(text)
        except ValueError:
            return None
        if not isinstance(read, dict):
            return None
        options.update(read)
    for name, value in flags.items():
        if name.startswith(OPTION + "."):
            options[name.removeprefix(OPTION + ".")] = _typed(value)
        elif name in _SHORT:
            options[_SHORT[name]] = _typed(value)
    return options or None


def steps_changes(flags: Mapping[str, Value], steps: int) -> dict[str, Value | None]:
    """Flag changes that set num_speculative_tokens where the launch has it; steps 0 takes speculation out.

    Raises BadInputError when the launch has no speculation: the method would be a guess."""
    there = [n for n in flags if n == OPTION or n.startswith(OPTION + ".") or n in _SHORT]
    if steps == 0:
        return dict.fromkeys(there)
    if not there:
        raise BadInputError(
            "this vLLM launch has no speculative decoding to change",
            remedy="start from a launch that has it, or write --speculative-config with a method into the launch",
        )
    dotted = f"{OPTION}.{STEPS}"
    if dotted in flags:
        return {dotted: str(steps)}
    if "spec-tokens" in flags:
        return {"spec-tokens": str(steps)}
    text = flags.get(OPTION)
    if not isinstance(text, str):
        return {dotted: str(steps)} if any(n.startswith(OPTION) for n in there) else {"spec-tokens": str(steps)}
    return {OPTION: _with_steps(text, steps)}


def _with_steps(text: str, steps: int) -> str:
    """The JSON text with another number of steps, its spacing kept."""
    changed, count = re.subn(rf'("{STEPS}"\s*:\s*)\d+', rf"\g<1>{steps}", text)
    if count == 1:
        return changed
    try:
        options = json.loads(text)
    except ValueError as error:
        raise BadInputError(f"--{OPTION} is no JSON: {error}", remedy="correct the JSON in the launch") from error
    options[STEPS] = steps
    return json.dumps(options)


def _typed(value: Value) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
