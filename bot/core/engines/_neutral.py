"""Neutral settings (`context_length` …) as text of flags, and back."""

import re
from collections.abc import Mapping
from typing import Any

from bot.core.domain.engine import Flag
from bot.core.engines._argv import Value
from bot.errors import BadInputError

_SUFFIXES = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def text_of(value: object) -> str:
    """A neutral value as the text of a flag; whole numbers are written plainly."""
    if isinstance(value, float) and value.is_integer() and abs(value) >= 2:
        return str(int(value))
    return str(value)


def flag_value(value: Any) -> Value | None:
    """A neutral value as a flag's value; None takes the flag out."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, list | tuple):
        return [text_of(one) for one in value]
    return text_of(value)


def number_of(text: str, *, human: bool = False) -> int | float | None:
    """The number a flag's text means, or None. `human`: 16k is 16000 and 16K is 16384, as vLLM reads them."""
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    if human and (match := re.fullmatch(r"(\d+(?:\.\d+)?)([kmgtKMGT])", text)):
        return int(float(match[1]) * _SUFFIXES[match[2]])
    try:
        return float(text)
    except ValueError:
        return None


def neutral_value(flag: Flag | None, value: Value, *, human: bool = False) -> Any:
    """A flag's value in neutral form, numbers as numbers; None where a number is due and the text is none ("auto")."""
    if isinstance(value, str) and flag is not None and flag.type in ("int", "float"):
        return number_of(value, human=human)
    return value


def translate(
    engine: str, names: Mapping[str, str], overrides: Mapping[str, Any], *, remedies: Mapping[str, str]
) -> dict[str, Value | None]:
    """Overrides as canonical flags by a plain name map. `env` and `gpus` are left to `environment`.

    Raises BadInputError for a setting that the engine has no flag for."""
    flags: dict[str, Value | None] = {}
    for name, value in overrides.items():
        if name in ("env", "gpus"):
            continue
        if name not in names:
            what = name.replace("_", " ")
            raise BadInputError(f"{engine} has no setting for {what}", remedy=remedies.get(name, ""))
        flags[names[name]] = flag_value(value)
    return flags


def environment_of(overrides: Mapping[str, Any]) -> dict[str, str | None]:
    """`env` as it is, `gpus` ([0, 1], 0 or "0,1") as CUDA_VISIBLE_DEVICES; None unsets."""
    result: dict[str, str | None] = {}
    if "gpus" in overrides:
        gpus = overrides["gpus"]
        listed = gpus if isinstance(gpus, list | tuple) else [] if gpus is None else [gpus]
        result["CUDA_VISIBLE_DEVICES"] = None if gpus is None else ",".join(str(gpu) for gpu in listed)
    for name, value in (overrides.get("env") or {}).items():
        result[name] = None if value is None else str(value)
    return result
