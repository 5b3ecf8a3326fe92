"""One plan that is carried out: what its steps need."""

from bot.core.domain.message import Conversation, Json, Message, Posted
from bot.core.domain.operation import Actor
from bot.core.domain.plan import Plan, StepKind
from bot.core.domain.records import from_json, to_json
from bot.workflows.services import Services


class Job:
    """Loaded once a run; the plan is the stored one."""

    def __init__(self, services: Services, operation: str) -> None:
        details = services.operations.details(operation)
        self.services = services
        self.operation = operation
        self.plan: Plan = services.operations.plan(operation)
        self.actor: Actor = details["actor"]
        self.conversation: Conversation = details["conversation"]
        self.note: str = details["note"]
        self.host = services.hosts.inventory().hosts[self.plan.host]
        self.runner = services.runners[self.plan.runner]
        self.unit = next((s.unit for s in self.plan.steps if s.kind is StepKind.START and s.unit), "")

    def post(self, name: str, message: Message) -> Json:
        """Post once; gives the message as JSON."""
        posted = self.services.messenger.post(self.conversation, message, key=f"{self.operation}:{name}")
        return to_json(posted)  # type: ignore[no-any-return]  # pydantic gives Any

    def update(self, name: str, message: Message, *, final: bool = False) -> None:
        """Edit the message of that name, or post it."""
        posted = from_json(Posted, self.post(name, message))
        self.services.messenger.update(posted, message, final=final)
