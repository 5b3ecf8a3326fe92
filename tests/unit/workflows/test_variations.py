"""A start with other settings for once: what the name means stays, and the variation can be reached."""

from typing import Any

from bot.commands.show import describe
from bot.core.catalog.edits import EditKind
from bot.core.domain.launch import LaunchState
from bot.workflows.edit_config import edit_config
from tests.unit.workflows.world import ANA, CONFIG, HOST, THREAD, World

TRIED = f"start {CONFIG} on {HOST} with 4k context"


def launched(world: World, state: LaunchState) -> str:
    """What was planned last is launched and ends in that state. Gives its revision."""
    operation = world.carried_out()[-1]
    plan = world.services.operations.plan(operation)
    world.services.launches.begin(
        operation=operation, plan=plan, unit=f"relaunch-{operation}", conversation=THREAD, actor=ANA, note="",
        at=world.clock.now(),
    )  # fmt: skip
    world.clock.sleep(30)
    for one in dict.fromkeys((LaunchState.READY, state)) if state is not LaunchState.FAILED else (state,):
        world.services.launches.set_state(operation, one, at=world.clock.now())
    world.end(operation)
    assert plan.revision is not None
    return plan.revision


def shown(world: World) -> dict[str, Any]:
    return dict(describe(world.services, CONFIG).context)


def planned(world: World, text: str) -> str | None:
    world.say(text)
    revision: str | None = world.messenger.of("plan")[-1].context["plan"]["revision"]
    return revision


def test_a_variation_that_never_was_ready_changes_no_name(world: World) -> None:
    world.say(TRIED)
    assert launched(world, LaunchState.FAILED) != world.revision.id
    assert shown(world)["revision"]["id"] == world.revision.id
    assert planned(world, f"start {CONFIG} on {HOST}") == world.revision.id


def test_one_that_ran_well_changes_no_name_either_until_it_is_pinned(world: World) -> None:
    world.say(TRIED)
    tried = launched(world, LaunchState.STOPPED)
    assert shown(world)["revision"]["id"] == world.revision.id
    edit_config(world.services, CONFIG, EditKind.PIN, tried, ANA)
    assert shown(world)["revision"]["id"] == tried
    assert planned(world, f"start {CONFIG} on {HOST}") == tried


def test_the_last_launch_and_the_same_words_reach_the_variation(world: World) -> None:
    world.say(TRIED)
    tried = launched(world, LaunchState.STOPPED)
    assert planned(world, f"start {CONFIG} on {HOST} same as last time") == tried
    launched(world, LaunchState.STOPPED)
    assert planned(world, TRIED) == tried


def test_a_refused_request_leaves_no_revision(world: World) -> None:
    world.say(f"start {CONFIG} on {HOST} with tp 16")
    assert world.messenger.of("refusal")
    assert [one.id for one in world.services.catalog.catalog().configs[CONFIG].revisions] == [world.revision.id]


def test_saving_under_a_name_makes_the_variation_what_that_name_means(world: World) -> None:
    world.say(TRIED)
    tried = launched(world, LaunchState.READY)
    world.say("save this as small-4k")
    (saved,) = world.services.catalog.catalog().configs["small-4k"].saved
    assert saved.id == tried
