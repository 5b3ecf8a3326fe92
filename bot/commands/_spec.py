"""What a command module declares."""

from collections.abc import Callable
from dataclasses import dataclass

from bot.core.domain.command import Intent
from bot.core.domain.operation import Permission
from bot.workflows.ports import Run
from bot.workflows.services import Request, Services


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSpec:
    """One verb. What can be said for it is data of the language (core/language/help.py)."""

    intent: Intent
    #: what one needs to be allowed to say it
    permission: Permission
    #: does it: posts what there is to say; effects are steps of the run
    run: Callable[[Services, Request, Run], None]
