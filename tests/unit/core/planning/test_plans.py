"""Plans and refusals for start, stop and restart."""

from typing import Any

import pytest

from bot.core.domain.catalog import Measured, SecretRef
from bot.core.domain.host import Host
from bot.core.domain.plan import Plan, Refusal, StepKind
from bot.core.domain.reading import Known, Unknown
from bot.core.facts.system import System
from bot.core.planning import (
    StartRequest,
    changed_since,
    choose_runner,
    derived_revision,
    plan_restart,
    plan_start,
    plan_stop,
    probe_target,
    unit_name,
)
from bot.core.planning.revision import diff_lines
from bot.errors import BadInputError
from tests.unit.core.planning.launches import CHECKS, ENGINES, GOOD, NOW, config, readings, record, revision, running

HOST = Host(name="h", address="h.invalid")
PROTECTED = Host(name="p", address="p.invalid", protected=True)
TRAINING = {
    "gpu_processes": "GPU-0, 9, 30000, python3\n---\n"
    "pid 9\nowner ana\nage 7200\ncommand python3 train.py\nparent 1 init\n\n"
}
SERVING = {
    "ports": 'LISTEN 0 1 0.0.0.0:30000 0.0.0.0:* users:(("p",pid=700,fd=3))\n---\n'
    "pid 700\nowner root\nage 9\ncommand c\nparent 1 init\ncgroup 0::/system.slice/relaunch-a-1.service\n\n",
    "units": "manager system\n\nId=relaunch-a-1.service\nActiveState=active\nSubState=running\nMainPID=700\n\n",
}


def request(**more: Any) -> StartRequest:
    one = more.pop("revision", None) or revision()
    values: dict[str, Any] = {
        "operation_id": "op-42", "host": HOST, "config": config(one), "revision": one, "engine": ENGINES["sglang"],
        "facts": readings(), "checks": CHECKS,
    }  # fmt: skip
    return StartRequest(**{**values, **more})


def planned(outcome: Plan | Refusal) -> Plan:
    assert isinstance(outcome, Plan), outcome
    return outcome


def refused(outcome: Plan | Refusal) -> Refusal:
    assert isinstance(outcome, Refusal), outcome
    return outcome


def test_a_start_is_planned_to_the_word() -> None:
    plan = planned(plan_start(request()))
    assert plan.argv == tuple(GOOD["command"].split())
    assert (plan.operation, plan.runner, plan.port, plan.model) == ("start", "systemd", 30000, "/models/a")
    assert [step.kind for step in plan.steps] == [StepKind.START, StepKind.WATCH, StepKind.PROVE, StepKind.MEASURE]
    assert {step.unit for step in plan.steps} == {"relaunch-a-op42"}
    assert plan.needs_approval == ()
    assert dict(plan.relies_on)["port 30000"] == "free"
    assert dict(plan.relies_on)["processes on GPU 1"] == "none"
    assert plan.revision == revision().id


def test_the_same_request_gives_the_same_fingerprint() -> None:
    assert planned(plan_start(request())).fingerprint == planned(plan_start(request())).fingerprint


def test_a_training_run_is_never_disturbed() -> None:
    refusal = refused(plan_start(request(facts=readings(TRAINING))))
    assert "ana" in refusal.reason
    assert any("train.py" in line for one in refusal.findings for line in one.evidence)


def test_a_small_process_of_somebody_needs_an_approval() -> None:
    facts = readings({"gpu_processes": TRAINING["gpu_processes"].replace("30000", "120")})
    assert planned(plan_start(request(facts=facts))).needs_approval == ("others use the same GPUs",)


def test_a_protected_host_needs_an_approval() -> None:
    assert planned(plan_start(request(host=PROTECTED))).needs_approval == ("p is protected",)


def test_what_could_not_be_looked_at_is_for_a_person() -> None:
    plan = planned(plan_start(request(facts=readings(unknown={"gpu_processes": "refused"}))))
    assert plan.needs_approval == ("processes on the GPUs: not known",)


def test_what_runs_already_is_not_started_again() -> None:
    refusal = refused(plan_start(request(running=(running(port=1),))))
    assert "already runs" in refusal.reason


def test_a_restart_stops_first_and_always_needs_an_approval() -> None:
    target = running()
    plan = planned(plan_restart(request(facts=readings(SERVING), running=(target,)), target))
    assert [step.kind for step in plan.steps][:2] == [StepKind.STOP, StepKind.START]
    assert (plan.steps[0].unit, plan.steps[0].pid) == ("relaunch-a-1", 700)
    assert plan.needs_approval == ("a (launch 7) is stopped",)
    assert dict(plan.relies_on)["to stop: relaunch-a-1"] == "700"
    assert plan.steps[1].unit != plan.steps[0].unit


def test_a_restart_is_refused_when_the_new_launch_would_fail() -> None:
    one = derived_revision(ENGINES["sglang"], revision(), {"tensor_parallel": 8})
    target = running()
    assert (
        "needs 8 GPUs"
        in refused(plan_restart(request(revision=one, facts=readings(SERVING), running=(target,)), target)).reason
    )


def test_what_changed_between_plan_and_click_is_named() -> None:
    plan = planned(plan_start(request()))
    assert changed_since(plan, plan.relies_on) == ()
    now = (("port 30000", "pid 9"), *plan.relies_on[1:])
    assert changed_since(plan, now) == ("port 30000 was free, now pid 9",)
    assert len(changed_since(plan, ())) == len(plan.relies_on)


def test_expectations_come_from_the_revisions_own_launches() -> None:
    one = revision()
    history = [
        record(1, revision="other", ready_after_s=500.0, decode_tok_s=1.0),
        record(2, revision=one.id, ready_after_s=80.0, decode_tok_s=70.0),
        record(3, revision=one.id, ready_after_s=100.0, decode_tok_s=72.0),
    ]
    plan = planned(plan_start(request(history=history)))
    assert (plan.expected_ready_s, plan.expected_tok_s) == (90.0, 71.0)


def test_the_catalogs_figure_is_for_its_own_revision_only() -> None:
    one = revision()
    said = config(one, measured=Measured(decode_tok_s=70.2))
    assert planned(plan_start(request(config=said))).expected_tok_s == 70.2
    other = derived_revision(ENGINES["sglang"], one, {"context_length": 4096})
    assert planned(plan_start(request(config=said, revision=other))).expected_tok_s is None


def test_the_difference_to_the_proven_revision_is_shown() -> None:
    one = revision()
    changed = derived_revision(
        ENGINES["sglang"], one, {"context_length": 4096, "gpus": [0, 1]}, author="U1", note="why", created_at=NOW
    )
    plan = planned(plan_start(request(config=config(one), revision=changed, history=[record(revision=one.id)])))
    assert [(line.group, line.name, line.old, line.new) for line in plan.diff] == [
        ("memory", "context-length", None, "4096"),
        ("environment", "CUDA_VISIBLE_DEVICES", None, "0,1"),
    ]
    assert (changed.parent, changed.author, changed.note) == (one.id, "U1", "why")


def test_aliases_are_no_difference_and_secrets_stay_hidden() -> None:
    old = revision("sglang serve --model-path /m --tp 2", env=(("HF_TOKEN", SecretRef("a")),))
    new = revision("sglang serve --model /m --tensor-parallel-size=2", env=(("HF_TOKEN", SecretRef("b")),))
    lines = diff_lines(ENGINES["sglang"], old, new)
    assert [(line.name, line.old, line.new) for line in lines] == [("HF_TOKEN", "<secret>", "<secret>")]


def test_overrides_that_change_nothing_give_the_same_revision() -> None:
    one = revision()
    assert derived_revision(ENGINES["sglang"], one, {"tensor_parallel": 2}) is one


def test_an_override_that_the_engine_lacks_is_said() -> None:
    one = revision("llama-server -m /m.gguf")
    with pytest.raises(BadInputError):
        derived_revision(ENGINES["llama_cpp"], one, {"memory_fraction": 0.8})


def system(**more: Any) -> System:
    values: dict[str, Any] = {
        "name": "Linux", "kernel": "6", "machine": "x86_64", "hostname": "h", "user": "ml", "root": False,
        "sudo": False, "systemd": True, "user_manager": False, "lingers": False, "container": None,
    }  # fmt: skip
    return System(**{**values, **more})


@pytest.mark.parametrize(
    ("rights", "user", "runner"),
    [
        ({"root": True, "user": "root"}, None, "systemd"),
        ({"sudo": True}, "serve", "systemd"),
        ({"user_manager": True, "lingers": True}, None, "systemd-user"),
        ({"user_manager": True}, None, "process"),
        ({"root": True, "systemd": False}, None, "process"),
        ({}, "ml", "process"),
    ],
)
def test_the_runner_follows_from_what_the_login_may_do(rights: dict[str, Any], user: str | None, runner: str) -> None:
    assert choose_runner(Known(system(**rights)), user=user) == runner


def test_another_account_without_sudo_is_refused() -> None:
    outcome = choose_runner(Known(system()), user="serve")
    assert isinstance(outcome, Refusal)
    assert "serve" in outcome.reason


def test_rights_that_are_not_known_are_not_guessed() -> None:
    assert isinstance(choose_runner(Unknown("no answer"), user=None), Refusal)
    assert isinstance(plan_start(request(facts=readings(unknown={"system": "no answer"}))), Refusal)


def test_a_stop_always_needs_an_approval_and_names_the_process() -> None:
    plan = planned(plan_stop(PROTECTED, running(), readings(SERVING)))
    assert [step.kind for step in plan.steps] == [StepKind.STOP, StepKind.PROVE]
    assert plan.steps[0].pid == 700
    assert plan.needs_approval == ("a (launch 7) is stopped", "p is protected")
    assert plan.relies_on == (("to stop: relaunch-a-1", "700"),)


def test_a_stop_of_what_others_started_says_so() -> None:
    plan = planned(plan_stop(HOST, running(unit="chat.service", ours=False), readings()))
    assert "it was not started by Relaunch" in plan.needs_approval


def test_what_is_not_there_is_not_stopped() -> None:
    gone = {"units": "manager system\n\nId=relaunch-a-1.service\nActiveState=failed\nMainPID=0\n\n"}
    assert "failed" in refused(plan_stop(HOST, running(), readings(gone))).reason
    assert "no such unit" in refused(plan_stop(HOST, running(), readings())).reason


def test_a_process_without_a_unit_is_found_by_its_port() -> None:
    plan = planned(plan_stop(HOST, running(unit=None, pid=None, ours=False), readings(SERVING)))
    assert plan.steps[0].pid == 700
    assert plan.runner == "process"
    assert isinstance(plan_stop(HOST, running(unit=None, pid=None), readings()), Refusal)


@pytest.mark.parametrize(
    ("name", "operation"), [("Qwen 3.6/27b", "op-1"), ("ünï$(x)", "a;b"), ("x" * 90, "0" * 40), ("", "1")]
)
def test_unit_names_are_always_fit_for_systemd(name: str, operation: str) -> None:
    unit = unit_name(name, operation)
    assert unit.startswith("relaunch-")
    assert len(unit) <= 60
    assert all(letter.isascii() and (letter.isalnum() or letter == "-") for letter in unit)


def test_a_probe_is_about_the_launch() -> None:
    target = probe_target(ENGINES["sglang"], revision(env=(("PATH", "/opt/env/bin"), ("HF_HOME", "/hf"))))
    assert target.program == ("/opt/env/bin/python3", "-m", "sglang.launch_server")
    assert (target.distribution, target.model, target.path, target.model_cache) == (
        "sglang",
        "/models/a",
        "/opt/env/bin",
        "/hf",
    )
    assert target.help_words == ()
    assert probe_target(ENGINES["sglang"], revision(), with_help=True).help_words
