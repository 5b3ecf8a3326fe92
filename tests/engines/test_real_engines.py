"""Real vLLM and llama-server on the CPU behind a real sshd: what Relaunch measures is what the server counted.

Run by `make test-engine`; skipped where tests/engines/install was not run. No speed is asserted: machines differ.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot.adapters.clock.system import SystemClock
from bot.adapters.local_python import SubprocessPython
from bot.adapters.model_server import HttpModelServer
from bot.core.domain.engine import Engine
from bot.core.domain.measurement import Measurement, Workload
from bot.core.engines.llama_cpp import ENGINE as LLAMA
from bot.core.engines.vllm import ENGINE as VLLM
from bot.workflows.measure import measure
from tests.engines.servers import INSTALL, ROOT, VLLM_ENV, Engines, engines, running
from tests.rig.sshd import Sshd, free_port

pytestmark = [pytest.mark.engine, pytest.mark.sshd, pytest.mark.timeout(600)]
SCRIPT = ROOT / "templates/scripts/load.py"
WORKLOAD = Workload(concurrency=(1, 3), prompt_tokens=100, output_tokens=48, max_level_s=4.0)
Server = tuple[str, int]


@pytest.fixture(scope="module")
def at() -> Engines:
    found = engines()
    if found.missing():
        pytest.skip(f"not installed: {', '.join(found.missing())}; {INSTALL}")
    return found


@pytest.fixture(scope="module")
def vllm(at: Engines, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    port = free_port()
    with running(at.vllm_argv(port), port, tmp_path_factory.mktemp("vllm") / "log", VLLM_ENV) as url:
        yield url, port


@pytest.fixture
def llama(at: Engines, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    open_servers = []

    def start(*, draft: bool = False) -> Server:
        port = free_port()
        server = running(at.llama_argv(port, draft=draft), port, tmp_path / "log")
        url = server.__enter__()
        open_servers.append(server)
        return url, port

    yield start
    for server in open_servers:
        server.__exit__(None, None, None)


def through_ssh(sshd: Sshd, server: Server, engine: Engine) -> tuple[Measurement, float]:
    """A measurement, and the growth of the server's own counter over the whole of it."""
    url, port = server
    http = HttpModelServer()
    before = engine.parse_metrics(http.get_text(url, "/metrics") or "").generation_tokens_total or 0.0
    measurement = measure(
        sshd.remote(),
        sshd.host(),
        port,
        engine,
        None,
        WORKLOAD,
        SystemClock(),
        lambda _: None,
        script=SCRIPT.read_bytes(),
        local=SubprocessPython(),
    )
    after = engine.parse_metrics(http.get_text(url, "/metrics") or "").generation_tokens_total or 0.0
    http.close()
    return measurement, after - before


def check(measurement: Measurement, counted: float) -> None:
    """Every measured token was counted by the server, which also saw warm-up and trials, and nobody else."""
    own = sum(level.tokens for level in measurement.levels)
    assert 0 < own < counted
    assert measurement.where == "on the host"
    assert not {"shared", "counters", "failures", "short", "cached"} & set(measurement.doubts), measurement.caveats
    for level in measurement.levels:
        assert level.failed == 0
        assert level.counted_tokens is not None
        assert level.tokens == pytest.approx(level.counted_tokens, rel=0.02)
        assert level.tokens % WORKLOAD.output_tokens == 0
        assert level.prompt_tokens == pytest.approx(100, rel=0.15)


def test_vllm(sshd: Sshd, vllm: Server) -> None:
    measurement, counted = through_ssh(sshd, vllm, VLLM)
    check(measurement, counted)
    assert measurement.accept_length is None


def test_llama_server(sshd: Sshd, llama: Callable[..., Server]) -> None:
    measurement, counted = through_ssh(sshd, llama(), LLAMA)
    check(measurement, counted)
    assert measurement.accept_length is None


def test_llama_server_with_a_draft_model(sshd: Sshd, llama: Callable[..., Server]) -> None:
    measurement, counted = through_ssh(sshd, llama(draft=True), LLAMA)
    check(measurement, counted)
    assert measurement.facts["speculation_from"] == "counters"
    assert measurement.accept_length
    assert 1 < measurement.accept_length <= 4  # at most three drafts and the target's own token
    assert len(measurement.acceptance_per_position) == 3


def test_a_real_token_and_the_model_come_back(vllm: Server) -> None:
    http = HttpModelServer()
    assert http.health(vllm[0], "/health") == (200, "ok")
    assert http.models(vllm[0]) == ("tiny",)
    assert http.token(vllm[0], "tiny")
    http.close()
