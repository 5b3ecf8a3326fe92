"""One scan of a real host finds what others launched there, writes nothing, and a found unit starts as it was."""

import shlex

import pytest

from bot.core.discovery.candidate import Candidate
from bot.core.domain.catalog import SecretRef
from bot.workflows.scan import scan_host
from tests.acceptance.thread import ANA
from tests.integration.discovery.conftest import LLAMA, SECRET
from tests.integration.story.conftest import ENVIRONMENT, Stage
from tests.integration.story.test_systemd_story import press

pytestmark = pytest.mark.rig

#: what logging in writes by itself
_LOGIN = r"/var/log/(lastlog|wtmp|btmp|journal.*|auth.log)|/run(/.*)?|/var/lib/systemd/.*"


def test_one_scan_finds_every_launch_and_writes_nothing(stage: Stage) -> None:
    services = stage.app.ready
    host = services.hosts.inventory().hosts["attic"]
    before = _files(stage)

    found = scan_host(services, host)

    assert _files(stage) - before == set()
    assert found.unread == ()
    candidates = {one.port or one.container: one for one in found.candidates}
    _check_unit(stage, candidates["30010"])
    _check_script(stage, candidates["30011"])
    _check_setsid(stage, candidates["30012"])
    _check_container(candidates["8010"])
    # of the past only: known from one line of the history
    assert candidates["30020"].status is None
    assert [one.kind for one in candidates["30020"].evidence] == ["history"]
    assert SECRET not in str(found)


def _check_unit(stage: Stage, found: Candidate) -> None:
    assert [str(word) for word in found.argv] == _running(stage, 30010)
    assert found.unit == "small-agents.service"
    assert found.cwd == "/opt/models"
    assert found.status == "running"
    env = dict(found.env)
    assert isinstance(env["HF_TOKEN"], SecretRef)
    assert "/etc/llm/hf.env" in env["HF_TOKEN"].source
    assert env["HF_HUB_OFFLINE"] == "1"
    assert env["OMP_NUM_THREADS"] == "8"
    assert env["SGLANG_TORCH_PROFILER_DIR"] == "/var/tmp/profile"
    assert {"unit", "proc"} <= {one.kind for one in found.evidence}
    assert "unit" in found.provenance["env.OMP_NUM_THREADS"].source


def _check_script(stage: Stage, found: Candidate) -> None:
    assert [str(word) for word in found.argv] == _running(stage, 30011)
    assert found.cwd == "/opt/models"
    assert found.status == "running"
    assert dict(found.env)["CUDA_VISIBLE_DEVICES"] == "1"
    assert any(one.kind == "script" and one.path == "/root/run/small.sh" for one in found.evidence)


def _check_setsid(stage: Stage, found: Candidate) -> None:
    assert found.engine == "llama.cpp"
    assert found.status == "running"
    assert [str(word) for word in found.argv] == shlex.split(LLAMA)
    assert {"proc", "history"} <= {one.kind for one in found.evidence}


def _check_container(found: Candidate) -> None:
    assert found.engine == "vllm"
    assert found.container == "vllm-rerank"
    assert found.image == "vllm/vllm-openai:v0.10.2"
    assert isinstance(dict(found.env)["HF_TOKEN"], SecretRef)


def test_the_found_unit_is_saved_stopped_and_started_byte_for_byte(stage: Stage) -> None:
    talk, host = stage.talk, stage.host
    running = _cmdline(stage, 30010)
    ts = talk.say("@Relaunch scan attic")
    card = talk.wait_message(ts, "small-agents")
    label = next(text for text in _labels(card) if text.startswith("Save ") and "small-agents" in text)
    press(talk, card, label)
    talk.wait(ts, "aved")
    assert SECRET not in str(talk.replies(ts))

    ts = talk.say("@Relaunch stop small-agents on attic")
    stop = talk.wait_message(ts, "Approve: stop")
    talk.click(stop["ts"], "Approve")
    talk.wait(ts, "is stopped on attic")
    assert host.run("systemctl is-active small-agents || true").strip() in ("inactive", "failed")

    ts = talk.say("@Relaunch start small-agents on attic")
    ready = talk.wait(ts, "is ready on attic")
    assert "runs exactly the planned command" in ready
    # neither the found unit nor what only this host fills into it has changed
    assert "unit file" not in str(talk.replies(ts))
    assert _cmdline(stage, 30010) == running
    started = _environment(stage, 30010)
    assert started["HF_TOKEN"] == SECRET
    assert started["OMP_NUM_THREADS"] == "8"
    assert SECRET not in str(talk.replies(ts))


def test_health_names_what_changed_since_the_start(stage: Stage) -> None:
    talk = stage.talk
    stage.engines.upgrade(ENVIRONMENT, "sglang", "0.5.12")
    stage.engines.upgrade(ENVIRONMENT, "torch", "2.12.0")
    edit = 's/"--mem-fraction-static" "0.2"/"--mem-fraction-static" "0.3"/'
    stage.host.run(f"sed -i {shlex.quote(edit)} /etc/systemd/system/relaunch-small-agents-*.service")

    ts = talk.say("@Relaunch health of attic", user=ANA)

    health = talk.wait(ts, "proven with")
    assert "sglang: proven with 0.5.11, now 0.5.12" in health
    assert "torch: proven with 2.11.0, now 2.12.0" in health
    assert "mem-fraction-static: recorded 0.2, the unit file says 0.3" in health
    assert health.count("unit file") == 1


def _labels(message: dict[str, object]) -> list[str]:
    blocks = message["blocks"]
    assert isinstance(blocks, list)
    elements = [element for block in blocks for element in block.get("elements", [])]
    return [element["text"]["text"] for element in elements if element.get("type") == "button"]


def _files(stage: Stage) -> set[str]:
    """Every file of the host with its size, mode and times of change."""
    listed = stage.host.run(
        f"find / -xdev -regextype posix-extended -regex {shlex.quote(_LOGIN)} -prune -o -printf '%p %s %m %T@ %C@\\n'"
    )
    return set(listed.splitlines())


def _pid(stage: Stage, port: int) -> int:
    row = stage.host.run(f"ss -Hltnp 'sport = :{port}'")
    return int(row.partition("pid=")[2].partition(",")[0])


def _cmdline(stage: Stage, port: int) -> str:
    """/proc/PID/cmdline of the port's owner, in base64."""
    return stage.host.run(f"base64 -w0 /proc/{_pid(stage, port)}/cmdline")


def _running(stage: Stage, port: int) -> list[str]:
    return stage.host.run(f"tr '\\0' '\\n' </proc/{_pid(stage, port)}/cmdline").splitlines()


def _environment(stage: Stage, port: int) -> dict[str, str]:
    lines = stage.host.run(f"tr '\\0' '\\n' </proc/{_pid(stage, port)}/environ").splitlines()
    return dict(line.partition("=")[::2] for line in lines)
