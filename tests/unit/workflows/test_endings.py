"""What is over has no buttons any more, and what a person has under way can be cancelled from anywhere."""

from bot.core.domain.operation import OperationState
from bot.workflows.propose import end_card
from tests.unit.workflows.world import ANA, BOB, CONFIG, HOST, World

START = f"start {CONFIG} on {HOST}"


def test_the_plan_of_what_ended_says_so(world: World) -> None:
    world.say(START)
    (operation,) = world.carried_out()
    end_card(world.services, operation, OperationState.FAILED)
    (plan,) = world.messenger.of("plan")
    assert (plan.context["next"], plan.context["outcome"]) == ("over", "failed")


def test_cancel_elsewhere_offers_ones_own(world: World) -> None:
    world.say(START)
    (operation,) = world.carried_out()
    world.say("cancel", BOB, thread="1796000000.000999")
    assert world.messenger.of("cancelled")[-1].context["offers"] == []
    world.say("cancel", ANA, thread="1796000000.000999")
    (offer,) = world.messenger.of("cancelled")[-1].context["offers"]
    assert (offer["action"], offer["operation"]) == ("cancel", operation)
    world.click(offer["label"])
    assert world.services.operations.state(operation) is OperationState.CANCELLED
