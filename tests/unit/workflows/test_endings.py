"""What is over has no buttons any more, and what a person has under way can be cancelled from anywhere."""

from dataclasses import replace
from datetime import timedelta

from bot.core.domain.catalog import LaunchConfig
from bot.core.domain.operation import Approval, OperationState
from bot.workflows.job import Job
from bot.workflows.propose import end_card
from bot.workflows.stop import approver
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


def test_who_approved_a_stop_is_named_beside_who_asked(world: World) -> None:
    world.say(START)
    (operation,) = world.carried_out()
    services, job = world.services, Job(world.services, operation)
    assert approver(job) is None
    plan = services.operations.plan(operation)
    expires_at = world.clock.now() + timedelta(minutes=5)
    services.operations.ask(Approval(operation=operation, fingerprint=plan.fingerprint, expires_at=expires_at))
    services.operations.decide(operation, fingerprint=plan.fingerprint, approved=True, actor=BOB, at=world.clock.now())
    assert approver(job) == BOB.id


def test_a_question_that_was_answered_says_so_in_its_place(world: World) -> None:
    revision = replace(world.revision, argv=(*world.revision.argv[:-1], "30001"))
    world.services.catalog.save(LaunchConfig(name="clerk", revisions=(revision,), host=HOST))
    world.say(f"start /models/a on {HOST}")
    (question,) = world.messenger.of("question")
    extra = question.context["candidates"][0]["extra"]
    world.press("choose", extra, template="question")
    assert not world.messenger.of("question")
    (chosen,) = world.messenger.of("chosen")
    assert (chosen.context["by"], chosen.context["config"]) == (ANA.id, extra["config"])
    assert len(world.carried_out()) == 1
