"""Domain records to and from plain JSON, for database columns and durable arguments."""

from typing import Any, TypeVar

from pydantic import TypeAdapter

T = TypeVar("T")


_ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {}


def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def to_json(record: object) -> Any:
    """Plain JSON of a domain record."""
    return _adapter(type(record)).dump_python(record, mode="json")


def from_json(kind: type[T], value: Any) -> T:
    """The domain record again."""
    result: T = _adapter(kind).validate_python(value)
    return result
