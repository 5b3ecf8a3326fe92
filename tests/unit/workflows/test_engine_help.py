"""An engine's own help is read once for each version, beside the first plan, and never holds up the next."""

from datetime import timedelta
from pathlib import Path

import pytest

from bot.core.domain.message import Json
from bot.core.domain.operation import OperationState
from tests.unit.workflows.world import CONFIG, GOOD, HOST, World

HELP = (Path(__file__).parents[2] / "cases" / "facts" / "help" / "sglang_0.5.11.txt").read_text()
UPGRADED = GOOD["engine_version"].replace("sglang 0.5.11", "sglang 0.5.12")


@pytest.fixture
def world(world: World) -> World:
    world.host.facts["engine_help"] = HELP
    return world


def ask(world: World, more: str = "") -> int:
    """Plan a start; gives how often the engine was asked for its help meanwhile."""
    for operation, _, _ in world.services.operations.in_state(OperationState.RUNNING):
        world.services.operations.set_state(operation, OperationState.CANCELLED, at=world.clock.now())
    before = len(world.host.probes)
    world.say(f"start {CONFIG} on {HOST} {more}".strip())
    return sum("engine_help" in probe for probe in world.host.probes[before:])


def findings(world: World) -> dict[str, Json]:
    """judgement -> summary of the last plan's finding about flags."""
    plan = world.messenger.of("plan")[-1].context["plan"]
    return {one["judgement"]: one["summary"] for one in plan["findings"] if one["check"] == "flags"}


def test_it_is_read_in_the_first_round_trip_and_kept(world: World) -> None:
    assert ask(world) == 1
    assert len(world.host.probes) == 1
    assert "its own --help" in str(findings(world)["ok"])
    assert ask(world) == 0
    assert "its own --help" in str(findings(world)["ok"])


def test_an_upgrade_reads_it_again(world: World) -> None:
    ask(world)
    world.host.facts["engine_version"] = UPGRADED
    world.host.facts["engine_help"] = HELP.replace("--model-path MODEL_PATH, --model MODEL_PATH", "--weights W")
    assert ask(world) == 1
    assert "--model-path is not in the installed" in str(findings(world)["warn"])
    assert ask(world) == 0


def test_one_that_is_late_is_said_and_not_waited_for_again(world: World) -> None:
    del world.host.facts["engine_help"]
    world.host.late = frozenset({"engine_help"})
    assert ask(world) == 1
    assert "--help: not known" in str(findings(world)["unknown"])
    assert ask(world) == 0
    world.clock.sleep(timedelta(hours=7).total_seconds())
    world.host.late = frozenset()
    world.host.facts["engine_help"] = HELP
    assert ask(world) == 1
    assert "its own --help" in str(findings(world)["ok"])


def test_one_that_fails_is_asked_again(world: World) -> None:
    """A missing library is mended between two plans."""
    del world.host.facts["engine_help"]
    ask(world)
    assert "unknown" in findings(world)
    world.host.facts["engine_help"] = HELP
    assert ask(world) == 1
    assert "ok" in findings(world)
