"""measure and bench_url over a Remote, with a server of known behaviour behind it."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.adapters.local_python import SubprocessPython
from bot.core.domain.engine import Engine
from bot.core.domain.host import Host
from bot.core.domain.measurement import Workload
from bot.core.engines.vllm import ENGINE
from bot.core.measuring.script import Progress
from bot.errors import TemporaryError
from bot.workflows.measure import MeasurementCancelledError, bench_url, measure
from bot.workflows.ports import Remote
from tests.fakes.remote import FakeRemote
from tests.integration.measuring.conftest import SCRIPT, FakeOpenAI

Start = Callable[..., FakeOpenAI]
WORKLOAD = Workload(concurrency=(1, 3), output_tokens=32, max_level_s=1.0)
HOST = Host(name="gpu1", address="gpu1")


class StoppedClock:
    """Always the same time."""

    def now(self) -> datetime:
        return datetime(2026, 5, 1, 12, tzinfo=UTC)

    def monotonic_s(self) -> float:
        return 0.0

    def sleep(self, seconds: float) -> None:
        raise AssertionError("nothing here waits")


@pytest.fixture(params=["fake", pytest.param("ssh", marks=pytest.mark.sshd)])
def remote_and_host(request: pytest.FixtureRequest) -> tuple[Remote, Host]:
    """A Remote and a host that it reaches."""
    if request.param == "fake":
        return FakeRemote(), HOST
    sshd = request.getfixturevalue("sshd")
    return sshd.remote(), sshd.host()


def go(remote: Remote, host: Host, server: FakeOpenAI, **more: Any) -> Any:
    steps: list[Progress] = []
    arguments: Mapping[str, Any] = {
        "on_progress": steps.append,
        "script": SCRIPT.read_bytes(),
        "local": SubprocessPython(),
        **more,
    }
    return measure(remote, host, server.port, ENGINE, None, WORKLOAD, StoppedClock(), **arguments), steps


def test_measures_on_the_host(openai: Start, remote_and_host: tuple[Remote, Host]) -> None:
    remote, host = remote_and_host
    measurement, steps = go(remote, host, openai(accept_steps=2.5), facts={"engine_version": "0.32.0"})
    assert measurement.where == "on the host"
    assert [level.concurrency for level in measurement.levels] == [1, 3]
    assert measurement.accept_length == pytest.approx(2.5, abs=0.01)
    assert measurement.acceptance_per_position == (0.8, 0.6)
    assert measurement.facts["engine_version"] == "0.32.0"
    assert measurement.facts["host"] == host.name
    assert measurement.caveats == ()
    assert {step.concurrency for step in steps} == {1, 3}


def test_requests_of_others_are_noticed(openai: Start) -> None:
    measurement, _ = go(FakeRemote(), HOST, openai(foreign_tokens_per_s=400))
    assert "shared" in measurement.doubts
    assert any("before the first request" in c for c in measurement.caveats)


def test_without_python_it_measures_through_a_forwarded_port_and_says_so(openai: Start) -> None:
    remote = FakeRemote()
    remote.answer("version_info", exit_status=1)
    measurement, _ = go(remote, HOST, openai())
    assert measurement.where == "through a forwarded port"
    assert "no Python" in measurement.notes[0]
    assert measurement.levels[0].requests > 0


def test_can_be_cancelled_between_records(openai: Start) -> None:
    seen = iter([False, False])
    with pytest.raises(MeasurementCancelledError):
        go(FakeRemote(), HOST, openai(), cancelled=lambda: next(seen, True))


def test_a_server_that_refuses_is_told_in_its_own_words(openai: Start) -> None:
    with pytest.raises(TemporaryError, match="Invalid API key"):
        go(FakeRemote(), HOST, openai(api_key="sk-1"))
    measurement, _ = go(FakeRemote(), HOST, openai(api_key="sk-1"), api_key="sk-1")
    assert measurement.levels[0].failed == 0


def test_the_key_is_not_on_the_command_line(openai: Start) -> None:
    remote = FakeRemote()
    go(remote, HOST, openai(api_key="sk-hidden"), api_key="sk-hidden")
    assert not any("sk-hidden" in command.text for _, command in remote.commands)


def test_a_script_that_dies_is_an_error_with_what_it_said() -> None:
    class Broken:
        @contextlib.contextmanager
        def stream(self, script: bytes, argument: str) -> Iterator[Iterator[bytes]]:
            yield iter([b"Traceback (most rec", b"ent call last):\nMemoryError\n"])

    with pytest.raises(TemporaryError, match="MemoryError"):
        bench("http://127.0.0.1:1", [], local=Broken())


def bench(url: str, engines: Sequence[Engine], **more: Any) -> Any:
    arguments: Mapping[str, Any] = {"local": SubprocessPython(), **more}
    return bench_url(url, WORKLOAD, script=SCRIPT.read_bytes(), engines=engines, clock=StoppedClock(), **arguments)


def test_benches_a_url_and_finds_the_engine_by_its_counters(openai: Start) -> None:
    server = openai(accept_steps=2.0)
    known = bench(server.url, [ENGINE])
    assert known.facts["engine"] == "vllm"
    assert known.facts["speculation_from"] == "counters"
    unknown = bench(server.url + "/v1/", [])
    assert "engine" not in unknown.facts
    assert unknown.accept_length == 2.0  # from single requests
    assert unknown.where == "from this machine"
