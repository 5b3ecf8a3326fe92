"""Edits are merged and paced; the final one is the last."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.slack.updates import BURST, MESSAGE_INTERVAL_S, RATE_PER_S, UpdateQueue, Updater
from bot.core.domain.message import Message, Posted


def posted(number: int) -> Posted:
    return Posted(channel="C0", ts=f"{number}.0")


def message(text: object) -> Message:
    return Message(template="progress", context={"n": text})


def test_only_the_newest_edit_of_a_message_is_sent():
    queue = UpdateQueue()
    for number in range(5):
        queue.offer(posted(1), message(number))
    assert queue.take(10.0) == (posted(1), message(4))
    assert queue.take(10.0) is None
    assert queue.wait_s(10.0) is None


def test_one_message_is_edited_once_a_second():
    queue = UpdateQueue()
    queue.offer(posted(1), message(1))
    queue.take(10.0)
    queue.offer(posted(1), message(2))
    assert queue.take(10.5) is None
    assert queue.wait_s(10.5) == pytest.approx(0.5)
    assert queue.take(11.0) == (posted(1), message(2))


def test_messages_take_turns():
    queue = UpdateQueue()
    for number in (1, 2, 3):
        queue.offer(posted(number), message("a"))
    queue.offer(posted(1), message("b"))
    assert [edit[0] for at in (10.0, 10.0, 10.0) if (edit := queue.take(at))] == [posted(1), posted(2), posted(3)]


def test_a_pause_holds_everything():
    queue = UpdateQueue()
    queue.offer(posted(1), message(1))
    queue.pause(40.0)
    assert queue.take(39.0) is None
    assert queue.wait_s(10.0) == pytest.approx(30.0)
    assert queue.take(40.0) is not None


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 6)), max_size=120))
def test_never_more_than_the_workspaces_budget(offers: list[tuple[int, int]]):
    queue = UpdateQueue(_counted_at=0.0)
    sent: list[tuple[float, Posted]] = []
    for second in range(60):
        for at, number in offers:
            if at == second:
                queue.offer(posted(number), message(at))
        for part in range(4):
            now = second + part / 4
            while edit := queue.take(now):
                sent.append((now, edit[0]))
    assert queue.wait_s(60.0) is None or len(sent) >= 30
    assert len(sent) <= BURST + 60 * RATE_PER_S + 1
    for index, (at, where) in enumerate(sent):
        assert all(at - earlier >= MESSAGE_INTERVAL_S for earlier, there in sent[:index] if there == where)


def test_a_final_edit_waits_for_one_under_way_and_drops_those_that_wait():
    sent: list[object] = []
    entered, go_on = threading.Event(), threading.Event()

    def send(_: Posted, what: Message) -> None:
        if what.context["n"] == "first":
            entered.set()
            assert go_on.wait(10)
        sent.append(what.context["n"])

    clock = iter(range(0, 10_000, 5))
    updater = Updater(send, lambda: float(next(clock)))
    updater.offer(posted(1), message("first"))
    assert entered.wait(10)
    updater.offer(posted(1), message("second"))
    final = threading.Thread(target=updater.final, args=(posted(1), message("final")))
    final.start()
    go_on.set()
    final.join(10)
    updater.close()
    assert sent[0] == "first"
    assert sent[-1] == "final"


def test_a_failing_edit_does_not_end_the_thread():
    done = threading.Event()

    def send(_: Posted, what: Message) -> None:
        if what.context["n"] == "bad":
            raise RuntimeError("no")
        done.set()

    clock = iter(range(0, 10_000, 5))
    updater = Updater(send, lambda: float(next(clock)))
    updater.offer(posted(1), message("bad"))
    updater.offer(posted(2), message("good"))
    assert done.wait(10)
    updater.close()


def test_a_final_edits_errors_reach_the_caller():
    def send(_: Posted, __: Message) -> None:
        raise RuntimeError("gone")

    updater = Updater(send, lambda: 0.0)
    with pytest.raises(RuntimeError, match="gone"):
        updater.final(posted(1), message(1))
    updater.close()
