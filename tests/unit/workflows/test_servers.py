"""What a running server is said to do: users' requests only, and never another server's."""

from dataclasses import replace
from typing import Any

import pytest

from bot.core.domain.catalog import LaunchRecord
from bot.core.domain.diagnosis import Diagnosis
from bot.core.domain.launch import LaunchState
from bot.core.domain.operation import OperationState
from bot.workflows.fail import naming_ours
from bot.workflows.job import Job
from bot.workflows.propose import known_host
from bot.workflows.servers import ServerView, observe
from tests.unit.workflows.world import ANA, CONFIG, HOST, THREAD, World

START = f"start {CONFIG} on {HOST}"


class Pages:
    """A server whose gauge and counter are read one after the other, the last one again and again."""

    def __init__(self, *readings: tuple[int, int]) -> None:
        self.readings = list(readings)

    def health(self, base_url: str, path: str) -> tuple[int | None, str]:
        return 200, "ok"

    def models(self, base_url: str) -> tuple[str, ...]:
        return ("a",)

    def token(self, base_url: str, model: str) -> str:
        self.readings = [(1, 99)]
        return "x"

    def get_text(self, base_url: str, path: str) -> str | None:
        running, tokens = self.readings[0]
        self.readings = self.readings[1:] or self.readings
        return f"sglang:num_running_reqs {running}\nsglang:generation_tokens_total {tokens}\n"


def launched(world: World, *, state: LaunchState, over: bool = True) -> LaunchRecord:
    world.say(START)
    operation = world.carried_out()[-1]
    world.services.launches.begin(
        operation=operation, plan=world.services.operations.plan(operation), unit=f"relaunch-{operation}",
        conversation=THREAD, actor=ANA, note="", at=world.clock.now(),
    )  # fmt: skip
    world.services.launches.set_state(operation, state, at=world.clock.now())
    if over:
        world.end(operation)
    launch = world.services.launches.get(operation)
    assert launch is not None
    return launch


def seen(world: World, launch: LaunchRecord, *readings: tuple[int, int]) -> ServerView:
    world.services = replace(world.services, model_server=Pages(*readings))
    return observe(world.services, launch, known_host(world.services, HOST))


def requests(view: ServerView) -> float | None:
    assert view.metrics is not None
    return view.metrics.running_requests


@pytest.mark.parametrize(("readings", "expected"), [(((0, 5),), 0), (((2, 5), (2, 9)), 2), (((1, 5), (1, 5)), 0)])
def test_the_gauge_counts_while_tokens_come_and_our_own_token_does_not(
    world: World, readings: tuple[tuple[int, int], ...], expected: int
) -> None:
    launch = launched(world, state=LaunchState.READY)
    assert requests(seen(world, launch, *readings)) == expected


def test_while_it_is_measured_users_requests_are_not_known(world: World) -> None:
    launch = launched(world, state=LaunchState.READY, over=False)
    assert requests(seen(world, launch, (4, 5), (4, 900))) is None


def test_what_answers_on_the_port_of_a_launch_that_loads_is_not_shown_as_its_own(world: World) -> None:
    first = launched(world, state=LaunchState.READY)
    second = twin(world, first)
    view = seen(world, second, (3, 5), (3, 9))
    assert view.metrics is None
    assert f"launch #{first.number}" in view.reason


def test_a_failure_for_memory_names_the_server_of_ours_that_holds_it(world: World) -> None:
    first = launched(world, state=LaunchState.READY)
    second = twin(world, first)
    found = Diagnosis(kind="gpu_oom_weights", cause="Another process holds the rest.", fix="End it.")
    named = naming_ours(Job(world.services, second.id), found)
    assert f"{CONFIG} (launch #{first.number})" in named.cause
    assert "alone" in named.fix
    flags = Diagnosis(kind="unknown_flag", cause="c", fix="f")
    assert naming_ours(Job(world.services, second.id), flags) == flags
    world.services.launches.set_state(first.id, LaunchState.STOPPED, at=world.clock.now())
    assert naming_ours(Job(world.services, second.id), found) == found


def twin(world: World, first: LaunchRecord) -> LaunchRecord:
    """A second launch on the same GPUs and port, as if it had been started past everything."""
    operation, services = "twin000001", world.services
    plan: Any = services.operations.plan(first.id)
    services.operations.propose(
        operation=operation, plan=plan, conversation=THREAD, actor=ANA, text="", note="", at=world.clock.now()
    )
    services.operations.set_state(operation, OperationState.RUNNING, at=world.clock.now())
    services.launches.begin(
        operation=operation, plan=plan, unit="relaunch-twin", conversation=THREAD, actor=ANA, note="",
        at=world.clock.now(),
    )  # fmt: skip
    launch = services.launches.get(operation)
    assert launch is not None
    return launch
