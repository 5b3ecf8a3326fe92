"""Found containers can be run again: image, options, words, whose they are and where their secrets live."""

import json
import shlex
from collections.abc import Mapping
from typing import Any

import pytest

from bot.core.discovery.artefact import Artefact
from bot.core.discovery.candidate import Candidate, candidate_to_revision
from bot.core.discovery.discover import discover
from bot.core.domain.catalog import SecretRef
from bot.core.domain.container import Container, run_words
from bot.core.domain.engine import Engine

#: docker 20.10, what matters of an inspect record
DOCKER: dict[str, Any] = {
    "Id": "4f1c2a9b77de" + "0" * 52,
    "Name": "/rerank",
    "Path": "/entry.sh",
    "Args": ["vllm", "serve", "/models/r", "--port", "8000"],
    "Image": "sha256:" + "ab" * 32,
    "State": {"Status": "running", "Running": True, "Pid": 4711, "StartedAt": "2026-11-28T08:00:01.0Z"},
    "Config": {
        "Image": "vllm/vllm-openai:v0.10.2",
        "Env": ["PATH=/usr/bin", "CUDA_VERSION=12.8", "HF_TOKEN=<secret>", "VLLM_USE_V1=1"],
        "Cmd": ["vllm", "serve", "/models/r", "--port", "8000"],
        "Entrypoint": ["/entry.sh"],
        "WorkingDir": "/workspace",
        "User": "1000:1000",
        "Labels": {},
    },
    "HostConfig": {
        "NetworkMode": "default",
        "Binds": ["/srv/models:/models:ro", "/cache:/root/.cache:rw,rprivate,rbind", "named:/data"],
        "PortBindings": {"8000/tcp": [{"HostIp": "127.0.0.1", "HostPort": "8010"}]},
        "RestartPolicy": {"Name": "unless-stopped"},
        "DeviceRequests": [{"Driver": "", "Count": 0, "DeviceIDs": ["0", "2"], "Capabilities": [["gpu"]]}],
        "Devices": [{"PathOnHost": "/dev/fuse", "PathInContainer": "/dev/fuse", "CgroupPermissions": "rwm"}],
        "IpcMode": "host",
        "ShmSize": 67108864,
        "Ulimits": [{"Name": "memlock", "Soft": -1, "Hard": -1}],
        "Mounts": [{"Type": "bind", "Source": "/etc/hosts", "Target": "/h", "ReadOnly": True}],
        "CapAdd": ["SYS_NICE"],
        "Runtime": "runc",
        "Privileged": False,
    },
    "NetworkSettings": {"Ports": {"8000/tcp": [{"HostIp": "127.0.0.1", "HostPort": "8010"}]}},
}


def found(engines: Mapping[str, Engine], *artefacts: Artefact) -> Candidate:
    [one] = discover(artefacts, engines=engines)
    return one


def inspected(*records: dict[str, Any]) -> Artefact:
    return Artefact(path="docker inspect", kind="inspect", text=json.dumps(list(records), indent=4))


def text(kind: str, path: str, content: str) -> Artefact:
    return Artefact(path=path, kind=kind, text=content)


def test_docker_tells_what_came_of_the_options(engines: Mapping[str, Engine]) -> None:
    one = found(engines, inspected(DOCKER))

    assert one.run == Container(
        image="vllm/vllm-openai:v0.10.2",
        image_id="sha256:" + "ab" * 32,
        tool="docker",
        options=(
            '--gpus="device=0,2"',
            "--device=/dev/fuse",
            "--publish=127.0.0.1:8010:8000",
            "--volume=/srv/models:/models:ro",
            "--volume=/cache:/root/.cache",
            "--volume=named:/data",
            "--mount=type=bind,source=/etc/hosts,target=/h,readonly",
            "--ipc=host",
            "--ulimit=memlock=-1:-1",
            "--cap-add=SYS_NICE",
        ),
        lead=("/entry.sh",),
        image_entrypoint=False,
    )
    assert one.argv == ("vllm", "serve", "/models/r", "--port", "8000")
    revision = candidate_to_revision(one)
    assert revision.container == one.run
    assert (revision.cwd, revision.user) == ("/workspace", "1000:1000")
    assert dict(revision.env)["HF_TOKEN"] == SecretRef("container rerank, environment HF_TOKEN")
    assert "PATH" not in dict(revision.env)
    assert revision.provenance["container"] == "container rerank"
    words = run_words(one.run, one.argv)
    assert words[-7:] == ("--entrypoint=/entry.sh", one.run.image, "vllm", "serve", "/models/r", "--port", "8000")


def test_podman_keeps_the_command_that_made_it(engines: Mapping[str, Engine]) -> None:
    created = shlex.split(
        "podman run -d --rm --name rerank -p 8010:8000 -v /srv/models:/models:ro --device nvidia.com/gpu=0 "
        "--shm-size 8g --restart always -e VLLM_USE_V1=1 --env-file /etc/llm/hf.env -l team=x "
        "vllm/vllm-openai:v0.10.2 serve /models/r"
    )
    record = {
        **DOCKER,
        "Name": "rerank",
        "Image": "cd" * 32,
        "ImageName": "vllm/vllm-openai:v0.10.2",
        "Config": {**DOCKER["Config"], "CreateCommand": created},
    }
    one = found(engines, inspected(record), text("env_file", "/etc/llm/hf.env", "HF_TOKEN=<secret>\n"))

    assert one.run is not None
    assert (one.run.tool, one.run.image_id) == ("podman", "sha256:" + "cd" * 32)
    assert one.run.options == (
        "--publish=8010:8000",
        "--volume=/srv/models:/models:ro",
        "--device=nvidia.com/gpu=0",
        "--shm-size=8g",
    )
    assert dict(one.env)["HF_TOKEN"] == SecretRef("env file /etc/llm/hf.env, HF_TOKEN")


@pytest.mark.parametrize(
    ("line", "lead", "own", "argv"),
    [
        ("lmsysorg/sglang:v0.5 python3 -m sglang.launch_server --model-path /m/a", (), True, ("python3", "-m")),
        ("vllm/vllm-openai:v1 --model /m/a --port 8000", (), True, ("--model", "/m/a")),
        ("vllm/vllm-openai:v1 serve /m/a --port 8000", ("serve",), True, ("/m/a", "--port")),
        ("--entrypoint vllm img:1 serve /m/a --port 8000", (), False, ("vllm", "serve")),
        ("--entrypoint /e.sh img:1 vllm serve /m/a", ("/e.sh",), False, ("vllm", "serve")),
        ("--entrypoint bash img:1 -c 'cd /x && vllm serve /m/a'", (), False, ("vllm", "serve")),
        ("img:1 numactl -N 0 vllm serve /m/a", ("numactl", "-N", "0"), True, ("vllm", "serve")),
    ],
)
def test_the_words_inside(
    engines: Mapping[str, Engine], line: str, lead: tuple[str, ...], own: bool, argv: tuple[str, ...]
) -> None:
    one = found(engines, text("script", "/root/a.sh", f"docker run --gpus all --net host -v /m:/m {line}\n"))

    assert one.run is not None
    assert (one.run.lead, one.run.image_entrypoint, one.argv[:2]) == (lead, own, argv)
    assert one.run.options == ("--gpus=all", "--network=host", "--volume=/m:/m")


def test_a_compose_service(engines: Mapping[str, Engine]) -> None:
    compose = """
services:
  llm:
    image: vllm/vllm-openai:${TAG:-v1}
    command: --model /models/a --port 8000
    ports: ["127.0.0.1:8010:8000", {published: 9000, target: 9001}]
    volumes: [./models:/models:ro, cache:/root/.cache, {type: bind, source: /etc/x, target: /x, read_only: true}]
    ipc: host
    shm_size: 16gb
    ulimits: {memlock: -1, nofile: {soft: 1, hard: 2}}
    restart: always
    init: true
    extra_hosts: {db: 10.0.0.1}
    deploy: {resources: {reservations: {devices: [{driver: nvidia, device_ids: ["1"], capabilities: [gpu]}]}}}
"""
    one = found(engines, text("compose", "/srv/My.App/compose.yaml", compose))

    assert one.run is not None
    assert one.run.image == "vllm/vllm-openai:v1"
    assert one.run.options == (
        '--gpus="device=1"',
        "--publish=127.0.0.1:8010:8000",
        "--publish=9000:9001",
        "--volume=/srv/My.App/models:/models:ro",
        "--volume=myapp_cache:/root/.cache",
        "--mount=type=bind,source=/etc/x,target=/x,readonly",
        "--ulimit=memlock=-1",
        "--ulimit=nofile=1:2",
        "--ipc=host",
        "--shm-size=16gb",
        "--add-host=db:10.0.0.1",
        "--init",
    )
    assert one.run.host_port(8000) == 8010


def test_a_quadlet(engines: Mapping[str, Engine]) -> None:
    quadlet = (
        "[Container]\nImage=vllm/vllm-openai:v1\nExec=--model /m/a\nPublishPort=8010:8000\nVolume=/m:/m:ro\n"
        "AddDevice=nvidia.com/gpu=all\nPodmanArgs=--ipc=host --rm\n"
    )
    one = found(engines, text("unit", "/etc/containers/systemd/llm.container", quadlet))

    assert one.run is not None
    assert one.run.tool == "podman"
    assert one.run.options == (
        "--device=nvidia.com/gpu=all",
        "--publish=8010:8000",
        "--volume=/m:/m:ro",
        "--ipc=host",
    )


def test_what_runs_in_no_container_has_none(engines: Mapping[str, Engine]) -> None:
    one = found(engines, text("script", "/root/a.sh", "vllm serve /m/a\n"))

    assert one.run is None
    assert candidate_to_revision(one).container is None
