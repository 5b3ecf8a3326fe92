"""What was done, from events and launches; and what answers a question."""

from datetime import UTC, datetime, timedelta

from bot.core.catalog.deeds import Answer, Deed, about, answer, deeds, matching
from bot.core.catalog.past import Window
from bot.core.domain.catalog import LaunchRecord
from bot.core.domain.operation import AuditEvent

NOW = datetime(2026, 12, 2, 8, tzinfo=UTC)
YESTERDAY = Window(start=NOW - timedelta(hours=32), end=NOW - timedelta(hours=8))


def ago(hours: float) -> datetime:
    return NOW - timedelta(hours=hours)


def event(hours: float, action: str, outcome: str, operation: str | None = "op1", config: str = "small") -> AuditEvent:
    return AuditEvent(
        at=ago(hours), actor="U0ANA", action=action, host="gpu1", config=config, operation=operation, outcome=outcome
    )


def launch(hours: float, state: str = "stopped", *, ran_h: float | None = 2, ready: bool = True) -> LaunchRecord:
    return LaunchRecord(
        id=f"at{hours}", number=100 - int(hours), config="small", revision="r", host="gpu1", state=state,
        started_at=ago(hours), ended_at=None if ran_h is None else ago(hours - ran_h),
        ready_after_s=60 if ready else None, decode_tok_s=61,
    )  # fmt: skip


def newest_first(*events: AuditEvent) -> list[AuditEvent]:
    return sorted(events, key=lambda one: one.at, reverse=True)


def only(*events: AuditEvent) -> Deed:
    (deed,) = deeds(newest_first(*events), ())
    return deed


def test_request_and_end_are_one_deed() -> None:
    deed = only(event(3, "stop", "waits for approval"), event(2, "stop", "succeeded"))
    assert (deed.action, deed.state, deed.at) == ("stop", "done", ago(2))


def test_a_change_that_was_carried_out_as_a_restart_is_a_change() -> None:
    deed = only(event(3, "change", "carried out"), event(2, "restart", "failed"))
    assert (deed.action, deed.state, deed.failed_at) == ("change", "failed", ago(2))


def test_who_cancelled_and_why_it_was_refused_are_kept() -> None:
    cancelled = only(event(3, "start", "carried out"), event(2.5, "cancel", "start cancelled"))
    assert (cancelled.state, cancelled.cancelled_by) == ("cancelled", "U0ANA")
    refused = only(event(3, "start", "refused: GPU 0 is in use"))
    assert (refused.state, refused.detail, refused.done) == ("refused", "GPU 0 is in use", False)


def test_a_config_has_the_name_of_now() -> None:
    found = deeds(
        newest_first(
            event(9, "stop", "succeeded", "op1", config="a"),
            event(8, "rename", "from a", None, config="b"),
            # another one was given the free name
            event(7, "stop", "succeeded", "op2", config="a"),
            event(6, "rename", "from b", None, config="c"),
        ),
        (),
    )
    assert [(one.operation, one.config) for one in found if one.action == "stop"] == [("op2", "a"), ("op1", "c")]


def test_a_launch_that_no_event_tells_of_is_a_start() -> None:
    (deed,) = deeds((), [launch(5)])
    assert (deed.action, deed.state, deed.config) == ("start", "done", "small")


def test_a_restart_that_replaced_another_stopped_that_one() -> None:
    deed = Deed(action="restart", by="U0ANA", asked_at=NOW, host="gpu1", config="new", replaced="old", state="done")
    fits = {(name, what): about(deed, what, hosts=(), configs=frozenset({name}))
            for name in ("new", "old") for what in ("start", "stop", None)}  # fmt: skip
    assert [pair for pair, fit in fits.items() if not fit] == [("new", "stop"), ("old", "start")]
    assert not about(deed, None, hosts=("gpu2",), configs=None)


def test_a_failure_counts_when_it_happened_not_when_it_was_started() -> None:
    found = deeds((), [launch(60, "lost", ran_h=40), launch(50, "failed", ran_h=1), launch(30), launch(1, "failed")])
    assert [one.at for one in matching(found, "fail", YESTERDAY)] == [ago(60)]
    assert answer(found, "fail", YESTERDAY, who=False, named=False).kind == "failed"


def test_nothing_failed_then_the_last_failure_is_told() -> None:
    found = deeds((), [launch(50, "failed", ran_h=1), launch(30)])
    said = answer(found, "fail", YESTERDAY, who=False, named=False)
    assert said == Answer(kind="nothing", deed=found[1])


def test_the_last_run_is_one_that_was_ready() -> None:
    found = deeds((), [launch(5, "failed", ready=False), launch(30)])
    said = answer(found, "start", None, who=False, named=True)
    assert (said.kind, said.deed and said.deed.at) == ("ran", ago(30))
    said = answer(found[:1], "start", None, who=False, named=True)
    assert (said.kind, said.deed) == ("ran", found[0])


def test_what_ran_through_a_time_ran_then() -> None:
    found = deeds((), [launch(100, "ready", ran_h=None), launch(60, ran_h=1)])
    assert [one.at for one in matching(found, "start", YESTERDAY)] == [ago(100)]


def test_who_stopped_it_is_who_did_not_who_wanted_to() -> None:
    found = deeds(
        newest_first(event(20, "stop", "carried out"), event(19, "stop", "succeeded"),
                     event(18, "stop", "refused: it does not run", "op2")), ()
    )  # fmt: skip
    said = answer(found, "stop", YESTERDAY, who=True, named=True)
    assert (said.kind, said.deed and said.deed.operation) == ("did", "op1")
    said = answer([one for one in found if one.operation == "op2"], "stop", YESTERDAY, who=True, named=True)
    assert (said.kind, said.deed and said.deed.operation) == ("asked", "op2")


def test_nobody_stopped_what_was_gone_by_itself() -> None:
    found = deeds((), [launch(40, "lost", ran_h=20)])
    assert answer(found, "stop", YESTERDAY, who=True, named=True).kind == "befell"
    assert answer(found, "stop", Window(start=ago(2), end=None), who=True, named=True).kind == "nothing"
