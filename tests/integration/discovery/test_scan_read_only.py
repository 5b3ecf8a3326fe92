"""A scan past Slack: the answer and the catalog hold no secret, the host is as it was, and the unit's find starts."""

import json
import shlex
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from bot.cli.practice_bot import practice_bot
from bot.core.catalog.files import catalog_to_yaml_data
from bot.core.discovery.candidate import Candidate, answer, candidate_to_revision
from bot.core.domain.catalog import SecretRef
from bot.practice.hosts import models
from bot.practice.run import run
from bot.workflows.scan import save_candidate, scan_host
from bot.workflows.services import Services
from tests.acceptance.thread import Talk
from tests.rig.host import RigHost
from tests.rig.practice_engine import PracticeEngines

pytestmark = pytest.mark.rig

_HOST = "loft"
_FOLDERS = "/etc /root /home /opt /srv"
_ENVIRONMENT = "/opt/serve/env"
#: one in the environment file, one in the drop-in
_FILE_SECRET = "hf_" + "Zk3p" * 8
_UNIT_SECRET = "plain-looking-" + "words" * 3
_SGLANG = f"{_ENVIRONMENT}/bin/python3 -m sglang.launch_server"
_LLAMA = "/srv/llama/llama-server -m /srv/models/tiny.gguf --alias tiny --host 127.0.0.1 --port 31002 -c 8192"
_UNIT = f"""[Service]
EnvironmentFile=-/etc/serve/tokens
EnvironmentFile=/etc/serve/main.env
ExecStart={_SGLANG} --model-path ${{MODEL}} --port 31000
"""
_DROP_IN = f"""[Service]
Environment=EXTRA_API_KEY={_UNIT_SECRET} "TITLE=two words"
ExecStart=
ExecStart={_SGLANG} --model-path ${{MODEL}} --host 127.0.0.1 --port 31000 \\
    --served-model-name 'night shift' --mem-fraction-static 0.2 --json-model-override-args '{{"a": [1, "b c"]}}'
"""
_SCRIPT = f"""#!/usr/bin/env bash
: "${{PORT:=31001}}"
cd "$(dirname "$0")"
OMP_NUM_THREADS=4 nohup {_SGLANG} --model-path /srv/models/Small-2B --host 127.0.0.1 \\
  --port=$PORT --mem-fraction-static 0.3 > serve.log 2>&1 &
"""
#: the rig has no container engine: this stands for its command line only, no container runs
_DOCKER = """#!/bin/sh
case $1 in
ps) echo 0a1b2c3d4e5f ;;
inspect) cat /usr/local/share/inspect.json ;;
*) exit 1 ;;
esac
"""
_INSPECT = [
    {
        "Id": "0a1b2c3d4e5f" + "0" * 52,
        "Name": "/embedder",
        "Path": "vllm",
        "Args": ["serve", "/models/embedder", "--port", "8000"],
        "State": {"Status": "running", "Running": True, "Pid": 0, "StartedAt": "2026-11-28T08:00:01.0Z"},
        "Config": {
            "Image": "vllm/vllm-openai:v0.10.2",
            "Env": [f"HF_TOKEN={_FILE_SECRET}", "VLLM_USE_V1=1"],
            "Cmd": ["serve", "/models/embedder", "--port", "8000"],
            "Entrypoint": ["vllm"],
            "Labels": {},
        },
        "HostConfig": {
            "NetworkMode": "bridge",
            "Binds": ["/srv/models:/models:ro"],
            "PortBindings": {"8000/tcp": [{"HostIp": "", "HostPort": "31003"}]},
        },
        "NetworkSettings": {"Ports": {"8000/tcp": [{"HostIp": "0.0.0.0", "HostPort": "31003"}]}},
        "Mounts": [{"Type": "bind", "Source": "/srv/models", "Destination": "/models", "RW": False}],
    }
]


@pytest.fixture
def host(rig_host_factory: Callable[[], RigHost]) -> RigHost:
    """A unit, a script's nohup and a setsid, all running, a container's shape and a long history."""
    host = rig_host_factory()
    engines = PracticeEngines(host, start_s=1.0)
    engines.install(_ENVIRONMENT, ["sglang"])
    engines.install_llama_server("/srv/llama/llama-server")
    engines.model("/srv/models", replace(models.qwen_27b(), name="Small-2B", gib=4.0, shards=2))
    engines.gguf("/srv/models/tiny.gguf", gib=1.0, tok_s=90.0)
    _put(host, "/etc/serve/tokens", f"HF_TOKEN={_FILE_SECRET}\n", mode=0o600)
    _put(host, "/etc/serve/main.env", "MODEL=/srv/models/Small-2B\nHF_HUB_OFFLINE=1\n")
    _put(host, "/etc/systemd/system/night.service", _UNIT)
    _put(host, "/etc/systemd/system/night.service.d/10-site.conf", _DROP_IN)
    _put(host, "/srv/jobs/serve.sh", _SCRIPT, mode=0o755)
    _put(host, "/usr/local/bin/docker", _DOCKER, mode=0o755)
    _put(host, "/usr/local/share/inspect.json", json.dumps(_INSPECT))
    history = [f"ls -l /var/log/app-{number}.log | sort" for number in range(20_000)]
    history[7_000] = f"HF_TOKEN={_FILE_SECRET} {_SGLANG} --model-path /srv/models/Past-7B --port 31009"
    history[19_400] = "bash /srv/jobs/serve.sh"
    history[19_900] = f"setsid {_LLAMA} >/dev/null 2>&1 &"
    _put(host, "/root/.bash_history", "\n".join(history) + "\n", mode=0o600)
    host.run("systemctl daemon-reload && systemctl start night && bash /srv/jobs/serve.sh </dev/null >/dev/null 2>&1")
    host.run(f"cd / && LLAMA_ARG_THREADS=2 setsid {_LLAMA} >/dev/null 2>&1 </dev/null &")
    for port in (31000, 31001, 31002):
        host.until(f"curl -sf http://127.0.0.1:{port}/health")
    return host


@pytest.fixture
def talk(host: RigHost, tmp_path: Path) -> Iterator[tuple[Talk, Services]]:
    """The bot with an empty catalog, which can reach the host."""
    entry = {"address": host.address, "user": "root", "identity_file": host.host().identity_file}
    manifest = Path(__file__).parents[3] / "manifest.yaml"
    with run(0, tmp_path, manifest=manifest, rate_limits=False, hosts=[]) as practice:
        practice.catalog_file.write_text(yaml.safe_dump({"hosts": {_HOST: entry}, "configs": []}))
        with practice.known_hosts_file.open("a") as file:
            file.write(host.known_hosts_line + "\n")
        with practice_bot(practice, measure_level_s=1.0, measure_output_tokens=16) as app:
            yield Talk(practice), app.ready
        assert practice.workspace.refusals() == []


def test_a_scan_changes_nothing_tells_no_secret_and_its_unit_starts_the_same(
    host: RigHost, talk: tuple[Talk, Services]
) -> None:
    workspace, services = talk
    before = _listing(host)
    began = time.monotonic()
    found = scan_host(services, services.hosts.inventory().hosts[_HOST])
    print(f"scan: {time.monotonic() - began:.2f} s")

    assert _listing(host) == before
    assert found.unread == ()
    assert not _secrets_in(repr(found), json.dumps(answer(found.candidates)))
    by_port = {one.port: one for one in found.candidates}
    assert set(by_port) == {"31000", "31001", "31002", "31003", "31009"}, [str(one) for one in found.candidates]
    _check_unit(host, by_port["31000"])
    _check_script(host, by_port["31001"])
    _check_setsid(host, by_port["31002"])
    _check_container(by_port["31003"])
    assert (by_port["31009"].status, {one.kind for one in by_port["31009"].evidence}) == (None, {"history"})

    old = _cmdline(host, 31000)
    environment = _environment(host, 31000)
    unit = by_port["31000"]
    name = save_candidate(services, _HOST, unit, candidate_to_revision(unit))
    catalog = services.catalog.catalog()
    assert not _secrets_in(json.dumps(catalog_to_yaml_data(catalog, services.hosts.inventory()), default=str))
    host.run("systemctl stop night")
    ts = workspace.say(f"@Relaunch start {name} on {_HOST}")
    workspace.wait(ts, f"is ready on {_HOST}")

    assert _cmdline(host, 31000) == old
    started = _environment(host, 31000)
    same = ("HF_TOKEN", "EXTRA_API_KEY", "TITLE", "HF_HUB_OFFLINE")
    assert {key: started.get(key) for key in same} == {key: environment[key] for key in same}
    assert not _secrets_in(*workspace.texts(ts), json.dumps(workspace.replies(ts)))


def _check_unit(host: RigHost, found: Candidate) -> None:
    assert list(found.argv) == _argv(host, 31000)
    assert (found.engine, found.runner, found.unit, found.status) == ("sglang", "systemd", "night.service", "running")
    env = dict(found.env)
    assert env["HF_TOKEN"] == SecretRef("env file /etc/serve/tokens, HF_TOKEN")
    assert isinstance(env["EXTRA_API_KEY"], SecretRef)
    assert (env["TITLE"], env["HF_HUB_OFFLINE"]) == ("two words", "1")
    assert {"unit", "proc"} <= {one.kind for one in found.evidence}
    assert "/etc/serve/main.env" in found.provenance["env.HF_HUB_OFFLINE"].source


def _check_script(host: RigHost, found: Candidate) -> None:
    assert list(found.argv) == _argv(host, 31001)
    assert (found.runner, found.cwd, found.status) == ("process", "/srv/jobs", "running")
    assert dict(found.env)["OMP_NUM_THREADS"] == "4"
    assert ("script", "/srv/jobs/serve.sh") in {(one.kind, one.path) for one in found.evidence}
    assert "proc" in {one.kind for one in found.evidence}


def _check_setsid(host: RigHost, found: Candidate) -> None:
    # the practice engine's own interpreter stands before the program in /proc
    assert list(found.argv) == shlex.split(_LLAMA) == _argv(host, 31002)[-len(found.argv) :]
    assert (found.engine, found.runner, found.status) == ("llama.cpp", "process", "running")
    assert dict(found.env)["LLAMA_ARG_THREADS"] == "2"
    assert {"proc", "history"} <= {one.kind for one in found.evidence}


def _check_container(found: Candidate) -> None:
    assert (found.engine, found.container, found.image) == ("vllm", "embedder", "vllm/vllm-openai:v0.10.2")
    assert list(found.argv) == ["vllm", "serve", "/models/embedder", "--port", "8000"]
    env = dict(found.env)
    assert isinstance(env["HF_TOKEN"], SecretRef)
    assert env["VLLM_USE_V1"] == "1"
    assert {one.kind for one in found.evidence} == {"inspect"}


def _secrets_in(*texts: str) -> list[str]:
    return [secret for secret in (_FILE_SECRET, _UNIT_SECRET) for text in texts if secret in text]


def _put(host: RigHost, path: str, text: str, *, mode: int = 0o644) -> None:
    target = host.root / path.lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    target.chmod(mode)


def _listing(host: RigHost) -> str:
    """Every path with size and time of change; a log that a running engine writes to is not the scan's."""
    return host.run(f"find {_FOLDERS} -not -name serve.log -printf '%p %s %T@\\n' | sort")


def _cmdline(host: RigHost, port: int) -> bytes:
    return bytes.fromhex(host.run(f"od -An -v -tx1 /proc/{_pid(host, port)}/cmdline"))


def _argv(host: RigHost, port: int) -> list[str]:
    return _cmdline(host, port).decode().rstrip("\0").split("\0")


def _environment(host: RigHost, port: int) -> dict[str, str]:
    text = host.run(f"cat /proc/{_pid(host, port)}/environ")
    return dict(item.partition("=")[::2] for item in text.split("\0") if item)


def _pid(host: RigHost, port: int) -> int:
    """The process that listens."""
    row = host.run(f"ss -Hltnp 'sport = :{port}'")
    return int(row.partition("pid=")[2].partition(",")[0])
