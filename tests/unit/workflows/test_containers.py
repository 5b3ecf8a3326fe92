"""Containers from a sentence to what is carried out: of others, of ours, and ones that are gone."""

import json
from dataclasses import replace
from typing import Any

import pytest

from bot.core.domain.catalog import LaunchConfig
from bot.core.domain.container import Container
from bot.core.domain.launch import LaunchState
from bot.core.domain.message import Conversation
from bot.core.domain.plan import Plan
from bot.workflows.command_line import pythons_of, runs_as_planned
from bot.workflows.look import look
from bot.workflows.running import running_on
from tests.unit.workflows.world import ANA, HOST, THREAD, World

CONFIG = "qwen-boxed"
BOX = Container(image="a:1", options=("--gpus=all", "--network=host"))
ID = "4f1c2a9b77de" + "0" * 52
_PROCESS = (
    "pid {pid}\nowner root\nage 9\ncommand {command}\nparent 1 containerd-shim\n"
    f"cgroup 0::/system.slice/docker-{ID}.scope\n\n"
)
SERVER = "/usr/bin/python3 -m sglang.launch_server --model-path /models/a --port 30000"


def containers(name: str, state: str = "running", *, ports: dict[str, Any] | None = None, command: str = SERVER) -> str:
    """The fact "containers" with one of them."""
    pid = 4711 if state == "running" else 0
    words = " ".join(json.dumps(one) for one in (ID, f"/{name}", state, pid, "a:1", "", ports or {}))
    described = _PROCESS.format(pid=pid, command=command) if pid else ""
    return f"box docker {words}\nimage docker sha256:aa11\ntool docker yes \n---\n{described}"


@pytest.fixture
def world(world: World) -> World:
    """The config runs in a container, and was found in one."""
    found = replace(world.revision, container=BOX, provenance={"container": "container theirs"})
    world.services.catalog.save(
        LaunchConfig(name=CONFIG, revisions=(world.revision, found), host=HOST, pinned=found.id)
    )
    return world


def plan(world: World) -> Any:
    return world.messenger.of("plan")[-1].context["plan"]


def runs(world: World) -> list[tuple[str | None, int | None, int | None]]:
    host = world.services.hosts.inventory().hosts[HOST]
    return [(one.unit, one.pid, one.port) for one in running_on(world.services, host, look(world.services, host))]


def test_a_start_shows_the_exact_run(world: World) -> None:
    world.host.facts["containers"] = containers("other", command="nginx")
    world.say(f"start {CONFIG} on {HOST}")

    assert plan(world)["runner"] == "docker"
    assert plan(world)["container"]["options"] == ["--gpus=all", "--network=host"]
    assert len(world.carried_out()) == 1


def test_a_restart_of_what_others_run_stops_their_container_by_name(world: World) -> None:
    world.host.facts["containers"] = containers("theirs")
    world.host.facts["ports"] = (
        'LISTEN 0 1 0.0.0.0:30000 0.0.0.0:* users:(("p",pid=4711,fd=3))\n---\n'
        + _PROCESS.format(pid=4711, command=SERVER)
    )
    world.say(f"restart {CONFIG} on {HOST}")

    steps = plan(world)["steps"]
    assert [(one["kind"], one["unit"], one["runner"]) for one in steps][:1] == [("stop", "theirs", "docker")]
    assert world.messenger.of("approval")
    assert world.carried_out() == []


def test_a_restart_of_what_runs_nowhere_is_a_start(world: World) -> None:
    world.host.facts["containers"] = containers("theirs", "exited")
    world.say(f"restart {CONFIG} on {HOST}")

    assert plan(world)["operation"] == "start"
    assert len(world.carried_out()) == 1


def test_a_stop_finds_the_container_that_the_config_was_found_in(world: World) -> None:
    world.host.facts["containers"] = containers("theirs")
    world.say(f"stop {CONFIG} on {HOST}")

    assert plan(world)["steps"][0]["summary"] == "stop container theirs"
    assert plan(world)["runner"] == "docker"


def test_a_published_port_is_the_containers(world: World) -> None:
    world.host.facts["containers"] = containers("theirs", ports={"30000/tcp": [{"HostIp": "", "HostPort": "8010"}]})
    world.host.facts["ports"] = 'LISTEN 0 1 0.0.0.0:8010 0.0.0.0:* users:(("docker-proxy",pid=70,fd=3))\n---\n'

    assert runs(world) == [("theirs", 4711, 8010)]


def test_a_container_of_something_else_is_left_alone(world: World) -> None:
    world.host.facts["containers"] = containers("web", command="nginx -g daemon off")

    assert runs(world) == []


def begin(world: World, unit: str) -> str:
    made = Plan(
        operation="start", host=HOST, config=CONFIG, revision="r", argv=world.revision.argv, container=BOX,
        runner="docker", engine="sglang", model="a", port=30000,
    )  # fmt: skip
    services = world.services
    services.operations.propose(
        operation="op1", plan=made, conversation=THREAD, actor=ANA, text="", note="", at=services.clock.now()
    )
    conversation: Conversation = THREAD
    services.launches.begin(
        operation="op1", plan=made, unit=unit, conversation=conversation, actor=ANA, note="", at=services.clock.now()
    )
    services.launches.set_state("op1", LaunchState.READY, at=services.clock.now())
    return "op1"


@pytest.mark.parametrize(
    ("seen", "state", "listed"),
    [
        (containers("relaunch-small-op1"), LaunchState.READY, [("relaunch-small-op1", 4711, 30000)]),
        (containers("relaunch-small-op1", "exited"), LaunchState.LOST, []),
        (containers("other", command="nginx"), LaunchState.LOST, []),
        # nobody answers: it is not known to be gone
        (None, LaunchState.READY, [("relaunch-small-op1", None, 30000)]),
    ],
)
def test_ours_is_lost_only_when_it_is_seen_to_be(
    world: World, seen: str | None, state: LaunchState, listed: list[Any]
) -> None:
    launch = begin(world, "relaunch-small-op1")
    if seen is not None:
        world.host.facts["containers"] = seen

    assert runs(world) == listed
    found = world.services.launches.get(launch)
    assert found is not None
    assert found.state == state


@pytest.mark.parametrize(
    ("running", "own", "same"),
    [
        (["/usr/bin/python3", "/usr/local/bin/vllm", "serve", "--model", "a"], True, True),
        (["/usr/bin/python3", "/usr/local/bin/vllm", "serve", "--model", "b"], True, False),
        (["--model", "a"], False, True),
        (["x", "y", "a"], False, False),
    ],
)
def test_an_images_entrypoint_may_stand_in_front(running: list[str], own: bool, same: bool) -> None:
    box = replace(BOX, image_entrypoint=own)
    made = Plan(operation="start", host=HOST, config=None, revision=None, argv=("--model", "a"), container=box)

    assert runs_as_planned(running, made) is same
    assert pythons_of(replace(made, argv=("/opt/python3", "-m", "x"))) == ()
    assert pythons_of(replace(made, argv=("/opt/python3", "-m", "x"), container=None)) == ("/opt/python3",)
