"""Answer a read-only question: look once, post once."""

from collections.abc import Callable

from bot.core.domain.message import Message
from bot.workflows.ports import Run
from bot.workflows.services import Request, Services


def answer(
    services: Services, request: Request, run: Run, look: Callable[[], Message], *, name: str = "answer"
) -> None:
    """Post what `look` gives, as one step: when it is interrupted both are done again, and nothing is posted twice."""

    def work() -> str:
        return services.messenger.post(request.conversation, look(), key=f"{request.id}:{name}").ts

    run.step(name, work)
