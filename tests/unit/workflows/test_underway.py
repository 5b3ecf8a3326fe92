"""Two people start the same within seconds: one launch, and the other is told of it."""

from typing import Any

from bot.core.domain.catalog import LaunchConfig, Revision
from bot.core.domain.launch import LaunchState
from bot.core.domain.operation import OperationState
from bot.workflows import carry_out
from tests.unit.workflows.world import ANA, BOB, COMMAND, CONFIG, HOST, THREAD, World

LISTENS = """LISTEN 0 128 0.0.0.0:22 0.0.0.0:*
LISTEN 0 128 0.0.0.0:30000 0.0.0.0:* users:(("python",pid=4711,fd=3))
---
pid 4711
owner dana
age 90
command python serve.py
parent 1 init

"""
START = f"start {CONFIG} on {HOST}"


def start_clerk(world: World, *, tutor_port: str = "30000") -> None:
    """Two more configs; "clerk" is being started."""
    for name, port in (("clerk", "30000"), ("tutor", tutor_port)):
        revision = Revision(engine="sglang", model="/models/a", argv=(*COMMAND.split()[:-1], port))
        world.services.catalog.save(LaunchConfig(name=name, revisions=(revision,), host=HOST))
    world.say(f"start clerk on {HOST}")
    assert len(world.carried_out()) == 1


def begin(world: World, operation: str) -> None:
    plan = world.services.operations.plan(operation)
    world.services.launches.begin(
        operation=operation, plan=plan, unit=f"relaunch-{operation}", conversation=THREAD, actor=ANA, note="",
        at=world.clock.now(),
    )  # fmt: skip


def told(world: World) -> dict[str, Any]:
    return dict(world.messenger.of("underway")[-1].context)


def test_the_same_start_said_twice_is_planned_once(world: World) -> None:
    world.say(START)
    world.say(START, BOB)
    assert len(world.carried_out()) == 1
    (first,) = world.carried_out()
    context = told(world)
    assert (context["config"], context["by"], context["queued"], context["operation"]) == (CONFIG, ANA.id, True, first)
    assert context["url"]


def test_while_it_loads_how_far_it_is_is_told(world: World) -> None:
    world.say(START)
    begin(world, world.carried_out()[0])
    world.clock.sleep(40)
    world.say(START, BOB)
    assert (told(world)["queued"], told(world)["since_s"]) == (False, 40.0)
    assert len(world.carried_out()) == 1


def test_another_config_on_the_same_port_is_not_planned(world: World) -> None:
    start_clerk(world)
    world.say(f"start tutor on {HOST} with gpus 1", BOB)
    assert "port 30000" in told(world)["reason"]
    assert told(world)["offers"] == []


def test_another_config_on_the_same_gpus_may_wait_for_them(world: World) -> None:
    start_clerk(world, tutor_port="30001")
    world.say(f"start tutor on {HOST}", BOB)
    assert "GPU 0" in told(world)["reason"]
    assert [one["label"] for one in told(world)["offers"]] == ["Start when free"]
    world.click("Start when free", BOB)
    assert [one.config for one in world.services.waits.waiting()] == ["tutor"]


def test_other_gpus_and_another_port_are_in_nobodys_way(world: World) -> None:
    start_clerk(world, tutor_port="30001")
    world.say(f"start tutor on {HOST} with gpus 1", BOB)
    assert len(world.carried_out()) == 2


def test_once_it_failed_it_may_be_started_again(world: World) -> None:
    world.say(START)
    (first,) = world.carried_out()
    begin(world, first)
    world.services.launches.set_state(first, LaunchState.FAILED, at=world.clock.now())
    world.end(first, OperationState.FAILED)
    world.say(START, BOB)
    assert len(world.carried_out()) == 2


def test_a_plan_that_waited_and_no_longer_holds_is_not_carried_out(world: World) -> None:
    world.say(START)
    (operation,) = world.carried_out()
    world.clock.sleep(60)
    world.host.facts["ports"] = LISTENS
    world.runs.workflows["carry_out_v1"] = lambda run, args: carry_out.carry_out(world.services, run, args)
    world.runs.work()
    assert world.services.operations.state(operation) is OperationState.EXPIRED
    assert world.services.launches.get(operation) is None
    closed = world.messenger.of("approval_closed")[-1].context
    assert closed["state"] == "stale"
    assert "30000" in closed["detail"]
    assert closed["again"]["extra"]["text"] == START
