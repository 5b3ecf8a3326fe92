"""Domain values as the plain JSON values that template contexts hold."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum

from bot.core.domain.catalog import SecretRef
from bot.core.domain.message import Json
from bot.core.domain.reading import Known, Unknown


def plain(value: object) -> Json:
    """Records as objects by field name, times as ISO 8601, enums as their value, secrets as "<secret>".

    A reading becomes its value, or {"unknown": reason}. Keys become text. Raises TypeError for anything else.
    """
    if isinstance(value, Enum):
        return plain(value.value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, SecretRef):
        return str(value)
    if isinstance(value, Known):
        return plain(value.value)
    if isinstance(value, Unknown):
        return {"unknown": value.reason}
    if isinstance(value, datetime):
        return value.isoformat()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no plain form")
