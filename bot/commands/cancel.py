"""cancel: end what this thread started and has not finished."""

from bot.commands._spec import CommandSpec
from bot.core.domain.command import Intent
from bot.core.domain.operation import Permission
from bot.workflows.cancel import cancel_in_thread
from bot.workflows.ports import Run
from bot.workflows.services import Request, Services


def _run(services: Services, request: Request, run: Run) -> None:
    def work() -> str:
        message = cancel_in_thread(services, request.conversation, request.actor)
        return services.messenger.post(request.conversation, message, key=f"{request.id}:answer").ts

    run.step("cancel", work)


COMMAND = CommandSpec(intent=Intent.CANCEL, permission=Permission.OPERATE, run=_run)
