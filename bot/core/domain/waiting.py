"""Starts that wait until their GPUs are free."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.core.domain.message import Conversation
from bot.core.domain.operation import Actor


class WaitState(StrEnum):
    """Life of one wait."""

    WAITING = "waiting"
    #: the GPUs were free: it was planned anew, and goes on as an operation
    PLANNED = "planned"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    #: it could not be planned any more, or the person may not start there any more
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """One start that waits. Nothing but looking happens until its GPUs are free."""

    id: str
    host: str
    config: str
    #: exactly what is to be launched
    revision: str
    actor: Actor
    conversation: Conversation
    created_at: datetime
    expires_at: datetime
    #: when the host is looked at next
    next_look_at: datetime
    #: the sentence that asked for it
    text: str = ""
    note: str = ""
    #: what the person was shown that is not ok, as core.planning.free.telling gives it
    shown: tuple[str, ...] = ()
    #: who held the GPUs at the last look
    holders: tuple[str, ...] = ()
    state: WaitState = WaitState.WAITING
    #: what moved it out of waiting: the id of a run
    moved_by: str = ""
    looked_at: datetime | None = None
    #: successive looks that found the GPUs free, and that did not
    free_looks: int = 0
    busy_looks: int = 0
    #: why the host could not be looked at last time; "": it could
    away: str = ""
