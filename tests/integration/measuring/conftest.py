"""A fake OpenAI server of its own process for each test that asks for one."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "templates/scripts/load.py"


@dataclass
class FakeOpenAI:
    """A running fake server."""

    port: int
    process: "subprocess.Popen[bytes]"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def seen(self) -> dict[str, Any]:
        """Prompts, last bodies and the largest number of streams at once."""
        with urllib.request.urlopen(f"{self.url}/seen", timeout=5) as reply:
            answer: dict[str, Any] = json.load(reply)
        return answer


@pytest.fixture
def openai() -> Iterator[Callable[..., FakeOpenAI]]:
    """Starts servers: openai(ttft_ms=5, fail_every=3); options are in fake_openai.DEFAULTS."""
    running: list[FakeOpenAI] = []

    def start(**options: Any) -> FakeOpenAI:
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("fake_openai.py")), json.dumps(options)],
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        running.append(FakeOpenAI(int(process.stdout.readline()), process))
        return running[-1]

    yield start
    for server in running:
        server.process.kill()
        server.process.wait()
        if server.process.stdout:
            server.process.stdout.close()
