"""What is said at a start and in `health` of what is not as it was proven, recorded or written."""

import json
from dataclasses import replace

import pytest

from bot.core.domain.catalog import LaunchConfig, Revision
from bot.core.domain.launch import LaunchState
from bot.core.planning import probe_target
from bot.workflows.drift import kept_facts, planned_revision
from bot.workflows.look import look
from bot.workflows.propose import known_host
from tests.fakes.model_server import FakeServer
from tests.unit.workflows.world import ANA, COMMAND, CONFIG, GOOD, HOST, THREAD, World, cards

PATH = "/etc/systemd/system/q.service"
START = f"start {CONFIG} on {HOST}"


def unit_file(text: str, path: str, *more: str) -> str:
    """The fact "unit_file" for one file."""
    return "\n".join(["there", f"file unit {path}", *(f"|{line}" for line in text.splitlines()), *more, ""])


def model(**changes: str) -> str:
    return json.dumps({**json.loads(GOOD["model_files"]), **changes})


def proven(world: World, text: str = START, **instead: str) -> str:
    """A launch that became ready, with what was kept of the host then; `instead`: facts of other launches' times."""
    world.say(text)
    operation = world.carried_out()[-1]
    plan = world.services.operations.plan(operation)
    launches, services = world.services.launches, world.services
    unit = next(step.unit for step in plan.steps if step.unit) or ""
    launches.begin(
        operation=operation, plan=plan, unit=unit, conversation=THREAD, actor=ANA, note="", at=world.clock.now()
    )
    world.clock.sleep(60)
    launches.set_state(operation, LaunchState.READY, at=world.clock.now())
    engine, revision = services.engines[plan.engine], planned_revision(plan)
    facts = look(services, known_host(services, HOST), probe_target(engine, revision))
    launches.set_facts(operation, instead or kept_facts(facts, engine, revision))
    world.end(operation)
    return operation


def written(world: World, operation: str) -> tuple[str, str]:
    """(text, path) of the unit that was written for a launch."""
    plan, unit = world.services.operations.plan(operation), world.services.launches.unit(operation)
    text = world.services.runners[plan.runner].unit_file(plan, unit, world.services.script)
    assert text is not None
    return text, f"/etc/systemd/system/{unit}.service"


def health(world: World) -> list[str]:
    world.model_server.servers["http://127.0.0.1:30000"] = FakeServer()
    world.say(f"health of {HOST}")
    (host,) = world.messenger.of("health")[-1].context["hosts"]
    return [one["summary"] for one in host["findings"] if one["summary"].startswith(f"{CONFIG}: ")]


def again(world: World, text: str = START) -> list[str]:
    """What drift says at the next start, the running launch being over."""
    for launch in world.services.launches.running(HOST):
        world.services.launches.set_state(launch.id, LaunchState.STOPPED, at=world.clock.now())
    before = len(world.carried_out())
    world.say(text)
    (operation,) = world.carried_out()[before:]
    plan = world.services.operations.plan(operation)
    world.end(operation)
    return [one.summary for one in plan.findings if one.check == "drift"]


def test_health_says_nothing_of_a_unit_as_it_was_written_and_one_line_of_an_edit(world: World) -> None:
    text, path = written(world, proven(world))
    world.host.facts["unit_file"] = unit_file(text, path)
    assert health(world) == []
    world.host.facts["unit_file"] = unit_file(text.replace('"--tp" "1"', '"--tp" "2"'), path)
    assert health(world) == [f"{CONFIG}: tp-size: recorded 1, the unit file says 2"]
    assert "unit_file" in world.host.probes[-1]


def test_health_names_a_unit_that_is_gone_or_cannot_be_looked_at(world: World) -> None:
    unit = world.services.launches.unit(proven(world))
    world.host.facts["unit_file"] = "gone\n"
    assert health(world) == [f"{CONFIG}: unit file: {unit}.service is gone from the host"]
    del world.host.facts["unit_file"]
    (said,) = health(world)
    assert said.startswith(f"{CONFIG}: unit file: {unit}.service not known (")


@pytest.fixture
def found(world: World) -> World:
    """The config was found in a unit."""
    revision = Revision(
        engine="sglang",
        model="/models/a",
        argv=tuple(COMMAND.split()),
        source="scan: proc /proc/4711",
        provenance={"argv": f"unit {PATH}", "unit": f"unit {PATH}"},
    )
    world.services.catalog.save(LaunchConfig(name="chatty", revisions=(revision,), host=HOST))
    world.host.facts["unit_file"] = unit_file(f"[Service]\nExecStart={COMMAND}\n", PATH)
    return world


def test_a_start_says_what_its_found_unit_says_by_now(found: World) -> None:
    text = f"start chatty on {HOST}"
    assert again(found, text) == []
    edited = COMMAND.replace("--tp 1", "--tp 2")
    found.host.facts["unit_file"] = unit_file(f"[Service]\nExecStart={edited}\n", PATH)
    assert again(found, text) == ["tp-size: recorded 1, the unit file says 2"]


def test_a_setting_of_this_start_alone_is_no_edit_of_the_unit(found: World) -> None:
    assert again(found, f"start chatty on {HOST} with context 8192") == []


def test_a_unit_of_another_host_says_nothing(found: World) -> None:
    found.services.hosts.save(replace(known_host(found.services, HOST), name="gpu2"))
    found.host.facts["unit_file"] = "gone\n"
    assert again(found, "start chatty on gpu2") == []
    assert again(found, f"start chatty on {HOST}") == [
        "unit file: recorded from q.service, the host has no such unit now"
    ]


def test_a_chat_template_that_was_edited(world: World) -> None:
    world.host.facts["model_files"] = model(template_hash="aaaaaaaaaaaa")
    proven(world)
    assert again(world) == []
    world.host.facts["model_files"] = model(template_hash="bbbbbbbbbbbb")
    assert again(world) == ["chat template: proven with aaaaaaaaaaaa, now bbbbbbbbbbbb"]
    world.host.facts["model_files"] = model(template_unread="Permission denied: '/t.jinja'")
    assert again(world) == ["chat template: proven with aaaaaaaaaaaa, now unknown (Permission denied: '/t.jinja')"]


def test_launches_from_before_these_facts_were_kept_say_nothing(world: World) -> None:
    proven(world, chat_template="present", gpu="NVIDIA H200", power_limit_w="700", driver="1.0")
    assert [one.partition(":")[0] for one in again(world)] == ["driver"]


def test_gpus_are_those_that_the_launch_takes(world: World) -> None:
    world.host.facts["gpus"] = cards(400, 400)
    proven(world)
    # the other card is exchanged, and limited
    world.host.facts["gpus"] = cards(400, 400).replace(
        "GPU-1, 49140, 400, 48740, 0, 40, 20, 300", "GPU-9, 1, 0, 1, 0, 40, 20, 200"
    )
    assert again(world) == []
    world.host.facts["gpus"] = cards(400, 400).replace("20, 300", "20, 250", 1)
    assert again(world) == ["power limit (W): proven with 300, now 250"]
    world.host.facts["gpus"] = cards(400, 400).replace("GPU-0", "GPU-7")
    assert again(world) == ["GPU cards: proven with 0, now 7"]
    world.host.facts["gpus"] = cards(400, 400).replace("GPU-0", "GPU-7").replace("RTX A6000", "A40")
    assert again(world) == ["GPUs: proven with 0 (NVIDIA RTX A6000), now 0 (NVIDIA A40)"]


def test_other_gpus_on_purpose_are_no_drift(world: World) -> None:
    world.host.facts["gpus"] = cards(400, 400)
    proven(world)
    assert again(world, f"{START} on gpu 1") == []
    assert again(world, f"{START} with tp 2") == []


def test_cards_that_moved_are_the_same_cards(world: World) -> None:
    world.host.facts["gpus"] = cards(400, 400)
    proven(world, f"{START} with env CUDA_VISIBLE_DEVICES=GPU-1")
    rows = cards(400, 400).replace("0, GPU-0", "0, GPU-x").replace("1, GPU-1", "1, GPU-0").replace("GPU-x", "GPU-1")
    world.host.facts["gpus"] = rows
    assert again(world, f"{START} with env CUDA_VISIBLE_DEVICES=GPU-1") == []
