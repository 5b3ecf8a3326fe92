"""Questions about the past, said as people say them, over what the bot itself wrote down."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from bot.core.catalog.edits import EditKind
from bot.core.domain.launch import LaunchState
from bot.core.domain.message import Message
from bot.core.domain.operation import Actor, AuditEvent, OperationState
from bot.core.domain.plan import Plan, Step, StepKind
from bot.core.rendering import render, render_terminal
from bot.workflows.carry_out import carry_out
from bot.workflows.edit_config import edit_config
from bot.workflows.look_back import Asked, report
from bot.workflows.propose import ask_approval
from bot.workflows.refused import audit
from bot.workflows.wanted import Wanted
from tests import payloads
from tests.fakes.conversation import FakeRun
from tests.unit.workflows.world import ANA, BOB, CONFIG, HOST, THREAD, World, training

#: 2 December 2026, 08:00 UTC
MORNING = datetime.fromisoformat("2026-12-02T08:00:00+00:00")


def at(world: World, text: str) -> None:
    world.clock.at = datetime.fromisoformat(f"{text}:00+00:00")


def told(world: World, text: str, actor: Actor = ANA) -> dict[str, Any]:
    """Context of the answer to a question."""
    world.say(text, actor)
    return dict(world.messenger.of("history")[-1].context)


def first_line(context: dict[str, Any]) -> str:
    return render_terminal(render(Message(template="history", context=context), payloads.load())).split("\n")[0]


def launched(world: World, begun: str, *, ready_s: float | None = 60, note: str = "") -> str:
    """A start by ANA, whole; gives its operation."""
    at(world, begun)
    world.say(f"start {CONFIG} on {HOST}" + (f" because {note}" if note else ""))
    operation = world.carried_out()[-1]
    services = world.services
    services.launches.begin(
        operation=operation, plan=services.operations.plan(operation), unit=f"relaunch-{CONFIG}-{operation}",
        conversation=THREAD, actor=ANA, note=note, at=world.clock.now(),
    )  # fmt: skip
    if ready_s is not None:
        world.clock.sleep(ready_s)
        services.launches.set_state(operation, LaunchState.READY, at=world.clock.now())
    return operation


def over(world: World, operation: str, actor: Actor, action: str) -> None:
    """It is carried out, as carry_out says it."""
    world.services.audit.add(
        AuditEvent(
            at=world.clock.now(), actor=actor.id, action=action, host=HOST, config=CONFIG, operation=operation,
            outcome=OperationState.SUCCEEDED.value,
        )
    )  # fmt: skip
    world.end(operation)


def stop(world: World, launch: str, *, note: str = "", done: str | None = None) -> str:
    """BOB asks for a stop; where `done` is a time, ANA approves it and it is over then."""
    services = world.services
    wanted = Wanted(request_id=f"stop {launch}", verb="stop", host=HOST, target_config=CONFIG, note=note)
    plan = Plan(
        operation="stop", host=HOST, config=CONFIG, revision=None, needs_approval=("it serves",),
        steps=(Step(kind=StepKind.STOP, summary="stop", unit=f"relaunch-{CONFIG}-{launch}"),),
    )  # fmt: skip
    services.operations.propose(
        operation=wanted.operation, plan=plan, conversation=THREAD, actor=BOB, text="stop it", note=note,
        at=world.clock.now(),
    )  # fmt: skip
    audit(services, wanted, BOB, "waits for approval")
    ask_approval(services, wanted.operation)
    if done is not None:
        services.operations.decide(
            wanted.operation, fingerprint=plan.fingerprint, approved=True, actor=ANA, at=world.clock.now()
        )
        at(world, done)
        services.launches.set_state(launch, LaunchState.STOPPED, at=world.clock.now(), by=BOB.id)
        over(world, wanted.operation, BOB, "stop")
    return wanted.operation


@pytest.fixture
def world(world: World) -> World:
    """Started on the 30th by ana, stopped by bob in the night of the 1st, with ana's approval."""
    operation = launched(world, "2026-11-30T12:00")
    over(world, operation, ANA, "start")
    at(world, "2026-12-01T23:40")
    stop(world, operation, note="making room", done="2026-12-01T23:41")
    world.clock.at = MORNING
    return world


def test_who_stopped_it_last_night_who_approved_and_why(world: World) -> None:
    context = told(world, f"who stopped {CONFIG} last night?")
    row = context["answer"]["row"]
    assert (context["answer"]["kind"], row["by"], row["decided_by"], row["note"]) == (
        "did", BOB.id, ANA.id, "making room",
    )  # fmt: skip
    assert first_line(context) == (
        f"@U0BOB stopped {CONFIG} on {HOST}, 2026-12-01 23:41 UTC, approved by @U0ANA: “making room”."
    )


def test_one_row_for_each_operation_and_none_waits_after_the_decision(world: World) -> None:
    rows = told(world, f"history {HOST}")["rows"]
    assert [(row["action"], row["state"], row["by"]) for row in rows] == [
        ("stop", "done", BOB.id), ("start", "done", ANA.id),
    ]  # fmt: skip


def test_when_it_ran_last_for_how_long(world: World) -> None:
    context = told(world, f"when did we last run {CONFIG}?")
    assert (context["answer"]["kind"], context["answer"]["row"]["launch"]["ran_s"]) == ("ran", (36 * 60 - 19) * 60)
    assert first_line(context) == f"Last ran {CONFIG} on {HOST} on 2026-11-30 12:00 UTC, for 1 d 11 h."


def test_what_failed_yesterday_and_where_nothing_did_the_last_that_failed(world: World) -> None:
    assert first_line(told(world, f"what failed on {HOST} yesterday?")) == f"Nothing on {HOST} failed yesterday."
    operation = launched(world, "2026-12-03T10:00", ready_s=None)
    world.clock.sleep(240)
    world.services.launches.set_state(operation, LaunchState.FAILED, at=world.clock.now(), detail="out of memory")
    at(world, "2026-12-04T09:00")
    context = told(world, f"what failed on {HOST} yesterday?")
    assert [row["launch"]["detail"] for row in context["rows"]] == ["out of memory"]
    assert "out of memory" in first_line(context)
    at(world, "2026-12-05T09:00")
    context = told(world, f"what failed on {HOST} yesterday?")
    assert (context["answer"]["kind"], context["rows"]) == ("nothing", [])
    assert "the last failure there: " in first_line(context)


def test_yesterday_is_that_of_who_asks(world: World) -> None:
    # the stop of 23:41 UTC was today in Berlin
    berlin = Actor(id=ANA.id, name="ana", team="T1", time_zone="Europe/Berlin")
    assert told(world, f"who stopped {CONFIG} yesterday?")["answer"]["kind"] == "did"
    assert told(world, f"who stopped {CONFIG} yesterday?", berlin)["answer"]["kind"] == "nothing"
    assert told(world, f"who stopped {CONFIG} today?", berlin)["answer"]["kind"] == "did"


def test_a_name_of_before_is_found_under_the_name_of_now(world: World) -> None:
    edit_config(world.services, CONFIG, EditKind.RENAME, "tiny", BOB)
    context = told(world, "who stopped tiny last night?")
    assert (context["answer"]["kind"], context["answer"]["row"]["config"]) == ("did", "tiny")


@pytest.mark.parametrize(("approved", "state"), [(False, "rejected"), (None, "expired")])
def test_what_was_only_asked_for_is_no_stop(world: World, approved: bool | None, state: str) -> None:
    operation = launched(world, "2026-12-02T09:00")
    wanted = stop(world, operation, note="room")
    services = world.services
    if approved is None:
        world.clock.sleep(3600)
        services.operations.expired(world.clock.now())
    else:
        fingerprint = services.operations.plan(wanted).fingerprint
        services.operations.decide(wanted, fingerprint=fingerprint, approved=False, actor=ANA, at=world.clock.now())
    context = told(world, f"who stopped {CONFIG} today?")
    assert (context["answer"]["kind"], context["answer"]["row"]["state"]) == ("asked", state)


def test_a_refused_request_is_one_row_with_the_reason(world: World) -> None:
    world.say(f"stop {CONFIG} on {HOST}")
    row = told(world, f"history {HOST}")["rows"][0]
    assert (row["action"], row["state"]) == ("stop", "refused")
    assert "runs on" in row["detail"]


def test_a_restart_that_replaced_it_stopped_it(world: World) -> None:
    services, old = world.services, launched(world, "2026-12-02T09:00")
    plan = Plan(
        operation="restart", host=HOST, config="other", revision="r",
        steps=(Step(kind=StepKind.STOP, summary="stop", unit=f"relaunch-{CONFIG}-{old}"),),
    )  # fmt: skip
    services.operations.propose(
        operation="op9", plan=plan, conversation=THREAD, actor=BOB, text="", note="", at=world.clock.now()
    )
    services.operations.set_state("op9", OperationState.SUCCEEDED, at=world.clock.now())
    services.audit.add(
        AuditEvent(at=world.clock.now(), actor=BOB.id, action="restart", host=HOST, config="other", operation="op9",
                   outcome="carried out")
    )  # fmt: skip
    row = told(world, f"who stopped {CONFIG} today?")["answer"]["row"]
    assert (row["action"], row["config"], row["replaced"], row["by"]) == ("restart", "other", CONFIG, BOB.id)


def test_a_wait_that_was_cancelled_says_by_whom(world: World) -> None:
    world.host.facts |= training(0)
    world.say(f"start {CONFIG} on {HOST}")
    world.click("Start when free")
    assert told(world, f"history {HOST}")["rows"][0]["state"] == "queued"
    world.click("Cancel", BOB)
    row = told(world, f"history {HOST}")["rows"][0]
    assert (row["state"], row["by"], row["cancelled_by"]) == ("cancelled", ANA.id, BOB.id)


def test_a_secret_in_a_reason_is_not_told_again(world: World) -> None:
    operation = launched(world, "2026-12-02T09:00")
    stop(world, operation, note="token hf_" + "Qx7b" * 9, done="2026-12-02T09:30")
    assert "hf_" not in str(report(world.services, Asked())["rows"][0])


def test_in_the_terminal_people_have_names(world: World) -> None:
    rows = report(world.services, Asked(names=True))["rows"]
    assert [(row["by"], row["decided_by"]) for row in rows] == [("bob", "ana"), ("ana", None)]


def test_the_events_of_carrying_out_are_the_ones_that_are_read(world: World) -> None:
    at(world, "2026-12-02T09:00")
    world.say(f"start {CONFIG} on {HOST}")
    operation = world.carried_out()[-1]
    world.services.operations.set_state(operation, OperationState.CANCELLED, at=world.clock.now())
    world.clock.at += timedelta(minutes=1)
    carry_out(world.services, FakeRun(id="carry"), {"operation": operation})
    (row, *_) = told(world, f"history {HOST}")["rows"]
    assert (row["action"], row["state"], row["by"]) == ("start", "cancelled", ANA.id)
