"""A small schema language for Block Kit, with errors in the shape that Slack gives them.

An error is one line such as "must be less than 3001 characters [json-pointer:/blocks/0/text/text]" (seen in public
issue threads). Lengths are counted in UTF-16 units, the larger of the two ways that Slack could count.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

#: checks a value at a JSON pointer and adds error lines
Check = Callable[[Any, str, list[str]], None]


def at(message: str, pointer: str) -> str:
    """An error line with its place."""
    return f"{message} [json-pointer:{pointer}]"


def length(text: str) -> int:
    """Characters as UTF-16 counts them."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def string(longest: int, shortest: int = 0) -> Check:
    """A string of so many characters."""

    def check(value: Any, pointer: str, errors: list[str]) -> None:
        if not isinstance(value, str):
            errors.append(at("must be a string", pointer))
        elif length(value) > longest:
            errors.append(at(f"must be less than {longest + 1} characters", pointer))
        elif length(value) < shortest:
            errors.append(at(f"must be more than {shortest - 1} characters", pointer))

    return check


def one_of(*allowed: object) -> Check:
    """One of these values."""

    def check(value: Any, pointer: str, errors: list[str]) -> None:
        if not any(value == a and type(value) is type(a) for a in allowed):
            errors.append(at(f"must be one of: {', '.join(map(str, allowed))}", pointer))

    return check


def boolean(value: Any, pointer: str, errors: list[str]) -> None:
    """true or false."""
    if not isinstance(value, bool):
        errors.append(at("must be a boolean", pointer))


def number(low: float | None = None, high: float | None = None) -> Check:
    """A whole number within limits."""

    def check(value: Any, pointer: str, errors: list[str]) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            errors.append(at("must be a number", pointer))
        elif low is not None and value < low:
            errors.append(at(f"must be greater than or equal to {low:g}", pointer))
        elif high is not None and value > high:
            errors.append(at(f"must be less than or equal to {high:g}", pointer))

    return check


def anything(value: Any, pointer: str, errors: list[str]) -> None:
    """Not looked at."""


def array(item: Check, most: int = 1_000_000, least: int = 0) -> Check:
    """A list of so many items."""

    def check(value: Any, pointer: str, errors: list[str]) -> None:
        if not isinstance(value, list):
            errors.append(at("must be an array", pointer))
            return
        if len(value) > most:
            errors.append(at(f"no more than {most} items allowed", pointer))
        if len(value) < least:
            errors.append(
                at(f"must provide at least {least} items" if least > 1 else "must provide at least 1 item", pointer)
            )
        for index, entry in enumerate(value):
            item(entry, f"{pointer}/{index}", errors)

    return check


@dataclass(frozen=True)
class Fields:
    """An object: its required and optional fields, and rules over the whole."""

    required: Mapping[str, Check] = field(default_factory=dict)
    optional: Mapping[str, Check] = field(default_factory=dict)
    rules: Sequence[Callable[[dict[str, Any], str, list[str]], None]] = ()

    def __call__(self, value: Any, pointer: str, errors: list[str]) -> None:
        """Check an object."""
        if not isinstance(value, dict):
            errors.append(at("must be an object", pointer))
            return
        for name in self.required:
            if name not in value or value[name] is None:
                errors.append(at(f"missing required field: {name}", pointer))
        for name, entry in value.items():
            known = self.required.get(name) or self.optional.get(name)
            if known is None:
                errors.append(at(f"invalid additional property: {name}", pointer))
            elif entry is not None:
                known(entry, f"{pointer}/{name}", errors)
        for rule in self.rules:
            rule(value, pointer, errors)


@dataclass
class ByType:
    """An object whose `type` says which fields it has. `what` is the word in "unsupported type"."""

    kinds: dict[str, Check]

    def __call__(self, value: Any, pointer: str, errors: list[str]) -> None:
        """Check an object by its type."""
        if not isinstance(value, dict):
            errors.append(at("must be an object", pointer))
            return
        kind = value.get("type")
        if kind is None:
            errors.append(at("missing required field: type", pointer))
        elif kind not in self.kinds:
            errors.append(at(f"unsupported type: {kind}", f"{pointer}/type"))
        else:
            self.kinds[kind](value, pointer, errors)


def of(kind: str, required: Mapping[str, Check], optional: Mapping[str, Check] | None = None, *rules: Any) -> Fields:
    """Fields of an object of this type."""
    return Fields({"type": one_of(kind), **required}, optional or {}, rules)
