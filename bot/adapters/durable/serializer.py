"""Plain JSON in the durable tables. The library's default is pickle, which would let whoever can write the database run
code in the bot."""

import json
from typing import Any

from dbos import Serializer


class StoredFailureError(Exception):
    """An exception that was stored as JSON; only its type's name and message survive."""


class JsonSerializer(Serializer):
    """JSON only; anything else is an error at the place that tried to store it."""

    def serialize(self, data: Any) -> str:
        """To JSON text."""
        return json.dumps(data, default=_exception)

    def deserialize(self, serialized_data: str) -> Any:
        """From JSON text."""
        return json.loads(serialized_data, object_hook=_revive)

    def name(self) -> str:
        """Stored beside each value."""
        return "relaunch_json"


def _exception(value: object) -> object:
    if isinstance(value, BaseException):
        return {"__exception__": type(value).__name__, "message": str(value)}
    raise TypeError(f"{type(value).__name__} is not JSON")


def _revive(value: dict[str, Any]) -> Any:
    if set(value) == {"__exception__", "message"}:
        return StoredFailureError(f"{value['__exception__']}: {value['message']}")
    return value
