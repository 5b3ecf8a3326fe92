"""Plans of launches in containers: ports, GPUs and checks are those of the outside."""

from dataclasses import replace
from typing import Any

import pytest

from bot.core.domain.container import Container
from bot.core.domain.finding import Judgement
from bot.core.domain.plan import StepKind
from bot.core.domain.reading import Known
from bot.core.planning import Running, derived_revision, plan_restart, plan_start, plan_stop, probe_target
from tests.unit.core.planning.launches import ENGINES, GOOD, readings, revision, situation
from tests.unit.core.planning.test_plans import HOST, planned, refused, request

#: of a size that takes all GPUs there are
_ALL = f"{GOOD['command']} --tp 2"
BOX = Container(image="a:1", options=("--gpus=all", "--publish=8010:30000", "--volume=/srv:/models"))
IMAGE = "image docker sha256:aa11\ntool docker yes \n---\n"
ID = "4f1c2a9b77de" + "0" * 52
#: a bridge container on port 8010 behind docker-proxy, and its process on the first GPU
SERVING = {
    "containers": IMAGE,
    "ports": 'LISTEN 0 1 0.0.0.0:8010 0.0.0.0:* users:(("docker-proxy",pid=70,fd=3))\n---\n'
    "pid 70\nowner root\nage 9\ncommand /usr/bin/docker-proxy -proto tcp -host-ip 0.0.0.0 -host-port 8010 "
    "-container-ip 172.17.0.2 -container-port 30000\nparent 1 dockerd\n"
    "cgroup 0::/system.slice/docker.service\n\n",
    "gpu_processes": "GPU-0, 4712, 30000, python3\n---\npid 4712\nowner root\nage 9\ncommand sglang::scheduler\n"
    f"parent 4711 python3\ncgroup 0::/system.slice/docker-{ID}.scope\n\n",
}
TARGET = Running(unit="theirs", pid=4711, port=8010, managed=False, container=ID[:12])


def boxed(box: Container = BOX, **more: Any) -> Any:
    return replace(revision(**more), container=box)


def facts(**texts: str) -> Any:
    return readings({"containers": IMAGE, **texts})


def test_the_plan_is_dockers_on_the_published_port() -> None:
    one = boxed(user="1000:1000")
    inside = dict.fromkeys(("engine_version", "engine_help", "shared_libraries", "architecture"), "not asked")
    seen = readings({"containers": IMAGE, "container_gpu": "toolkit nvidia-container-cli\n"}, unknown=inside)
    plan = planned(plan_start(request(revision=one, facts=seen)))

    assert (plan.runner, plan.port, plan.container, plan.user) == ("docker", 8010, BOX, "1000:1000")
    assert dict(plan.relies_on)["port 8010"] == "free"
    assert dict(plan.relies_on)["image a:1"] == "sha256:aa11"
    assert plan.needs_approval == ()
    # what the host has for an engine of its own says nothing here
    assert not [one for one in plan.findings if one.judgement is Judgement.UNKNOWN]
    assert not {"compilers", "ulimits", "shm"} & {one.check for one in plan.findings}


def test_what_is_looked_at_is_the_outside() -> None:
    target = probe_target(ENGINES["sglang"], boxed(Container(image="a:1", options=("--volume=/srv:/models",))))

    assert (target.program, target.distribution, target.image) == ((), None, "a:1")
    assert target.model == "/srv/a"


def test_without_the_image_nothing_is_planned() -> None:
    refusal = refused(plan_start(request(revision=boxed(), facts=facts(containers="tool docker yes \n---\n"))))

    assert refusal.remedy == "on the host run: docker pull a:1"


def test_a_found_container_is_stopped_by_its_name_and_holds_nothing_against_its_successor() -> None:
    asked = request(revision=boxed(), facts=facts(**SERVING), running=(TARGET,))

    plan = planned(plan_restart(asked, TARGET))

    assert plan.steps[0].kind is StepKind.STOP
    assert (plan.steps[0].unit, plan.steps[0].runner, plan.steps[0].pid) == ("theirs", "docker", 4711)
    assert plan.steps[0].summary == "stop container theirs"
    assert plan.needs_approval == ("container theirs is stopped",)
    assert "use" in refused(plan_start(asked)).reason


@pytest.mark.parametrize(
    ("replaced", "box", "stopped_by"),
    [
        (TARGET, None, "docker"),
        (Running(unit="u", pid=1, port=30000), BOX, "systemd"),
        (Running(unit=None, pid=1, port=30000), BOX, None),
        (Running(unit="u", pid=1, port=30000), None, None),
    ],
)
def test_each_is_stopped_by_what_runs_it(replaced: Running, box: Container | None, stopped_by: str | None) -> None:
    one = revision() if box is None else boxed(box)
    plan = planned(plan_restart(request(revision=one, facts=facts(), running=(replaced,)), replaced))

    assert plan.steps[0].runner == stopped_by
    assert plan.runner == ("systemd" if box is None else "docker")


def test_a_stop_names_the_container() -> None:
    plan = planned(plan_stop(HOST, TARGET, facts()))

    assert (plan.runner, plan.steps[0].unit, plan.steps[0].summary) == ("docker", "theirs", "stop container theirs")
    assert "it was not started by Relaunch" in plan.needs_approval


@pytest.mark.parametrize(
    ("options", "env", "indices"),
    [
        (("--gpus=all",), {}, [0, 1]),
        (('--gpus="device=1"',), {}, [1]),
        (('--gpus="device=1,0"',), {"CUDA_VISIBLE_DEVICES": "0"}, [1]),
        (("--gpus=all",), {"CUDA_VISIBLE_DEVICES": "1"}, [1]),
        (('--gpus="device=1"',), {"CUDA_VISIBLE_DEVICES": "1"}, []),
    ],
)
def test_the_gpus_are_those_that_it_is_given(options: tuple[str, ...], env: dict[str, str], indices: list[int]) -> None:
    wanted = situation({"container": {"image": "a:1", "options": list(options)}, "env": env, "command": _ALL})

    seen = wanted.wanted_gpus()
    assert isinstance(seen, Known)
    assert [gpu.index for gpu in seen.value] == indices


def test_port_and_gpus_are_changed_on_the_outside() -> None:
    engine = ENGINES["sglang"]
    pinned = replace(BOX, options=('--gpus="device=0"', "--publish=8010:30000"))

    moved = derived_revision(engine, boxed(pinned), {"port": 9000, "gpus": "1"})

    assert moved.container is not None
    assert set(moved.container.options) == {'--gpus="device=1"', "--publish=9000:30000"}
    assert moved.argv == boxed().argv
    assert moved.parent == boxed(pinned).id
    free = replace(BOX, options=("--gpus=all", "--network=host"))
    inside = derived_revision(engine, boxed(free), {"port": 9000, "gpus": "1"})
    assert inside.container == free
    assert inside.argv[-2:] == ("--port", "9000") or "9000" in inside.argv
    assert dict(inside.env)["CUDA_VISIBLE_DEVICES"] == "1"
