"""Repositories keep what they are given, once, on both databases."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.adapters.store.catalogs import SqlCatalog
from bot.adapters.store.database import Database
from bot.adapters.store.hosts import SqlHosts
from bot.adapters.store.launches import SqlLaunches
from bot.adapters.store.operations import SqlAudit, SqlOperations
from bot.adapters.store.schedules import SqlHealthSamples, SqlPosts, SqlSchedules
from bot.adapters.store.terminal import SqlTerminal
from bot.core.domain.host import Host
from bot.core.domain.launch import LaunchState, Milestone, Phase
from bot.core.domain.message import Posted
from bot.core.domain.operation import Approval, AuditEvent, OperationState, Schedule
from bot.errors import BadInputError, RefusedError
from tests.contract.store.records import ANA, BOB, CONFIG, LATER, NOW, PLAN, REVISION, THREAD, measurement


def test_host_comes_back_as_it_was(database: Database) -> None:
    hosts = SqlHosts(database)
    host = Host(name="gpu1", address="10.0.0.1", port=2222, user="serve", tags=("lab",), protected=True, via="jump")
    hosts.save(host)
    hosts.save(host)
    assert hosts.inventory().hosts == {"gpu1": host}
    assert hosts.remove("gpu1")
    assert not hosts.remove("gpu1")


def test_config_comes_back_with_secrets_as_references(database: Database) -> None:
    catalog = SqlCatalog(database)
    catalog.save(CONFIG)
    assert catalog.catalog().configs == {"small": CONFIG}
    assert catalog.catalog().configs["small"].latest.id == REVISION.id


def test_same_revision_is_stored_once_and_order_is_kept(database: Database) -> None:
    catalog = SqlCatalog(database)
    catalog.save(CONFIG)
    other = replace(REVISION, argv=("python3",), parent=REVISION.id)
    catalog.add_revision("small", other)
    catalog.add_revision("small", REVISION)
    assert [r.id for r in catalog.catalog().configs["small"].revisions] == [REVISION.id, other.id]


def test_what_was_tried_once_is_kept_as_saved_when_it_is_saved(database: Database) -> None:
    catalog = SqlCatalog(database)
    catalog.save(CONFIG)
    tried = replace(REVISION, argv=("python3",), parent=REVISION.id, source="request")
    catalog.add_revision("small", tried)
    assert catalog.catalog().configs["small"].latest.id == REVISION.id
    catalog.add_revision("small", replace(tried, source="catalog file"))
    catalog.add_revision("small", tried)
    assert catalog.catalog().configs["small"].latest.id == tried.id


def test_rename_takes_revisions_and_launches_along(database: Database) -> None:
    catalog, launches = SqlCatalog(database), SqlLaunches(database)
    catalog.save(CONFIG)
    launches.begin(operation="op1", plan=PLAN, unit="u", conversation=None, actor=ANA, note="", at=NOW)
    catalog.rename("small", "tiny-one")
    after = catalog.catalog()
    assert after.configs["tiny-one"].revisions == CONFIG.revisions
    assert after.launches[0].config == "tiny-one"
    with pytest.raises(BadInputError):
        catalog.rename("small", "x")


def test_launch_is_begun_once_and_remembers_its_life(database: Database) -> None:
    launches = SqlLaunches(database)
    first = launches.begin(
        operation="op1", plan=PLAN, unit="relaunch-op1", conversation=THREAD, actor=ANA, note="why", at=NOW
    )
    again = launches.begin(
        operation="op1", plan=PLAN, unit="relaunch-op1", conversation=THREAD, actor=ANA, note="why", at=LATER
    )
    assert again == first
    assert first.number == 1
    launches.add_milestone("op1", Milestone(phase=Phase.WEIGHTS, text="8/15", fraction=0.5, reached_at=NOW))
    launches.add_milestone("op1", Milestone(phase=Phase.WEIGHTS, text="8/15", fraction=0.5, reached_at=LATER))
    assert len(launches.milestones("op1")) == 1
    launches.set_state("op1", LaunchState.READY, at=NOW + timedelta(seconds=90))
    launches.add_measurement("op1", measurement(70.5))
    launches.set_facts("op1", {"engine_version": "0.5.11"})
    found = launches.get("op1")
    assert found is not None
    assert (found.ready_after_s, found.decode_tok_s, found.accept_length) == (90.0, 70.5, 3.1)
    assert found.engine_version == "0.5.11"
    assert launches.running("gpu1") == (found,)
    assert launches.in_thread(THREAD) == found
    launches.set_state("op1", LaunchState.STOPPED, at=LATER, by="U0BOB")
    assert launches.running() == ()


def test_log_keeps_head_and_tail_and_survives_nul(database: Database) -> None:
    launches = SqlLaunches(database)
    launches.begin(operation="op1", plan=PLAN, unit="u", conversation=None, actor=ANA, note="", at=NOW)
    launches.save_log("op1", "first\x00\n" + "x" * 5_000_000 + "\nlast")
    kept = launches.log("op1") or ""
    assert kept.startswith("first")
    assert kept.endswith("last")
    assert "left out" in kept
    assert len(kept) < 4_100_000


def test_pinned_baseline_is_the_only_one(database: Database) -> None:
    launches = SqlLaunches(database)
    for name, speed in (("op1", 70.0), ("op2", 60.0)):
        launches.begin(operation=name, plan=PLAN, unit="u", conversation=None, actor=ANA, note="", at=NOW)
        launches.add_measurement(name, measurement(speed))
    launches.pin_baseline("op1")
    launches.pin_baseline("op2")
    assert launches.baseline("small", "gpu1") == ("op2", measurement(60.0))


def _ask(database: Database) -> SqlOperations:
    operations = SqlOperations(database)
    operations.propose(operation="op1", plan=PLAN, conversation=THREAD, actor=ANA, text="start", note="", at=NOW)
    operations.ask(Approval(operation="op1", fingerprint=PLAN.fingerprint, expires_at=LATER))
    return operations


def test_plan_comes_back_with_the_same_fingerprint(database: Database) -> None:
    operations = _ask(database)
    assert operations.plan("op1") == PLAN
    assert operations.plan("op1").fingerprint == PLAN.fingerprint


def test_approval_is_used_once(database: Database) -> None:
    operations = _ask(database)
    decided = operations.decide("op1", fingerprint=PLAN.fingerprint, approved=True, actor=BOB, at=NOW)
    assert decided.decided_by == "U0BOB"
    assert operations.state("op1") is OperationState.RUNNING
    with pytest.raises(RefusedError, match="already approved by <@U0BOB>"):
        operations.decide("op1", fingerprint=PLAN.fingerprint, approved=True, actor=ANA, at=NOW)


def test_approval_refuses_another_plan_and_a_late_click(database: Database) -> None:
    operations = _ask(database)
    with pytest.raises(RefusedError, match="another plan"):
        operations.decide("op1", fingerprint="0" * 64, approved=True, actor=BOB, at=NOW)
    with pytest.raises(RefusedError, match="expired"):
        operations.decide("op1", fingerprint=PLAN.fingerprint, approved=True, actor=BOB, at=LATER)
    assert operations.expired(LATER) == ("op1",)
    assert operations.state("op1") is OperationState.EXPIRED
    assert operations.expired(LATER) == ()


def test_audit_schedules_samples_and_posts(database: Database) -> None:
    audit = SqlAudit(database)
    audit.add(AuditEvent(at=NOW, actor="U0ANA", action="stop", host="gpu1", config="small", outcome="stopped"))
    audit.add(AuditEvent(at=LATER, actor="U0BOB", action="start", host="gpu2"))
    assert [event.actor for event in audit.events()] == ["U0BOB", "U0ANA"]
    assert [event.action for event in audit.events(host="gpu1")] == ["stop"]
    schedules = SqlSchedules(database)
    schedule = Schedule(
        id="s1",
        channel="C0OPS",
        host=None,
        cron="30 8 * * *",
        every_s=None,
        time_zone="Europe/Berlin",
        created_by="U0ANA",
        created_at=NOW,
    )
    schedules.add(schedule)
    assert schedules.all() == (schedule,)
    assert schedules.remove("s1")
    samples = SqlHealthSamples(database)
    samples.add("gpu1", NOW, {"reachable": False})
    assert samples.last("gpu1") == (NOW, {"reachable": False})
    posts = SqlPosts(database)
    posts.put("k", Posted(channel="C", ts="1.2"))
    assert posts.get("k") == Posted(channel="C", ts="1.2")
    assert posts.get("other") is None


def test_a_terminal_conversation_begins_after_what_was_shown_and_old_lines_go(database: Database) -> None:
    terminal = SqlTerminal(database)
    assert terminal.begin("cli:ana") == 0
    first, *_, last = [terminal.append("cli:ana", "post", f"t{n}", {"text": str(n)}) for n in range(1002)]
    other = terminal.append("cli:bob", "post", "t", {"text": "mine"})
    assert terminal.begin("cli:ana") == last
    assert terminal.after("cli:ana", last) == ()
    kept = [number for number, *_ in terminal.after("cli:ana", 0)]
    assert first not in kept
    assert len(kept) == 1000
    assert [number for number, *_ in terminal.after("cli:bob", 0)] == [other]
