"""A container that somebody else runs with podman, over OpenSSH: found, saved, stopped by its name, started again."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from bot.app import App
from bot.cli.practice_bot import practice_bot
from bot.core.discovery.candidate import candidate_to_revision
from bot.core.domain.catalog import SecretRef
from bot.practice.hosts import models
from bot.practice.run import run
from bot.workflows.scan import scan_host
from tests.acceptance.thread import Talk, words
from tests.integration.story.test_systemd_story import press
from tests.rig import practice_engine
from tests.rig.containers import IMAGE, ContainerHost
from tests.rig.practice_engine import GPU_FOLDER, PracticeEngines
from tests.rig.sshd import free_port

pytestmark = pytest.mark.rig

SECRET = "hf_" + "q7Xv" * 8
ENVIRONMENT = "/opt/llm/env"


class Scene:
    """The host, the bot, and what somebody started there."""

    def __init__(self, boxes: ContainerHost, talk: Talk, app: App, port: int) -> None:
        self.boxes = boxes
        self.talk = talk
        self.app = app
        self.port = port
        self.options = [
            "--network=host",
            # the process sees its own number as the host has it, as real drivers do
            "--pid=host",
            f"--volume={boxes.root}{ENVIRONMENT}:{ENVIRONMENT}:ro",
            f"--volume={boxes.root}/opt/models:/models:ro",
            f"--volume={boxes.root}{GPU_FOLDER}:{GPU_FOLDER}",
            "--shm-size=256m",
        ]
        self.argv = shlex.split(
            f"{ENVIRONMENT}/bin/python3 -m sglang.launch_server --model-path /models/Small-2B "
            f'--served-model-name "small box" --host 127.0.0.1 --port {port} --mem-fraction-static 0.2 --enable-metrics'
        )

    def start_by_hand(self) -> None:
        """As a person would."""
        words = ["podman", "run", "-d", "--name", "small-box", *self.options, "--env-file", f"{self.boxes.root}/hf.env"]
        words += ["-e", "OMP_NUM_THREADS=8", "-w", "/models", IMAGE, *self.argv]
        self.boxes.run(shlex.join(words))
        self.boxes.until(f"curl -sf http://127.0.0.1:{self.port}/health")

    def running(self) -> list[str]:
        """Names of the containers that run."""
        return self.boxes.run("podman ps --format '{{.Names}}'").split()

    def process(self, name: str) -> tuple[list[str], dict[str, str]]:
        """argv and environment of a container's main process."""
        pid = self.boxes.run(f"podman inspect --format '{{{{.State.Pid}}}}' {name}").strip()
        argv = self.boxes.run(f"tr '\\0' '\\n' </proc/{pid}/cmdline").splitlines()
        env = self.boxes.run(f"tr '\\0' '\\n' </proc/{pid}/environ").splitlines()
        return argv, dict(line.partition("=")[::2] for line in env)


@pytest.fixture(scope="module")
def scene(container_host: ContainerHost, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    boxes = container_host
    engines = PracticeEngines(boxes, start_s=1.0)
    engines.install(ENVIRONMENT, ["sglang"])
    engines.model("/opt/models", replace(models.qwen_27b(), name="Small-2B", gib=4.0, shards=2))
    shim = boxes.root / "usr/local/bin/nvidia-smi"
    shown = Path(practice_engine.__file__).with_name("nvidia-smi")
    shim.write_text(
        shim.read_text()
        .replace("/usr/bin/nvidia-smi", str(shown))
        .replace('open("/run/gpus.json"))\nfor', f'open("{boxes.root}/gpus.json"))\nfor')
        .replace(GPU_FOLDER, f"{boxes.root}{GPU_FOLDER}")
    )
    (boxes.root / "hf.env").write_text(f"HF_TOKEN={SECRET}\n")
    folder = tmp_path_factory.mktemp("scan-boxes")
    manifest = Path(__file__).parents[3] / "manifest.yaml"
    host = boxes.host()
    entry = {"address": host.address, "port": host.port, "user": host.user, "identity_file": host.identity_file}
    with run(0, folder, manifest=manifest, rate_limits=False, hosts=[]) as practice:
        practice.catalog_file.write_text(yaml.safe_dump({"hosts": {"boxes": entry}, "configs": []}))
        with practice.known_hosts_file.open("a") as file:
            file.write(boxes.sshd.known_hosts_line)
        with practice_bot(practice, measure_level_s=0.3, measure_output_tokens=16, measure_concurrency=(1,)) as app:
            made = Scene(boxes, Talk(practice), app, free_port())
            made.start_by_hand()
            yield made
            assert practice.workspace.refusals() == []
    boxes.remove_all()


def test_a_running_container_is_found_as_it_was_started(scene: Scene) -> None:
    services = scene.app.ready
    [found] = [
        one
        for one in scan_host(services, services.hosts.inventory().hosts["boxes"]).candidates
        if one.port == str(scene.port)
    ]

    assert [str(word) for word in found.argv] == scene.argv
    assert (found.engine, found.container, found.image, found.status) == ("sglang", "small-box", IMAGE, "running")
    env = dict(found.env)
    assert isinstance(env["HF_TOKEN"], SecretRef)
    assert env["OMP_NUM_THREADS"] == "8"
    assert not {"HOSTNAME", "PATH", "container", "HOME", "TERM"} & set(env)
    assert found.cwd == "/models"
    assert found.run is not None
    assert found.run.tool == "podman"
    assert sorted(found.run.options) == sorted(scene.options)
    assert found.run.image_id is not None
    assert {"inspect", "proc"} <= {one.kind for one in found.evidence}
    assert candidate_to_revision(found).provenance["container"] == "container small-box"
    assert SECRET not in str(found)


def test_it_is_saved_and_restarted_as_ours(scene: Scene) -> None:
    talk = scene.talk
    argv, _ = scene.process("small-box")
    ts = talk.say("@Relaunch scan boxes")
    card = talk.wait_message(ts, "small-box")
    number = re.search(r"(\d+)\. small-box", words(card))
    assert number is not None
    press(talk, card, f"Save {number[1]}. small-box")
    talk.wait(ts, "aved")

    ts = talk.say("@Relaunch restart small-box on boxes")
    card = talk.wait_message(ts, "Approve: restart")
    plan = talk.wait(ts, "Plan: restart")
    assert "stop container small-box" in plan
    assert "podman run \\\n  --detach" in plan
    assert "--shm-size=256m" in plan
    talk.click(card["ts"], "Approve")
    stopped = talk.wait(ts, "is stopped on boxes")
    assert f"port {scene.port} is closed" in stopped
    assert "GPU memory returned" in stopped

    ready = talk.wait(ts, "tok/s for one stream")
    assert "runs exactly the planned command" in ready
    assert f"owns port {scene.port}" in ready
    [name] = scene.running()
    assert name.startswith("relaunch-small-box-")
    again, given = scene.process(name)
    assert again == argv
    assert (given["HF_TOKEN"], given["OMP_NUM_THREADS"]) == (SECRET, "8")
    assert SECRET not in str(talk.replies(ts))


def test_ours_is_stopped(scene: Scene) -> None:
    talk = scene.talk
    ts = talk.say("@Relaunch stop small-box on boxes")
    card = talk.wait_message(ts, "Approve: stop")
    talk.click(card["ts"], "Approve")

    stopped = talk.wait(ts, "is stopped on boxes")

    assert "its processes are gone" in stopped
    assert scene.running() == []
    # both are still there, ended: nothing is removed that a person may want to look at
    assert len(scene.boxes.run("podman ps -aq").split()) == 2
