"""A systemd host on which others have launched engines in their own ways, with the bot beside it."""

import base64
import json
import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from bot.practice.hosts import models
from tests.integration.story.conftest import ENVIRONMENT, Stage, beside
from tests.rig.host import RigHost
from tests.rig.practice_engine import PracticeEngines

SECRET = "hf_" + "q7Xv" * 8
_PYTHON = f"{ENVIRONMENT}/bin/python3 -m sglang.launch_server"
_UNIT = f"""[Unit]
Description=Small model of the agents team
[Service]
EnvironmentFile=/etc/llm/hf.env
Environment="OMP_NUM_THREADS=8"
WorkingDirectory=/opt/models
ExecStart={_PYTHON} --model-path /opt/models/Small-2B --port 30010
[Install]
WantedBy=multi-user.target
"""
_DROP_IN = f"""[Service]
Environment=SGLANG_TORCH_PROFILER_DIR=/var/tmp/profile
ExecStart=
ExecStart={_PYTHON} --model-path /opt/models/Small-2B \\
  --served-model-name "small agents %H" --host 127.0.0.1 --port 30010 \\
  --mem-fraction-static 0.2 --json-model-override-args '{{"rope_theta": 1e6}}' --enable-metrics
"""
_SCRIPT = f"""#!/bin/bash
set -e
MODEL=/opt/models/Small-2B
PORT=30011
cd /opt/models
export CUDA_VISIBLE_DEVICES=1
nohup {_PYTHON} --model-path "$MODEL" --host 127.0.0.1 --port $PORT \\
  --mem-fraction-static 0.2 >/root/run/small.log 2>&1 &
"""
LLAMA = "/opt/llama.cpp/bin/llama-server -m /opt/models/tiny.gguf --alias tiny --host 127.0.0.1 --port 30012 -ngl 99"
_DOCKER = """#!/bin/sh
# a container shape without a container: this host has no docker
case $1 in
ps) echo 4f1c2a9b77de ;;
inspect) cat /usr/local/share/container.json ;;
*) exit 1 ;;
esac
"""
_CONTAINER = [
    {
        "Id": "4f1c2a9b77de" + "0" * 52,
        "Name": "/vllm-rerank",
        "Created": "2026-11-28T08:00:00.0Z",
        "Path": "vllm",
        "Args": ["serve", "/models/reranker", "--port", "8000"],
        "State": {"Status": "running", "Running": True, "Pid": 0, "StartedAt": "2026-11-28T08:00:01.0Z"},
        "Config": {
            "Image": "vllm/vllm-openai:v0.10.2",
            "Env": [f"HF_TOKEN={SECRET}", "VLLM_USE_V1=1"],
            "Cmd": ["serve", "/models/reranker", "--port", "8000"],
            "Entrypoint": ["vllm"],
            "WorkingDir": "/workspace",
            "User": "",
            "Labels": {},
        },
        "HostConfig": {
            "NetworkMode": "bridge",
            "Binds": ["/srv/models:/models:ro"],
            "PortBindings": {"8000/tcp": [{"HostIp": "", "HostPort": "8010"}]},
            "RestartPolicy": {"Name": "unless-stopped"},
            "DeviceRequests": [{"Driver": "", "Count": -1, "DeviceIDs": None, "Capabilities": [["gpu"]]}],
        },
        "NetworkSettings": {"Ports": {"8000/tcp": [{"HostIp": "0.0.0.0", "HostPort": "8010"}]}},
        "Mounts": [{"Type": "bind", "Source": "/srv/models", "Destination": "/models", "RW": False}],
    }
]


@pytest.fixture(scope="module")
def stage(_rig_hosts: Callable[[], RigHost], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """The host as others left it, and the bot, which knows nothing of what runs there."""
    host = _rig_hosts()
    engines = PracticeEngines(host, start_s=1.0)
    engines.install(ENVIRONMENT, ["sglang"])
    engines.install_llama_server("/opt/llama.cpp/bin/llama-server")
    engines.model("/opt/models", replace(models.qwen_27b(), name="Small-2B", gib=4.0, shards=2))
    engines.gguf("/opt/models/tiny.gguf", gib=1.0, tok_s=90.0)
    _launch(host)
    with beside(host, engines, tmp_path_factory.mktemp("scan"), _catalog(host), level_s=1.0, tokens=16) as made:
        yield made


def _catalog(host: RigHost) -> dict[str, Any]:
    entry = {"address": host.address, "user": "root", "identity_file": host.host().identity_file}
    return {"hosts": {"attic": entry}, "configs": []}


def _launch(host: RigHost) -> None:
    """Three servers, started in three ways, a container's shape, and a long history."""
    put(host, "/etc/llm/hf.env", f"HF_TOKEN={SECRET}\nHF_HUB_OFFLINE=1\n", mode="600")
    put(host, "/etc/systemd/system/small-agents.service", _UNIT)
    put(host, "/etc/systemd/system/small-agents.service.d/override.conf", _DROP_IN)
    put(host, "/root/run/small.sh", _SCRIPT, mode="755")
    put(host, "/usr/local/bin/docker", _DOCKER, mode="755")
    put(host, "/usr/local/share/container.json", json.dumps(_CONTAINER))
    lines = [f"git log --oneline -{number % 90} | grep -v fix{number}" for number in range(20_000)]
    lines[4_000] = f"{_PYTHON} --model-path /opt/models/Gone-7B --port 30020"
    lines[19_000] = "bash /root/run/small.sh"
    lines[19_990] = f"CUDA_VISIBLE_DEVICES=1 setsid {LLAMA} >/dev/null 2>&1 &"
    (host.root / "root/.bash_history").write_text("\n".join(lines) + "\n")
    host.run("systemctl daemon-reload && systemctl start small-agents")
    host.run("cd /root/run && bash small.sh </dev/null >/dev/null 2>&1")
    host.run(f"cd / && CUDA_VISIBLE_DEVICES=1 setsid {LLAMA} >/dev/null 2>&1 </dev/null &")
    for port in (30010, 30011, 30012):
        host.until(f"curl -sf http://127.0.0.1:{port}/health")


def put(host: RigHost, path: str, text: str, *, mode: str = "644") -> None:
    """Write a file on the host, as its own root."""
    data = base64.b64encode(text.encode()).decode()
    folder = shlex.quote(path.rpartition("/")[0])
    host.run(f"mkdir -p {folder} && echo {data} | base64 -d >{shlex.quote(path)} && chmod {mode} {shlex.quote(path)}")
