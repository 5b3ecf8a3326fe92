"""The story of a bad evening, on a host with real systemd and OpenSSH; each test goes on where the last one ended."""

import re
import shlex
from dataclasses import replace
from typing import Any

import pytest

from bot.core.domain.catalog import Revision
from tests.acceptance.thread import ANA, Talk, words
from tests.integration.story.conftest import ENVIRONMENT, Stage

pytestmark = pytest.mark.rig

_CONFIG = "qwen3.6-27b-mtp"


def test_the_seed_sentence_brings_up_a_server_under_systemd(stage: Stage) -> None:
    talk = stage.talk
    ts = talk.say("@Relaunch start qwen on ct7 with stock mtp")

    ready = talk.wait(ts, "tok/s for one stream")

    assert "is ready on ct7" in ready
    assert "runs exactly the planned command" in ready
    assert "a real token came back" in ready
    assert "accept length 3." in ready
    assert _units(stage) == 1


def test_the_server_survives_the_bot(stage: Stage) -> None:
    before = _main_pid(stage)

    stage.close_bot()
    assert _main_pid(stage) == before
    stage.open_bot()

    ts = stage.talk.say("@Relaunch status of ct7")
    assert _CONFIG in stage.talk.wait(ts, "ct7")
    assert _main_pid(stage) == before


def test_a_stop_takes_the_whole_server_away(stage: Stage) -> None:
    talk = stage.talk
    ts = talk.say("@Relaunch stop qwen on ct7")
    card = talk.wait_message(ts, f"Approve: stop {_CONFIG} on ct7?")
    talk.click(card["ts"], "Approve")

    stopped = talk.wait(ts, "is stopped on ct7")

    assert "port 30000 is closed" in stopped
    assert "GPU memory returned" in stopped
    assert _units(stage) == 0
    assert stage.host.run("pgrep -fc '[s]glang' || true").strip() == "0"


def test_wrong_flags_a_missing_library_and_half_the_speed_are_each_explained(stage: Stage) -> None:
    talk, engines = stage.talk, stage.engines
    # an environment newer than what is known of the engine: its rules may have changed, so preflight only warns
    engines.upgrade(ENVIRONMENT, "sglang", "0.6.0")
    _pin(stage, steps=None, drafts=2)
    ts = talk.say("@Relaunch start qwen on ct7 with stock mtp")
    plan = talk.wait(ts, "Plan")
    assert "AssertionError" in plan
    assert "proven with 0.5.11, now 0.6.0" in plan
    failed = talk.wait_message(ts, "did not start on ct7")
    assert "AssertionError" in words(failed)

    engines.miss_library("libavutil.so.58")
    press(talk, failed, "Retry with speculative steps 1")
    lost = talk.wait(ts, "libavutil.so.58 is not on the loader path")
    assert "Install the package that brings libavutil.so.58" in lost, lost

    engines.miss_library(None)
    ts = talk.say("@Relaunch start qwen on ct7 with 1 step and 2 draft tokens")
    slow = talk.wait(ts, "tok/s for one stream")
    assert re.search(r"accept length 1\.[67]", slow), slow
    assert "Slower" in slow

    talk.say("@Relaunch we're at only 40 tok/s, were around 70 before", thread=ts)
    why = talk.wait_message(ts, "Most likely first")
    assert "speculative steps: 3 → 1" in words(why)
    assert "draft tokens: 4 → 2" in words(why)
    press(talk, why, "Relaunch as in launch #1")
    card = talk.wait_message(ts, "Approve: restart")
    talk.click(card["ts"], "Approve")
    again = talk.workspace.wait_for(
        lambda: next((t for t in talk.texts(ts) if "accept length 3." in t and "Launch #" in t), None), 60
    )
    assert re.search(r"[67]\d(\.\d)? tok/s for one stream", again), again
    assert "Same within noise" in again


def press(talk: Talk, message: dict[str, Any], label: str, *, user: str = ANA) -> None:
    """Press the one button whose label begins so."""
    labels = [
        element["text"]["text"]
        for block in message["blocks"]
        for element in block.get("elements", [])
        if element.get("type") == "button"
    ]
    [found] = [one for one in labels if one.startswith(label)]
    talk.click(message["ts"], found, user=user)


def _pin(stage: Stage, *, steps: int | None, drafts: int) -> None:
    """Somebody saved other speculative flags as the config's own."""
    services = stage.app.ready
    config = services.catalog.catalog().configs[_CONFIG]
    flags = {"speculative-num-steps": steps and str(steps), "speculative-num-draft-tokens": str(drafts)}
    argv = services.engines["sglang"].set_flags(config.latest.argv, flags)
    revision: Revision = replace(config.latest, argv=argv, source="catalog file")
    services.catalog.add_revision(_CONFIG, revision)
    services.catalog.save(replace(services.catalog.catalog().configs[_CONFIG], pinned=revision.id))


def _units(stage: Stage) -> int:
    return int(stage.host.run("systemctl list-units --plain --no-legend 'relaunch-*' --state=active | wc -l"))


def _main_pid(stage: Stage) -> int:
    unit = stage.host.run("systemctl list-units --plain --no-legend 'relaunch-*' --state=active").split()[0]
    return int(stage.host.run(f"systemctl show -P MainPID {shlex.quote(unit)}"))
