"""What a person wants done to a server."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a person wants done, names resolved."""

    #: stable for redeliveries; the operation's id is made from it
    request_id: str
    #: "start", "stop", "restart" or "change"
    verb: str
    host: str
    config: str | None = None
    #: revision to launch; None: the pinned, else the best proven one of the config
    revision: str | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)
    #: pasted flags without a neutral name: engine -> canonical flag -> value
    flags: Mapping[str, Mapping[str, str | bool | list[str]]] = field(default_factory=dict)
    text: str = ""
    note: str = ""
    reasons: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    #: what a stop or restart is about: a config, or exactly this unit or process
    target_config: str | None = None
    target_unit: str | None = None
    target_pid: int | None = None
    #: nothing of ours runs there: a start, unless the config is found running as others started it
    unless_found: bool = False
    #: wait where only those who hold the GPUs are in the way
    when_free: bool = False
    #: id of the wait that this goes on from, and what the person was shown then
    wait: str | None = None
    shown: tuple[str, ...] = ()

    @property
    def operation(self) -> str:
        """Id of the operation."""
        content = f"{self.request_id}|{self.verb}|{self.host}|{self.config}"
        return hashlib.sha256(content.encode()).hexdigest()[:10]
