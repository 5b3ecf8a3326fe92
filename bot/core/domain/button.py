"""What a button carries: which action on which operation, bound to the plan that was shown."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.core.domain.message import Json

#: version of the encoding that this program writes and reads
BUTTON_VERSION = 1
#: Slack's limit for a button's value, in characters
VALUE_LIMIT = 2000


class ButtonValueError(ValueError):
    """A button value that this program did not write, or wrote in another version (`version`)."""

    def __init__(self, reason: str, *, version: object = None) -> None:
        super().__init__(reason)
        self.version = version


@dataclass(frozen=True, slots=True, kw_only=True)
class ButtonValue:
    """Value of one button. The value is what the click asks for, never a proof of who may do it."""

    #: "approve", "reject", "choose", "retry", "save", "save_all", "trust", "run", "cancel" …
    action: str
    operation: str = ""
    #: Plan.fingerprint, whole or empty
    fingerprint: str = ""
    #: further plain values, small
    extra: Mapping[str, Json] = field(default_factory=dict)
    v: int = BUTTON_VERSION

    def encode(self) -> str:
        """Compact JSON with sorted keys. Raises ButtonValueError when it is longer than Slack takes."""
        content: dict[str, object] = {"v": self.v, "a": self.action}
        if self.operation:
            content["o"] = self.operation
        if self.fingerprint:
            content["f"] = self.fingerprint
        if self.extra:
            content["x"] = dict(self.extra)
        text = json.dumps(content, separators=(",", ":"), sort_keys=True)
        if len(text) > VALUE_LIMIT:
            raise ButtonValueError(f"button value of {len(text)} characters; Slack takes {VALUE_LIMIT}")
        return text

    @staticmethod
    def decode(text: str) -> "ButtonValue":
        """Read what `encode` wrote. Raises ButtonValueError for anything else."""
        if len(text) > VALUE_LIMIT:
            raise ButtonValueError("button value is too long")
        try:
            content = json.loads(text)
        except ValueError as error:
            raise ButtonValueError("button value is not JSON") from error
        if not isinstance(content, dict):
            raise ButtonValueError("button value is not an object")
        version = content.get("v")
        if type(version) is not int or version != BUTTON_VERSION:
            raise ButtonValueError(f"button value has version {version!r}", version=version)
        action, operation, fingerprint = (content.get(key, "") for key in ("a", "o", "f"))
        extra = content.get("x", {})
        texts = (action, operation, fingerprint)
        if not all(isinstance(t, str) for t in texts) or not action or not isinstance(extra, dict):
            raise ButtonValueError("button value has fields of the wrong kind")
        return ButtonValue(action=action, operation=operation, fingerprint=fingerprint, extra=extra)
