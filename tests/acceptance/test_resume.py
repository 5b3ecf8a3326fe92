"""`kill -9` of the bot in the middle of each step, then a restart: the thread goes on, and nothing is done twice."""

import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.practice.run import run
from bot.practice.workspace.roster import BOB
from tests.acceptance.bot_process import Point
from tests.acceptance.stage import Stage

_CONFIG = "qwen3.6-27b-mtp"
_SEED = "@Relaunch start qwen on ct129 with stock mtp"
_RESTART = "@Relaunch restart qwen on ct129 with 1 step and 2 draft tokens"
_SPEED = "tok/s for one stream"
_MANIFEST = Path(__file__).parents[2] / "manifest.yaml"
#: in the command line of the load script on the host
_LOAD_SCRIPT = '"max_level_s"'

#: in the order in which a start passes them
_START = {
    "the message has arrived and is not stored": Point(method="message", words="", after=False),
    "the message is stored": Point(method="message", words=""),
    "the host was looked at": Point(method="run", words="relaunch-probe"),
    "the plan is shown": Point(method="update", words="template='plan'"),
    "the server was started": Point(method="run", words="say outcome started"),
    "it is watched": Point(method="post", words=":progress"),
    "it is said to be ready, which is not remembered": Point(method="put", words=":ready", after=False),
}
#: in the order in which an approved restart passes them, from the click on
_RESTART_STEPS = {
    "the click is stored": Point(method="action", words=""),
    "the approval is decided and not said": Point(method="update", words="template='approval_closed'", after=False),
    "the old server was stopped": Point(method="run", words="say acted yes"),
    "that is recorded and not said": Point(method="post", words=":stopped", after=False),
    "the new server was started": Point(method="run", words="say outcome started"),
}


@contextmanager
def _staged(folder: Path, *, start_s: float, database_url: str | None = None) -> Iterator[Stage]:
    practice = folder / "practice"
    with run(
        0, practice, manifest=_MANIFEST, rate_limits=False, start_s=start_s, speed=4.0, hosts=["ct129"]
    ) as running:
        made = Stage(running, folder, database_url=database_url)
        made.set_up()
        try:
            yield made
        finally:
            made.close()


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A practice with one host, whose servers are ready after a second; no bot runs yet."""
    with _staged(tmp_path, start_s=1.0) as made:
        yield made


@pytest.fixture
def postgres_stage(tmp_path: Path, empty_postgres_url: str) -> Iterator[Stage]:
    """The same on PostgreSQL, where several bots may run; servers take a little longer."""
    with _staged(tmp_path, start_s=4.0, database_url=empty_postgres_url) as made:
        yield made


def test_a_start_that_is_killed_at_every_step_goes_on(stage: Stage) -> None:
    ts = ""
    for name, point in _START.items():
        bot = stage.bot(dies_at=point)
        ts = ts or stage.talk.say(_SEED)
        assert bot.end() == -signal.SIGKILL, f"not killed where {name}: {bot.text()}"
    bot = stage.bot()
    stage.talk.workspace.wait_for(lambda: stage.runs_on_host(_LOAD_SCRIPT), 30)
    bot.kill()
    stage.bot()
    ready = stage.talk.wait(ts, _SPEED)
    stage.talk.workspace.wait_for(stage.ended)
    assert stage.launches() == [(1, _CONFIG, "ready")]
    assert stage.executed() == [1]
    # what was posted when the bot died, and not remembered, is posted again: that one only
    assert stage.posted(ts) == Counter(card=1, progress=1, ready=2)
    assert "runs exactly the planned command" in ready
    assert stage.rows("SELECT count(*) FROM measurements") == [(1,)]
    assert stage.rows("SELECT action, outcome FROM audit_events ORDER BY id") == [
        ("start", "carried out"),
        ("start", "succeeded"),
    ]
    assert stage.private() == []
    assert stage.complaints() == []


def test_an_approved_restart_that_is_killed_at_every_step_goes_on(stage: Stage) -> None:
    bot = stage.bot()
    first = stage.talk.say(_SEED)
    stage.talk.wait(first, _SPEED)
    bot.kill()
    bot = stage.bot(dies_at=Point(method="put", words=":approval", after=False))
    ts = stage.talk.say(_RESTART)
    assert bot.end() == -signal.SIGKILL, bot.text()
    # the card that is not remembered is posted again; either may be used, and only one of them
    card = stage.talk.wait_message(ts, "Approve: restart")
    bot = stage.bot(dies_at=Point(method="action", words="", after=False))
    stage.talk.workspace.wait_for(lambda: stage.posted(ts)["approval"] == 2, 30)
    # a click that was not stored is not acknowledged, so that the person sees it
    assert not stage.talk.workspace.click(BOB, "ml-serving", card["ts"], "Approve")
    assert bot.end() == -signal.SIGKILL
    clicked = False
    for name, point in _RESTART_STEPS.items():
        bot = stage.bot(dies_at=point)
        if not clicked:
            stage.connected()
            stage.talk.workspace.click(BOB, "ml-serving", card["ts"], "Approve")
            clicked = True
        assert bot.end() == -signal.SIGKILL, f"not killed where {name}: {bot.text()}"
    stage.bot()
    stage.talk.wait(ts, "Launch #2")
    stage.talk.wait(ts, _SPEED)
    stage.talk.workspace.wait_for(stage.ended)
    stopped = stage.talk.wait(ts, f"{_CONFIG} is stopped on ct129")
    assert "its processes are gone; port" in stopped
    assert stage.launches() == [(1, _CONFIG, "stopped"), (2, _CONFIG, "ready")]
    assert stage.executed() == [1, 1]
    assert stage.posted(ts) == Counter(card=1, approval=2, stopped=1, progress=1, ready=1, picture=1)
    assert stage.rows("SELECT approved, decided_by FROM approvals") == [(1, BOB)]
    assert all("did not respond in time" in shown for shown in stage.private())
    told = len(stage.private())
    assert stage.talk.workspace.click(BOB, "ml-serving", card["ts"], "Approve")
    assert "did not respond in time" not in stage.talk.workspace.wait_for(lambda: stage.private()[told:])[0]
    assert len(stage.launches()) == 2
    assert stage.complaints() == []


def test_sigterm_is_quiet_a_second_bot_is_refused_and_a_stop_goes_on(stage: Stage) -> None:
    bot = stage.bot()
    ts = stage.talk.say(_SEED)
    stage.talk.workspace.wait_for(stage.executed, 30)
    assert bot.terminate() == 0
    assert "Traceback" not in bot.text()
    stage.bot()
    stage.talk.wait(ts, _SPEED)
    stage.talk.workspace.wait_for(stage.ended)
    assert (stage.launches(), stage.executed()) == ([(1, _CONFIG, "ready")], [1])

    second = stage.relaunch("run", status=1)
    assert "another process already works on relaunch-durable.db" in second
    assert "Traceback" not in second
    assert f"{_CONFIG}" in stage.relaunch("say", "status")

    ts = stage.talk.say("@Relaunch stop qwen on ct129")
    card = stage.talk.wait_message(ts, "Approve: stop")
    assert stage.talk.workspace.click(BOB, "ml-serving", card["ts"], "Approve")
    stage.talk.workspace.wait_for(lambda: any(line.startswith("Stopping ") for line in stage.journal()), 30)
    stage.bots[-1].kill()
    stage.bot()
    stopped = stage.talk.wait(ts, f"{_CONFIG} is stopped on ct129")
    assert "its processes are gone; port" in stopped
    stage.talk.workspace.wait_for(stage.ended)
    assert stage.launches() == [(1, _CONFIG, "stopped")]
    assert stage.posted(ts) == Counter(card=1, approval=1, stopped=1)
    assert stage.complaints() == []


@pytest.mark.postgres
def test_a_peer_takes_over_what_a_killed_bot_left(postgres_stage: Stage) -> None:
    stage = postgres_stage
    first = stage.bot(dies_at=_START["the server was started"])
    ts = stage.talk.say(_SEED)
    # only the first can have begun the launch, and only the second can watch it
    stage.talk.workspace.wait_for(stage.launches, 30)
    second = stage.bot(dies_at=Point(method="post", words=":ready", after=False))
    assert first.end() == -signal.SIGKILL, first.text()
    stage.talk.wait(ts, "Start qwen")
    stage.bot()
    assert second.end() == -signal.SIGKILL, second.text()
    stage.talk.wait(ts, _SPEED)
    stage.talk.workspace.wait_for(stage.ended)
    assert (stage.launches(), stage.executed()) == ([(1, _CONFIG, "ready")], [1])
    assert stage.posted(ts) == Counter(card=1, progress=1, ready=1)
    assert stage.rows("SELECT count(*) FROM measurements") == [(1,)]
    assert stage.complaints() == []
