"""What a question is answered with, over a real database."""

from dataclasses import replace

import pytest

from bot.commands._asking import differs
from bot.core.domain.catalog import LaunchConfig
from bot.core.domain.launch import LaunchState
from bot.workflows import fail
from bot.workflows.job import Job
from tests.unit.workflows.world import ANA, CONFIG, HOST, THREAD, World


def launched(world: World) -> str:
    world.say(f"start {CONFIG} on {HOST}")
    (operation,) = world.carried_out()
    plan = world.services.operations.plan(operation)
    world.services.launches.begin(
        operation=operation, plan=plan, unit=f"relaunch-{operation}", conversation=THREAD, actor=ANA, note="",
        at=world.clock.now(),
    )  # fmt: skip
    return operation


@pytest.mark.parametrize(
    ("text", "thread"),
    [("why did it fail?", None), (f"why did {HOST} fail?", "9.1"), (f"why did {CONFIG} fail?", "9.1")],
)
def test_why_it_failed_is_answered_with_its_diagnosis(world: World, text: str, thread: str | None) -> None:
    operation = launched(world)
    fail.not_started(Job(world.services, operation), {"reason": "the disk is full", "remedy": "make room"})
    world.services.launches.set_state(operation, LaunchState.FAILED, at=world.clock.now())
    world.say(text, thread=thread)
    first, again = world.messenger.of("failed")
    assert again.context["diagnosis"] == first.context["diagnosis"]
    assert again.context["diagnosis"]["cause"] == "the disk is full"
    assert again.context["retry"] is None


def test_a_greeting_in_a_launchs_thread_is_answered(world: World) -> None:
    launched(world)
    world.say("thanks!")
    assert [one.context["said"] for one in world.messenger.of("greeting")] == ["thanks"]


def test_a_question_for_one_server_is_answered_about_it_alone(world: World) -> None:
    launched(world)
    world.services.catalog.save(LaunchConfig(name="clerk", revisions=(world.revision,), host=HOST))
    world.say("is clerk up?", thread="9.1")
    (status,) = world.messenger.of("status")
    assert (status.context["asked"], status.context["servers"], status.context["hosts"]) == ("clerk", [], [])


def test_help_tells_more_of_one_verb(world: World) -> None:
    world.say("help", thread="9.1")
    world.say("help start", thread="9.2")
    short, long = (one.context for one in world.messenger.of("help"))
    assert sum(len(group["verbs"]) for group in short["groups"]) <= 12
    assert long["topic"] == "start"
    assert len(long["groups"][0]["verbs"][0]["syntax"]) > 1


def test_a_host_that_is_not_known_is_asked_for_by_the_hosts_that_are(world: World) -> None:
    world.services.catalog.save(LaunchConfig(name="clerk", revisions=(world.revision,), host=HOST))
    world.say("start clerk on gpu77", thread="9.1")
    (question,) = world.messenger.of("question")
    assert question.context["code"] == "unknown_host"
    assert [one["label"] for one in question.context["candidates"]] == [f"on {HOST}"]
    world.press("choose", question.context["candidates"][0]["extra"], template="question")
    assert len(world.carried_out()) == 1


def test_candidates_show_only_what_tells_them_apart(world: World) -> None:
    argv = (*world.revision.argv, "--context-length", "32768")
    for name, more in (("clerk", ()), ("tutor", ("--speculative-algorithm", "EAGLE", "--speculative-num-steps", "3"))):
        revision = replace(world.revision, argv=(*argv, *more))
        world.services.catalog.save(LaunchConfig(name=name, revisions=(revision,), host=HOST, aliases=("both",)))
    configs = world.services.catalog.catalog().configs
    among = [configs["clerk"], configs["tutor"]]
    assert differs(world.services, configs["clerk"], among) == ["no speculation"]
    assert differs(world.services, configs["tutor"], among) == ["3 steps"]
