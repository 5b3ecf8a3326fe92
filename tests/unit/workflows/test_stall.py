"""A start that says little: what the host does meanwhile, and what is said of it and when."""

from datetime import timedelta

import pytest

from bot.core.domain.launch import LaunchState
from bot.workflows.job import Job
from bot.workflows.stall import Activity, activity, read_rate_mib_s, stall
from bot.workflows.watch import Watched, say_slow
from tests.unit.workflows.world import ANA, CONFIG, HOST, THREAD, World

_CARD = "0, GPU-0, 49140, 400, 48140, {busy}, 40, 20, 300, 210, 2100, P8, 580.1, NVIDIA RTX A6000\n---\n---\n"


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("1000\n1000\n", 0.0),
        # 204,800 sectors of 512 bytes in two seconds
        ("1000\n205800\n", 50.0),
        ("1000\n", None),
        ("awk: not found\n", None),
        ("", None),
    ],
)
def test_rate_of_two_counts(output: str, expected: float | None) -> None:
    assert read_rate_mib_s(output) == expected


def job_of(world: World, *, busy: int | None, sectors: int | None) -> Job:
    """A start whose host does this."""
    if not world.carried_out():
        world.say(f"start {CONFIG} on {HOST}")
    if busy is None:
        world.host.facts.pop("gpus", None)
    else:
        world.host.facts["gpus"] = _CARD.format(busy=busy)
    world.host.answers = [] if sectors is None else [("diskstats", f"1000\n{1000 + sectors}\n")]
    return Job(world.services, world.carried_out()[0])


@pytest.mark.parametrize(
    ("busy", "sectors", "working", "words"),
    [
        (0, 0, False, "it may hang"),
        # kernels that compile or graphs that are captured; weights that are read
        (90, 0, True, "still working"),
        (0, 400_000, True, "98 MiB/s read from disk: it is still working"),
        # one is enough to know that it works, both are needed to say that it does not
        (None, 400_000, True, "GPU use unknown"),
        (None, 0, None, "not known"),
        (0, None, None, "disk use unknown: whether it works is not known"),
    ],
)
def test_slow_loading_is_told_from_a_hang(
    world: World, busy: int | None, sectors: int | None, working: bool | None, words: str
) -> None:
    job = job_of(world, busy=busy, sectors=sectors)
    assert activity(job).working is working
    sentence = stall(job, 75.4)
    assert sentence.startswith("no log line for 75 s; ")
    assert words in sentence


def test_a_little_noise_is_no_work() -> None:
    assert Activity(gpu_busy_pct=4, disk_mib_s=4.0).working is False


def loading(world: World, seconds: float) -> Watched:
    began = (world.clock.now() - timedelta(seconds=seconds)).isoformat()
    return Watched(began_at=began, phases={"weights": [began, began]})


def test_a_phase_that_takes_twice_its_usual_time_is_said_once_with_what_the_host_does(world: World) -> None:
    job = job_of(world, busy=0, sectors=0)
    usual = {"weights": 30.0}
    assert say_slow(job, loading(world, 59), usual).slow_said == []
    state = say_slow(job, loading(world, 61), usual)
    assert state.slow_said == ["weights"]
    assert say_slow(job, state, usual) is state
    (message,) = world.messenger.posted("slow_phase")
    assert (message.context["phase"], message.context["usual_s"]) == ("weights", 30.0)
    assert message.context["working"] is False
    assert message.context["evidence"] == ["GPUs 0 % busy", "0 MiB/s read from disk"]


def test_a_short_or_a_new_phase_is_never_slow(world: World) -> None:
    job = job_of(world, busy=0, sectors=0)
    assert say_slow(job, loading(world, 19), {"weights": 1.0}).slow_said == []
    assert say_slow(job, loading(world, 900), {}).slow_said == []
    assert world.messenger.posted("slow_phase") == []


def test_a_server_that_is_gone_is_said_in_its_thread_once(world: World) -> None:
    world.say(f"start {CONFIG} on {HOST}")
    (operation,) = world.carried_out()
    launches = world.services.launches
    plan = world.services.operations.plan(operation)
    launches.begin(
        operation=operation, plan=plan, unit=f"relaunch-{operation}", conversation=THREAD, actor=ANA, note="",
        at=world.clock.now(),
    )  # fmt: skip
    launches.set_state(operation, LaunchState.READY, at=world.clock.now())
    for _ in range(2):
        world.say(f"start {CONFIG} on {HOST} with 8k context")
    (message,) = world.messenger.posted("lost")
    assert message.context["ended"] == "its unit is gone"
    assert message.context["restart"]["label"] == "Start it again"
