"""Starts that wait: one for each launch, moved out of waiting once, on both databases."""

from dataclasses import replace
from datetime import timedelta

from bot.adapters.store.catalogs import SqlCatalog
from bot.adapters.store.database import Database
from bot.adapters.store.waits import SqlWaits
from bot.core.domain.waiting import Wait, WaitState
from tests.contract.store.records import ANA, BOB, CONFIG, LATER, NOW, REVISION, THREAD

WAIT = Wait(
    id="w1", host="gpu1", config="small", revision=REVISION.id, actor=ANA, conversation=THREAD, created_at=NOW,
    expires_at=NOW + timedelta(hours=24), next_look_at=LATER, text="start small", note="démo", shown=("disk warn: #",),
    holders=("dana: train.py on GPU 0",),
)  # fmt: skip


def test_a_wait_comes_back_as_it_was_and_is_kept_once(database: Database) -> None:
    waits = SqlWaits(database)
    assert waits.add(WAIT) == WAIT
    assert waits.add(replace(WAIT, note="other")) == WAIT
    # somebody else for the same launch
    assert waits.add(replace(WAIT, id="w2", actor=BOB)) == WAIT
    assert waits.waiting() == waits.waiting("gpu1") == waits.in_thread(THREAD) == (WAIT,)
    assert waits.waiting("gpu2") == ()
    assert waits.get("w2") is None


def test_another_launch_waits_beside_it(database: Database) -> None:
    waits = SqlWaits(database)
    waits.add(WAIT)
    other = replace(WAIT, id="w2", revision="other")
    assert waits.add(other) == other


def test_it_is_due_at_its_time_and_put_off_by_one_process(database: Database) -> None:
    waits = SqlWaits(database)
    waits.add(WAIT)
    assert waits.due(NOW) == ()
    assert waits.due(LATER) == (WAIT,)
    later = LATER + timedelta(minutes=1)
    assert waits.postpone("w1", seen=LATER, until=later)
    assert not waits.postpone("w1", seen=LATER, until=later)
    assert waits.due(LATER) == ()
    assert waits.due(WAIT.expires_at)


def test_a_look_is_kept(database: Database) -> None:
    waits = SqlWaits(database)
    waits.add(WAIT)
    waits.looked("w1", at=LATER, free_looks=1, busy_looks=0, holders=(), away="", next_look_at=LATER)
    found = waits.get("w1")
    assert found is not None
    assert (found.free_looks, found.looked_at, found.holders) == (1, LATER, ())


def test_one_ends_the_waiting_and_may_do_it_again(database: Database) -> None:
    waits = SqlWaits(database)
    waits.add(WAIT)
    assert waits.move("w1", WaitState.PLANNED, by="run1")
    assert waits.move("w1", WaitState.PLANNED, by="run1")
    assert not waits.move("w1", WaitState.PLANNED, by="run2")
    assert not waits.move("w1", WaitState.CANCELLED, by="U0ANA")
    assert waits.due(WAIT.expires_at) == ()


def test_it_is_taken_up_again_unless_another_waits_by_then(database: Database) -> None:
    waits = SqlWaits(database)
    waits.add(WAIT)
    waits.move("w1", WaitState.PLANNED, by="run1")
    assert waits.move("w1", WaitState.WAITING, by="run1")
    waits.move("w1", WaitState.PLANNED, by="run2")
    waits.add(replace(WAIT, id="w2"))
    assert not waits.move("w1", WaitState.WAITING, by="run2")
    assert not waits.move("w9", WaitState.WAITING, by="run2")


def test_a_cancelled_one_makes_room(database: Database) -> None:
    waits = SqlWaits(database)
    waits.add(WAIT)
    assert waits.move("w1", WaitState.CANCELLED, by=ANA.id)
    assert not waits.move("w1", WaitState.WAITING, by=ANA.id)
    assert waits.add(replace(WAIT, id="w2")).id == "w2"


def test_a_renamed_config_is_waited_for_by_its_new_name(database: Database) -> None:
    catalog, waits = SqlCatalog(database), SqlWaits(database)
    catalog.save(CONFIG)
    waits.add(WAIT)
    catalog.rename("small", "tiny-one")
    assert [one.config for one in waits.waiting()] == ["tiny-one"]
