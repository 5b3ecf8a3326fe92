"""Start when free: offered, kept, looked for, and started once, as the person may do then."""

from datetime import timedelta
from typing import Any

import pytest

from bot.core.domain.operation import OperationState, Permission
from bot.core.domain.waiting import WaitState
from bot.workflows import sweep
from tests.unit.workflows.world import ANA, BOB, CONFIG, HOST, THREAD, World, training


@pytest.fixture
def world(world: World) -> World:
    world.host.facts |= training(0)
    return world


def labels(world: World, template: str) -> list[str]:
    return [one["label"] for one in world.messenger.of(template)[-1].context["offers"]]


def waiting(world: World) -> list[Any]:
    return [(one.config, one.host, one.actor.id) for one in world.services.waits.waiting()]


def wait(world: World) -> None:
    world.say(f"start {CONFIG} on {HOST}")
    world.click("Start when free")
    assert waiting(world) == [(CONFIG, HOST, ANA.id)]


def test_a_refusal_for_a_training_run_offers_free_gpus_and_waiting(world: World) -> None:
    world.say(f"start {CONFIG} on {HOST}")
    assert labels(world, "refusal") == ["Start on GPU 1", "Start when free"]
    assert world.carried_out() == []


def test_other_gpus_are_planned_anew_and_started_once_for_two_clicks(world: World) -> None:
    world.say(f"start {CONFIG} on {HOST}")
    world.click("Start on GPU 1", work=False)
    world.click("Start on GPU 1", work=False)
    world.runs.work()
    (plan,) = world.messenger.of("plan")
    assert dict(plan.context["plan"]["env"])["CUDA_VISIBLE_DEVICES"] == "1"
    assert len(world.carried_out()) == 1


def test_the_refused_start_waits_and_is_planned_once_its_gpus_are_free_at_two_looks(world: World) -> None:
    wait(world)
    world.pass_time(300)
    assert world.carried_out() == []
    world.host.facts |= training()
    looks = len(world.host.probes)
    world.pass_time(150)
    (operation,) = world.carried_out()
    assert world.services.operations.state(operation) is OperationState.RUNNING
    assert world.services.operations.details(operation)["actor"] == ANA
    assert [one.context["state"] for one in world.messenger.of("waiting_free")] == ["planned"]
    assert world.messenger.of("plan")[-1].context["next"] == "now"
    # two looks for free GPUs, one at everything
    assert len(world.host.probes) == looks + 3
    world.pass_time(600, step_s=20)
    assert world.carried_out() == [operation]


def test_gpus_that_are_free_for_a_moment_only_are_not_taken(world: World) -> None:
    wait(world)
    for _ in range(6):
        world.host.facts |= training()
        before = len(world.host.probes)
        while len(world.host.probes) == before:
            world.pass_time(3)
        world.host.facts |= training(0)
        world.pass_time(60)
    assert world.carried_out() == []
    assert waiting(world)


def test_looks_become_rarer_but_never_rarer_than_two_minutes(world: World) -> None:
    wait(world)
    before = len(world.host.probes)
    world.pass_time(3600, step_s=20)
    assert 25 <= len(world.host.probes) - before <= 50


def test_a_look_only_reads_a_few_facts(world: World) -> None:
    wait(world)
    world.pass_time(60)
    assert world.host.probes[-1] == {"gpus", "gpu_processes", "ports", "units", "system"}


def test_two_clicks_and_two_people_wait_once(world: World) -> None:
    world.say(f"start {CONFIG} on {HOST}")
    world.click("Start when free", work=False)
    world.click("Start when free", work=False)
    world.runs.work()
    world.say(f"start {CONFIG} on {HOST}", BOB)
    world.click("Start when free", BOB)
    assert waiting(world) == [(CONFIG, HOST, ANA.id)]
    world.host.facts |= training()
    world.pass_time(300)
    assert len(world.carried_out()) == 1


def test_waiting_where_the_gpus_came_free_starts_at_once(world: World) -> None:
    world.say(f"start {CONFIG} on {HOST}")
    world.host.facts |= training()
    world.click("Start when free")
    assert len(world.carried_out()) == 1
    assert waiting(world) == []


@pytest.mark.parametrize("dies_after", ["look", "who asked", "permitted", "claim", "plan", "set running", "submit"])
def test_killed_at_any_step_it_is_started_exactly_once(world: World, dies_after: str) -> None:
    wait(world)
    world.host.facts |= training()
    for _ in range(25):
        world.clock.sleep(6)
        sweep.sweep(world.services)
        world.runs.work(dies_after=dies_after)
        world.runs.work()
    assert len(world.carried_out()) == 1
    assert len(world.messenger.of("plan")) == 1


def test_two_processes_look_once(world: World) -> None:
    wait(world)
    world.clock.sleep(30)
    due = world.services.waits.due(world.clock.now())
    sweep.sweep(world.services)
    # the other process read the same row before this one moved it
    for one in due:
        world.services.waits.postpone(one.id, seen=one.next_look_at, until=one.next_look_at)
    sweep.sweep(world.services)
    assert len([run for run in world.runs.submitted if run.startswith("wait:")]) == 1


def test_a_host_that_is_away_is_said_once_and_the_wait_is_kept(world: World) -> None:
    wait(world)
    world.host.away = True
    world.pass_time(1800, step_s=20)
    assert len(world.messenger.posted("unreachable")) == 1
    assert world.messenger.posted("unreachable")[0].context["retrying"]
    world.say("status")
    assert "no answer" in world.messenger.of("status")[-1].context["waiting"][0]["away"]
    world.host.away = False
    world.host.facts |= training()
    world.pass_time(300)
    assert len(world.carried_out()) == 1


def test_status_lists_what_waits_and_who_holds_the_gpus(world: World) -> None:
    wait(world)
    world.pass_time(60)
    world.say("status")
    (one,) = world.messenger.of("status")[-1].context["waiting"]
    assert (one["config"], one["host"], one["by"]) == (CONFIG, HOST, ANA.id)
    assert one["holders"] == ["dana: python train.py --bs 8 on GPU 0"]


def test_the_card_cancels_it(world: World) -> None:
    wait(world)
    world.click("Cancel", BOB)
    assert world.messenger.of("waiting_free")[-1].context["state"] == "cancelled"
    assert world.messenger.of("cancelled")[-1].context["state"] == "cancelled"
    world.host.facts |= training()
    world.pass_time(300)
    assert world.carried_out() == []
    # it may be asked for again with the same button
    world.host.facts |= training(0)
    world.click("Start when free")
    assert waiting(world)


def test_the_word_cancels_it(world: World) -> None:
    wait(world)
    world.say("cancel")
    assert waiting(world) == []
    assert world.messenger.of("cancelled")[-1].context["config"] == CONFIG
    world.say("cancel")
    assert world.messenger.of("cancelled")[-1].context["state"] == "nothing"


def test_it_expires_and_says_so(world: World) -> None:
    wait(world)
    world.clock.sleep(timedelta(hours=24).total_seconds())
    world.pass_time(6)
    assert waiting(world) == []
    assert [one.context["state"] for one in world.messenger.posted("waiting_free")] == ["expired"]
    world.host.facts |= training()
    world.pass_time(300)
    assert world.carried_out() == []


def test_permissions_are_those_of_the_moment(world: World) -> None:
    wait(world)
    world.permit(U0BOB=Permission.OPERATE)
    world.host.facts |= training()
    world.pass_time(300)
    assert world.carried_out() == []
    assert world.messenger.posted("waiting_free")[-1].context["detail"] == "permission"


def test_approval_rules_are_those_of_a_start(world: World) -> None:
    wait(world)
    small = "GPU-0, 5, 120, Xorg\n---\npid 5\nowner eve\nage 5\ncommand Xorg\nparent 1 init\n\n"
    world.host.facts |= {**training(), "gpu_processes": small}
    world.pass_time(300)
    assert world.carried_out() == []
    (card,) = world.messenger.posted("approval")
    assert "others use the same GPUs" in card.context["because"]


def test_what_is_new_since_it_was_asked_for_is_asked_first(world: World) -> None:
    wait(world)
    world.host.facts |= {**training(), "memory": "MemTotal: 263846296 kB\nMemAvailable: 1201 kB\n"}
    world.pass_time(300)
    assert world.carried_out() == []
    (plan,) = world.messenger.of("plan")
    assert plan.context["next"] == "ask"
    assert plan.context["news"]
    world.click("Start it")
    assert len(world.carried_out()) == 1


def test_what_stands_against_it_in_the_end_is_said_with_its_remedy(world: World) -> None:
    wait(world)
    gone = '{"asked": "/models/a", "source": "path", "exists": false, "path": "/models/a"}'
    world.host.facts |= {**training(), "model_files": gone}
    world.pass_time(300)
    assert world.carried_out() == []
    assert "/models/a" in world.messenger.of("refusal")[-1].context["reason"]
    assert waiting(world) == []


def test_one_that_was_faster_makes_it_wait_on(world: World) -> None:
    wait(world)
    world.host.facts |= training()
    first = world.services.waits.waiting()[0]
    # free at both looks, held again when everything is looked at
    probes = world.host.probes
    real = world.host.run

    def run(host: Any, command: Any) -> Any:
        if len(probes) and "begin model_files" in command.stdin.decode():
            world.host.facts |= training(0)
        return real(host, command)

    world.host.run = run  # type: ignore[method-assign]  # a host that changes between two looks
    world.pass_time(60)
    assert world.carried_out() == []
    assert waiting(world)
    world.host.run = real  # type: ignore[method-assign]  # as before
    world.host.facts |= training()
    world.pass_time(300)
    assert len(world.carried_out()) == 1
    ended = world.services.waits.get(first.id)
    assert ended is not None
    assert ended.state is WaitState.PLANNED


def test_a_config_that_runs_already_is_no_reason_to_wait_or_start(world: World) -> None:
    wait(world)
    world.host.facts |= training()
    plan_of = world.services.waits.waiting()[0]
    world.click("Start on GPU 1")
    (operation,) = world.carried_out()
    world.services.launches.begin(
        operation=operation, plan=world.services.operations.plan(operation), unit="relaunch-x", conversation=THREAD,
        actor=ANA, note="", at=world.clock.now(),
    )  # fmt: skip
    world.pass_time(300)
    assert len(world.carried_out()) == 1
    ended = world.services.waits.get(plan_of.id)
    assert ended is not None
    assert ended.state is WaitState.REFUSED
