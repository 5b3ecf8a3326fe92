"""The real bot beside the practice workspace, with a systemd host of tests/rig that is reached by OpenSSH."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.app import App
from bot.cli.practice_bot import practice_bot
from bot.practice.hosts import models
from bot.practice.run import run
from tests.acceptance.thread import Talk
from tests.rig.host import RigHost
from tests.rig.practice_engine import PracticeEngines

START_S = 2.0
ENVIRONMENT = "/opt/llm/env"
#: one host under three names, one for each account: root, with sudo, without
ACCOUNTS = {"ct7": "root", "opsbox": "ops", "devbox": "dev"}
_COMMAND = (
    "{env}/bin/python3 -m sglang.launch_server --model-path /opt/models/Qwen3.6-27B --served-model-name {served} "
    "--host 127.0.0.1 --port {port} --tp 2 --context-length 131072 --mem-fraction-static 0.88 "
    "--max-running-requests 10 {more} --enable-metrics"
)
_MTP = (
    "--speculative-algorithm NEXTN --speculative-num-steps 3 --speculative-eagle-topk 1 "
    "--speculative-num-draft-tokens 4"
)


class Stage:
    """Host, engines, workspace and bot of one test module."""

    def __init__(self, host: RigHost, engines: PracticeEngines, talk: Talk, start_bot: Callable[[], Any]) -> None:
        self.host = host
        self.engines = engines
        self.talk = talk
        self._start_bot = start_bot
        self._running: contextlib.ExitStack | None = None
        self._app: App | None = None

    @property
    def app(self) -> App:
        """The bot that runs."""
        assert self._app is not None
        return self._app

    def open_bot(self) -> None:
        """Start the bot."""
        self._running = contextlib.ExitStack()
        self._app = self._running.enter_context(self._start_bot())

    def close_bot(self) -> None:
        """End the bot; what it started runs on."""
        if self._running is not None:
            self._running.close()
        self._running = self._app = None

    @contextlib.contextmanager
    def slow_start(self, start_s: float) -> Iterator[None]:
        """Meanwhile a start takes long enough for something to happen."""
        self.engines.takes(start_s)
        try:
            yield
        finally:
            self.engines.takes(START_S)

    def gpus_hold(self, *processes: dict[str, Any]) -> None:
        """What nvidia-smi shows beside our engines, as {"pid", "mib", "name"}."""
        self.host.set_gpu_processes(list(processes), used_mib=1 + sum(one["mib"] for one in processes))


@pytest.fixture(scope="module")
def stage(_rig_hosts: Callable[[], RigHost], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A furnished host and the bot, running."""
    host = _rig_hosts()
    host.add_user("ops", sudo=True)
    host.add_user("dev")
    engines = PracticeEngines(host, start_s=START_S)
    engines.install(ENVIRONMENT, ["sglang"])
    engines.model("/opt/models", models.qwen_27b())
    with beside(host, engines, tmp_path_factory.mktemp("story"), _catalog(host), level_s=2.0, tokens=32) as made:
        yield made


@contextlib.contextmanager
def beside(
    host: RigHost, engines: PracticeEngines, folder: Path, catalog: dict[str, Any], *, level_s: float, tokens: int
) -> Iterator[Stage]:
    """The practice workspace and the bot beside a systemd host. `level_s`, `tokens`: of a measurement."""
    manifest = Path(__file__).parents[3] / "manifest.yaml"
    with run(0, folder, manifest=manifest, rate_limits=False, hosts=[]) as practice:
        practice.catalog_file.write_text(yaml.safe_dump(catalog, width=10_000))
        with practice.known_hosts_file.open("a") as file:
            file.write(host.known_hosts_line + "\n")
        made = Stage(
            host,
            engines,
            Talk(practice),
            lambda: practice_bot(practice, measure_level_s=level_s, measure_output_tokens=tokens),
        )
        made.open_bot()
        try:
            yield made
            assert practice.workspace.refusals() == []
        finally:
            made.close_bot()


def _catalog(host: RigHost) -> dict[str, Any]:
    hosts = {
        name: {
            "address": host.address,
            "user": user,
            "gpus": "2x NVIDIA RTX A6000 48GB",
            "identity_file": host.host().identity_file,
        }
        for name, user in ACCOUNTS.items()
    }
    configs = [_config("qwen3.6-27b-mtp", "ct7", 30000, _MTP, ["stock mtp"])]
    configs += [_config(f"qwen3.6-27b-{name}", name, 30001, "", []) for name in ("opsbox", "devbox")]
    return {"hosts": hosts, "configs": configs}


def _config(name: str, host: str, port: int, more: str, tags: list[str]) -> dict[str, Any]:
    return {
        "name": name,
        "model": "Qwen3.6-27B",
        "engine": "sglang",
        "host": host,
        "tags": tags,
        "command": _COMMAND.format(env=ENVIRONMENT, served="qwen3.6-27b", port=port, more=more).replace("  ", " "),
    }
