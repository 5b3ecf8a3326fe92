"""Practice engines in an environment of their own, started as processes."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.practice.engines.install import make_environment, write_llama_server
from bot.practice.hosts import models

START_S = "0.4"
FAST = "10"


@dataclass(frozen=True)
class Place:
    """Where engines and models are."""

    folder: Path

    @property
    def python(self) -> str:
        return str(self.folder / "env/bin/python3")

    @property
    def model(self) -> str:
        return str(self.folder / "models/Qwen3.6-27B")

    def variables(self, **more: str) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "PRACTICE_GPU_DIR": str(self.folder / "gpu"),
            "PRACTICE_START_S": START_S,
            "PRACTICE_SPEED": FAST,
            **more,
        }

    def fails(self, *words: str, **more: str) -> tuple[int, str]:
        """Exit status and output of a launch that ends by itself."""
        done = subprocess.run(
            words, env=self.variables(**more), capture_output=True, text=True, timeout=30, check=False
        )
        return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """An environment with both engines, llama-server, models, and two cards."""
    folder = tmp_path_factory.mktemp("engines")
    make_environment(folder / "env", ["sglang", "vllm"])
    write_llama_server(folder / "llama/bin/llama-server")
    models.write_model(folder / "models", models.qwen_27b())
    models.write_gguf(folder / "models/small.gguf", 0.1, 90)
    (folder / "gpu").mkdir()
    cards = [{"index": i, "name": "NVIDIA RTX A6000", "memory_mib": 49140, "uuid": f"GPU-{i}"} for i in range(2)]
    (folder / "gpu/gpus.json").write_text(json.dumps({"gpus": cards}))
    return Place(folder)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Server:
    """A running engine."""

    process: subprocess.Popen[bytes]
    port: int
    log_file: Path

    @property
    def log(self) -> str:
        return self.log_file.read_bytes().decode("utf-8", "replace")

    def get(self, path: str, body: dict[str, Any] | None = None) -> tuple[int, str]:
        """Status and text; status 0 when nobody answers."""
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", data, timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)


@contextlib.contextmanager
def serving(place: Place, *words: str, **more: str) -> Iterator[Server]:
    """Start an engine on a free port and wait until it is healthy."""
    port = free_port()
    log_file = place.folder / f"{port}.log"
    with log_file.open("wb") as log:
        process = subprocess.Popen([*words, "--port", str(port)], env=place.variables(**more), stdout=log, stderr=log)
    server = Server(process, port, log_file)
    try:
        until = time.monotonic() + 30
        while server.get("/health")[0] != 200:
            assert process.poll() is None, server.log
            assert time.monotonic() < until, server.log
        yield server
    finally:
        process.kill()
        process.wait()
