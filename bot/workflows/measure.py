"""Measure a server: send the load script to its host, follow its records, give a Measurement.

Where the host has no Python that is new enough the script runs here, through a forwarded port, and the measurement says
so: the tunnel then adds to the times.
"""

import codecs
import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from bot.core.domain.engine import Engine
from bot.core.domain.host import Host
from bot.core.domain.measurement import Measurement, Workload
from bot.core.domain.shell import ShellCommand, quote
from bot.core.measuring import script as load_script
from bot.core.measuring.result import measurement_from
from bot.core.measuring.script import Progress
from bot.core.measuring.speculation import CounterReader
from bot.errors import PermanentError, TemporaryError
from bot.workflows.ports import Clock, LocalPython, Remote

ON_THE_HOST = "on the host"
THROUGH_A_PORT = "through a forwarded port"
FROM_HERE = "from this machine"


class MeasurementCancelledError(PermanentError):
    """A person ended the measurement; nothing of it is kept."""


class _Follower(Protocol):
    def __call__(self, chunks: Iterator[bytes]) -> Mapping[str, Any]: ...


def measure(
    remote: Remote,
    host: Host,
    port: int,
    engine: Engine,
    model: str | None,
    workload: Workload,
    clock: Clock,
    on_progress: Callable[[Progress], None],
    *,
    script: bytes,
    local: LocalPython,
    cancelled: Callable[[], bool] = lambda: False,
    facts: Mapping[str, str] | None = None,
    api_key: str | None = None,
    pythons: Sequence[str] = (),
) -> Measurement:
    """Measure the server on `port` of `host`.

    `script`: the text of templates/scripts/load.py. `pythons`: paths tried before the usual names. `facts`
    (engine_version, model_hash, …) are kept with the numbers. `model` None: the first one that the server names.
    `cancelled` is asked at each record, a second or two apart.

    Raises MeasurementCancelledError, TemporaryError when the server gave no answers, and what Remote raises."""
    follow = _follower(on_progress, cancelled, host.name)
    text = load_script.with_key(script, api_key)
    python = _find_python(remote, host, pythons)
    if python:
        config = load_script.script_config(workload, url=f"http://127.0.0.1:{port}", model=model)
        command = ShellCommand(
            text=shlex.join([python, "-", json.dumps(config)]),
            stdin=text,
            timeout_s=load_script.limit_s(workload),
            output_limit_bytes=50_000_000,
        )
        with remote.stream(host, command) as chunks:
            result = follow(chunks)
    else:
        with remote.forward(host, port) as near:
            config = load_script.script_config(workload, url=f"http://127.0.0.1:{near}", model=model, gpu=False)
            with local.stream(text, json.dumps(config)) as chunks:
                result = follow(chunks)
    measurement = measurement_from(
        result,
        workload=workload,
        measured_at=clock.now(),
        read=engine.parse_metrics,
        where=ON_THE_HOST if python else THROUGH_A_PORT,
        facts={"host": host.name, **(facts or {})},
    )
    if python:
        return measurement
    missing = f"{host.name} has no Python 3.8 or newer: measured through a forwarded port, which adds to the times"
    return replace(measurement, notes=(missing, *measurement.notes))


def bench_url(
    url: str,
    workload: Workload,
    *,
    script: bytes,
    local: LocalPython,
    engines: Sequence[Engine],
    clock: Clock,
    on_progress: Callable[[Progress], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
    model: str | None = None,
    api_key: str | None = None,
    gpu: bool = False,
) -> Measurement:
    """Measure any OpenAI-compatible server from this machine, without database or inventory. The engine is the one
    whose counters the server shows, if any. `gpu`: nvidia-smi of this machine speaks of the server's GPUs."""
    follow = _follower(on_progress, cancelled, url)
    config = load_script.script_config(workload, url=url, model=model, gpu=gpu)
    with local.stream(load_script.with_key(script, api_key), json.dumps(config)) as chunks:
        result = follow(chunks)
    name, read = _reader(result, engines)
    facts = {"engine": name} if name else {}
    return measurement_from(
        result, workload=workload, measured_at=clock.now(), read=read, where=FROM_HERE, facts={"url": url, **facts}
    )


def _reader(result: Mapping[str, Any], engines: Sequence[Engine]) -> tuple[str, CounterReader | None]:
    """Name and counter reader of the engine whose counters the server shows."""
    page = next((level["metrics_after"] for level in result["levels"] if level.get("metrics_after")), "")
    for engine in engines:
        if page and engine.parse_metrics(page).generation_tokens_total is not None:
            return engine.name, engine.parse_metrics
    return "", None


def _find_python(remote: Remote, host: Host, pythons: Sequence[str]) -> str | None:
    candidates = " ".join(quote(p) for p in (*pythons, *load_script.PYTHONS))
    found = remote.run(host, ShellCommand(text=load_script.FIND_PYTHON.format(candidates=candidates), timeout_s=30))
    lines = found.stdout.strip().splitlines()
    return lines[-1] if found.ok and lines else None


def _follower(on_progress: Callable[[Progress], None], cancelled: Callable[[], bool], where: str) -> _Follower:
    """A function that reads the script's chunks to its result."""

    def follow(chunks: Iterator[bytes]) -> Mapping[str, Any]:
        stray: list[str] = []
        for line in lines_of(chunks):
            if cancelled():
                raise MeasurementCancelledError("the measurement was cancelled", remedy="say `bench` to start another")
            record = load_script.parse_line(line)
            if record is None:
                stray.append(line)
                continue
            if step := load_script.progress(record):
                on_progress(step)
            elif result := load_script.final(record):
                return result
        raise TemporaryError(
            f"the load script ended on {where} without a result"
            + (f": {' / '.join(stray[-3:])[:300]}" if stray else ""),
            remedy="check that the server still runs, then measure again",
        )

    return follow


def lines_of(chunks: Iterator[bytes]) -> Iterator[str]:
    """Whole lines of text out of chunks of bytes."""
    decoder, rest = codecs.getincrementaldecoder("utf-8")("replace"), ""
    for chunk in chunks:
        *lines, rest = (rest + decoder.decode(chunk)).split("\n")
        yield from lines
    if rest:
        yield rest
