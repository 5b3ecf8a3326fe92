"""Units as their files stand: of ours against what the runner writes, of others against what a scan recorded."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from bot.app import script_renderer
from bot.core.catalog.found_unit import as_found, found_unit
from bot.core.discovery.artefact import Artefact, artefact_from_row
from bot.core.discovery.candidate import candidate_to_revision
from bot.core.discovery.declared import Declared, declared_by_others, declared_by_us
from bot.core.discovery.discover import discover
from bot.core.discovery.drift import drift
from bot.core.discovery.units import unit_name
from bot.core.domain.catalog import Revision, SecretRef, Word
from bot.core.domain.engine import Engine
from bot.core.domain.finding import Judgement
from bot.core.domain.plan import Plan
from bot.core.facts.unit_file import UnitFile, UnitPart
from bot.core.runners.systemd import RUNNER
from bot.core.runners.systemd_user import RUNNER as USER_RUNNER
from tests.unit.core.discovery.test_cases import CASES

NAME = "relaunch-a-1.service"
PATH = f"/etc/systemd/system/{NAME}"
SGLANG: tuple[Word, ...] = (
    "/opt/env/bin/python3",
    "-m",
    "sglang.launch_server",
    "--model-path",
    "/models/a",
    "--tp",
    "2",
)
SECRET = SecretRef("env file /etc/llm/hf.env")


def plan(**changes: Any) -> Plan:
    given: dict[str, Any] = {
        "operation": "1", "host": "gpu1", "config": "a", "revision": "r", "engine": "sglang", "model": "/models/a",
        "argv": SGLANG,
    }  # fmt: skip
    return Plan(**{**given, **changes})


def written(made: Plan, *, user: bool = False) -> str:
    text = (USER_RUNNER if user else RUNNER).unit_file(made, "relaunch-a-1", script_renderer())
    assert text is not None
    return text


def on_host(made: Plan, text: str, *, user: bool = False, secrets: str = "unread") -> UnitFile:
    """What the start leaves on a host: the unit, and a drop-in with what only the host knows."""
    path = f"/home/ana/.config/systemd/user/{NAME}" if user else PATH
    record = "/home/ana/.local/state/relaunch/x" if user else "/var/lib/relaunch/x"
    lines = ["[Service]", f'ExecStopPost=-+/bin/sh "{record}/end.sh"', "UnsetEnvironment=FOO"]
    lines += [] if user or made.user else ["User=root"]
    parts = [UnitPart(kind="unit", path=path, text=f"{text}\n")]
    names = [name for name, value in made.env if isinstance(value, SecretRef)]
    names += [f"RELAUNCH_ARGUMENT_{at}" for at, word in enumerate(made.argv) if isinstance(word, SecretRef)]
    if names:
        lines.append(f"EnvironmentFile={record}/secrets")
        if secrets == "read":
            held = "".join(f"{name}=<secret>\n" for name in names)
            parts.append(UnitPart(kind="env_file", path=f"{record}/secrets", text=held))
    parts.insert(1, UnitPart(kind="dropin", path=f"{path}.d/host.conf", text="\n".join(lines) + "\n"))
    return UnitFile(
        there=True, parts=tuple(parts), unread=(f"{record}/secrets",) if names and secrets == "unread" else ()
    )


def lines(found: Declared, engines: Mapping[str, Engine], engine: str = "sglang") -> list[str]:
    """All that is said of a unit."""
    recorded = found.recorded or Revision(engine=engine, model="", argv=())
    changes = drift(recorded, engine=engines[engine], unit=found.candidate, unit_recorded=found.recorded)
    return [one.summary for one in (*found.findings, *changes)]


PLANS = {
    "plain": plan(),
    "folder, account": plan(cwd="/srv/100% a", user="serve"),
    "name in PATH": plan(argv=("sglang", "serve", "--model-path", "/models/a")),
    "wrapper": plan(wrappers=("numactl -N 0 -m 0",)),
    "quoted wrapper": plan(wrappers=("taskset -c '0-7'", "nice -n 5")),
    "unknown wrapper": plan(wrappers=("/opt/tools/with-lock --for 'a b'",)),
    "env as wrapper": plan(wrappers=("env A=1 B='x y'",)),
    "hard words": plan(
        argv=(*SGLANG, "--json-model-override-args", '{"a": "$HOME %h \\\\ \'x\'"}', "--served-model-name", "a\tb\x01"),
        env=(("A", 'q"$X\\ %n'), ("B", ""), ("CUDA_VISIBLE_DEVICES", "0,1")),
    ),
    "secrets": plan(argv=(*SGLANG, "--api-key", SECRET), env=(("HF_TOKEN", SECRET), ("PLAIN", SECRET), ("A", "1"))),
}


@pytest.mark.parametrize("user", [False, True], ids=["system", "user"])
@pytest.mark.parametrize("secrets", ["unread", "read"])
@pytest.mark.parametrize("name", PLANS)
def test_our_own_unit_as_it_was_written_is_no_change(
    engines: Mapping[str, Engine], name: str, secrets: str, user: bool
) -> None:
    text = written(PLANS[name], user=user)
    found = on_host(PLANS[name], text, user=user, secrets=secrets)
    assert declared_by_us(found, text, PLANS[name], NAME, engines) == Declared()


@pytest.mark.parametrize("name", [name for name in PLANS if name not in ("unknown wrapper", "name in PATH")])
def test_an_edited_flag_of_our_own_unit_is_one_line(engines: Mapping[str, Engine], name: str) -> None:
    text = written(PLANS[name])
    found = on_host(PLANS[name], text.replace('"--tp" "2"', '"--tp" "4"'))
    assert lines(declared_by_us(found, text, PLANS[name], NAME, engines), engines) == [
        "tp-size: recorded 2, the unit file says 4"
    ]


def test_an_edited_unit_that_nobody_can_read_is_said_as_a_whole(engines: Mapping[str, Engine]) -> None:
    made = PLANS["unknown wrapper"]
    text = written(made)
    found = on_host(made, text.replace('"--tp" "2"', '"--tp" "4"'))
    assert lines(declared_by_us(found, text, made, NAME, engines), engines) == [
        f"unit file: {PATH} is not as it was written"
    ]


def test_edits_of_environment_and_folder_and_by_a_dropin(engines: Mapping[str, Engine]) -> None:
    made = PLANS["secrets"]
    text = written(made)
    found = on_host(made, text.replace('"A=1"', '"A=2"').replace("Directory=~", "Directory=/srv/x"))
    added = UnitPart(kind="dropin", path=f"{PATH}.d/override.conf", text="[Service]\nEnvironment=NCCL_DEBUG=INFO\n")
    found = replace(found, parts=(*found.parts, added))
    assert lines(declared_by_us(found, text, made, NAME, engines), engines) == [
        "env.A: recorded 1, the unit file says 2",
        "env.NCCL_DEBUG: recorded nothing, the unit file says INFO",
        "cwd: recorded ~, the unit file says /srv/x",
    ]


def test_an_older_way_to_write_the_same_is_no_change(engines: Mapping[str, Engine]) -> None:
    made = plan(env=(("A", "1"),))
    text = written(made)
    older = text.replace('Environment="A=1"', "Environment=A=1").replace('"--tp" "2"', "--tp 2")
    assert older != text
    assert lines(declared_by_us(on_host(made, older), text, made, NAME, engines), engines) == []


def test_our_unit_that_is_gone(engines: Mapping[str, Engine]) -> None:
    found = declared_by_us(UnitFile(there=False), written(plan()), plan(), NAME, engines)
    assert [one.judgement for one in found.findings] == [Judgement.WARN]


# units of others

UNIT = """[Service]
User=serve
WorkingDirectory=/srv/q
Environment=A=1
EnvironmentFile=-/etc/q.env
ExecStart=/opt/env/bin/python3 -m sglang.launch_server --model-path /models/a --tp 2
"""
Q = "/etc/systemd/system/q.service"
ENV = "HF_TOKEN=made-up-000001\nHF_HOME=/data\n"


def recorded(engines: Mapping[str, Engine], unit: str = UNIT, *more: Artefact) -> Revision:
    given = [Artefact(path=Q, kind="unit", text=unit), Artefact(path="/etc/q.env", kind="env_file", text=ENV), *more]
    (found,) = discover(given, engines=engines)
    return candidate_to_revision(found)


def seen(unit: str = UNIT, *more: UnitPart, **rest: Any) -> UnitFile:
    return UnitFile(there=True, parts=(UnitPart(kind="unit", path=Q, text=unit), *more), **rest)


def env_part(text: str = "HF_TOKEN=<secret>\nHF_HOME=/data\n") -> UnitPart:
    return UnitPart(kind="env_file", path="/etc/q.env", text=text)


def test_a_found_unit_that_stayed_is_no_change(engines: Mapping[str, Engine]) -> None:
    found = declared_by_others(seen(UNIT, env_part()), recorded(engines), "q.service", engines)
    assert lines(found, engines) == []


def test_each_edit_of_a_found_unit_is_one_line(engines: Mapping[str, Engine]) -> None:
    edited = UNIT.replace("--tp 2", "--tp-size 4 --enable-mixed-chunk").replace("/srv/q", "/srv/r")
    found = declared_by_others(
        seen(edited, env_part("HF_TOKEN=<secret>\nHF_HOME=/other\n")), recorded(engines), "q.service", engines
    )
    assert lines(found, engines) == [
        "enable-mixed-chunk: recorded nothing, the unit file says on",
        "tp-size: recorded 2, the unit file says 4",
        "env.HF_HOME: recorded /data, the unit file says /other",
        "cwd: recorded /srv/q, the unit file says /srv/r",
    ]


def test_an_environment_that_may_not_be_read_is_unknown(engines: Mapping[str, Engine]) -> None:
    found = declared_by_others(
        seen(UNIT.replace("--tp 2", "--tp 4"), unread=("/etc/q.env",)), recorded(engines), "q.service", engines
    )
    assert lines(found, engines) == [
        "environment of q.service: not known, /etc/q.env cannot be read",
        "tp-size: recorded 2, the unit file says 4",
    ]
    with_variable = UNIT.replace("--tp 2", "--tp $TP")
    found = declared_by_others(seen(with_variable, unread=("/etc/q.env",)), recorded(engines), "q.service", engines)
    assert lines(found, engines) == ["unit file: not known, /etc/q.env cannot be read"]


def test_an_environment_file_that_is_gone_is_a_change(engines: Mapping[str, Engine]) -> None:
    found = declared_by_others(seen(UNIT, absent=("/etc/q.env",)), recorded(engines), "q.service", engines)
    assert lines(found, engines) == [
        "env.HF_HOME: recorded /data, the unit file says nothing",
        "env.HF_TOKEN: recorded <secret>, the unit file says nothing",
    ]


def test_what_only_a_process_showed_is_no_change(engines: Mapping[str, Engine]) -> None:
    revision = recorded(engines)
    live = replace(
        revision,
        env=(*revision.env, ("NCCL_DEBUG", "INFO")),
        provenance={**revision.provenance, "env.NCCL_DEBUG": "process 4711, environ NCCL_DEBUG"},
    )
    found = declared_by_others(seen(UNIT, env_part()), live, "q.service", engines)
    assert lines(found, engines) == []


def test_what_only_the_host_fills_in_is_as_it_was_seen(engines: Mapping[str, Engine]) -> None:
    was = recorded(engines, UNIT.replace("--tp 2", '--tp 2 --served-model-name "a on gpu1"').replace("A=1", "A=x-gpu1"))
    unit = UNIT.replace("--tp 2", '--tp 2 --served-model-name "a on %H"').replace("A=1", "A=x-%H")
    assert lines(declared_by_others(seen(unit, env_part()), was, "q.service", engines), engines) == []
    other = unit.replace("a on", "b on").replace("x-%H", "y-%H")
    assert lines(declared_by_others(seen(other, env_part()), was, "q.service", engines), engines) == [
        "served-model-name: recorded a on gpu1, the unit file says b on %H",
        "env.A: recorded x-gpu1, the unit file says y-%H",
    ]


def test_a_unit_that_runs_a_script(engines: Mapping[str, Engine]) -> None:
    unit = "[Service]\nExecStart=/opt/run.sh\n"
    text = "#!/bin/bash\nexport A=1\nexec vllm serve /models/a --port 8000 --tensor-parallel-size 2\n"
    was = recorded(engines, unit, Artefact(path="/opt/run.sh", kind="script", text=text))
    edited = UnitPart(kind="script", path="/opt/run.sh", text=text.replace("-size 2", "-size 4"))
    assert lines(declared_by_others(seen(unit, edited), was, "q.service", engines), engines, "vllm") == [
        "tensor-parallel-size: recorded 2, the unit file says 4"
    ]
    assert lines(declared_by_others(seen(unit), was, "q.service", engines), engines, "vllm") == [
        "unit file: not known, no launch can be read from /opt/run.sh"
    ]


def test_an_instance_of_a_template(engines: Mapping[str, Engine]) -> None:
    unit = "[Service]\nExecStart=/opt/env/bin/vllm serve /models/%i --port 8000\n"
    path = "/etc/systemd/system/v@.service"
    at = [Artefact(path=path, kind="unit", text=unit), Artefact(path=f"{path[:-8]}a.service", kind="unit", text=unit)]
    was = candidate_to_revision(next(one for one in discover(at, engines=engines) if one.unit == "v@a.service"))
    now = UnitFile(there=True, parts=(UnitPart(kind="unit", path=path, text=unit.replace("8000", "8001")),))
    assert lines(declared_by_others(now, was, "v@a.service", engines), engines, "vllm") == [
        "port: recorded 8000, the unit file says 8001"
    ]


def test_a_found_unit_that_is_gone(engines: Mapping[str, Engine]) -> None:
    found = declared_by_others(UnitFile(there=False), recorded(engines), "q.service", engines)
    assert lines(found, engines) == ["unit file: recorded from q.service, the host has no such unit now"]


def test_the_unit_of_a_revision_is_where_it_was_found(engines: Mapping[str, Engine]) -> None:
    revision = recorded(engines)
    assert found_unit(revision) == ("q.service", Q)
    changed = replace(revision, argv=(*revision.argv, "--x"), parent=revision.id, source="request")
    assert found_unit(changed) == ("q.service", Q)
    assert as_found(changed, {revision.id: revision}) == revision
    assert as_found(changed, {}) is None
    assert found_unit(replace(revision, source="catalog file", provenance={})) is None
    transient = replace(
        revision, source="scan: proc /proc/1", provenance={"unit": "unit run-1.service", "argv": "proc /proc/1"}
    )
    assert found_unit(transient) is None
    instance = replace(revision, provenance={"unit": "unit q@a.service", "argv": "unit /etc/systemd/system/q@.service"})
    assert found_unit(instance) == ("q@a.service", "/etc/systemd/system/q.service")


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_no_recorded_host_shows_a_change_where_its_sources_agree(
    case: dict[str, Any], engines: Mapping[str, Engine]
) -> None:
    artefacts = [artefact_from_row(row) for row in case["artefacts"]]
    for candidate in discover(artefacts, engines=engines):
        revision = candidate_to_revision(candidate)
        place = found_unit(revision)
        if place is None or candidate.contradictions:
            continue
        name = place[0]
        owners = (name, name.replace(".service", ".container"), re.sub(r"@.*", "@.service", name))
        of_units = [(unit_name(one.path).name, one) for one in artefacts if one.kind in ("unit", "dropin")]
        # systemd has one file for a unit: its own before its template's
        own = next(owner for owner in owners if any(owner == of and one.kind == "unit" for of, one in of_units))
        chosen = [one for of, one in of_units if of == own or (of in owners and one.kind == "dropin")]
        chosen += [one for one in artefacts if one.kind in ("env_file", "script")]
        parts = tuple(UnitPart(kind=one.kind, path=one.path, text=one.text) for one in chosen)
        found = declared_by_others(UnitFile(there=True, parts=parts), revision, name, engines)
        unknown = [one for one in found.findings if one.judgement is Judgement.UNKNOWN]
        assert len(lines(found, engines, candidate.engine.replace(".", "_"))) == len(unknown)
