"""A process that carries out one run of three steps and may kill itself at a named point. Not a test."""

import os
import signal
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bot.adapters.durable.operations import DbosOperations
from bot.core.domain.message import Json
from bot.errors import UnreachableError
from bot.workflows.ports import Run

URL, LOG, KILL_AT = sys.argv[1], Path(sys.argv[2]), sys.argv[3]


def _note(line: str) -> None:
    with LOG.open("a") as file:
        file.write(line + "\n")


def _perhaps_die(point: str) -> None:
    if point == KILL_AT:
        os.kill(os.getpid(), signal.SIGKILL)


def _effect(name: str) -> Callable[[], str]:
    def work() -> str:
        _perhaps_die(f"{name}:before")
        _note(name)
        _perhaps_die(f"{name}:after")
        return name

    return work


def _unreachable() -> str:
    _note("unreachable")
    raise UnreachableError("gpu1 does not answer", host="gpu1", retry_after_s=3)


def work(run: Run, arguments: Mapping[str, Any]) -> Json:
    """Three effects, one stored error, a pause."""
    run.step("first", _effect("first"))
    _perhaps_die("between")
    try:
        run.step("unreachable", _unreachable)
    except UnreachableError as error:
        run.step("second", _effect(f"second {error.host} {error.retry_after_s:g}"))
    run.sleep(0.05)
    run.step("third", _effect("third"))
    _perhaps_die("end")
    return {"greeting": arguments["greeting"]}


if __name__ == "__main__":
    operations = DbosOperations(url=URL, workflows={"work_v1": work})
    operations.launch()
    for _ in range(2):
        operations.submit("work_v1", run_id="run1", partition="gpu1", arguments={"greeting": "ünï"})
    print(operations.wait("run1", 30), flush=True)
    if KILL_AT == "forget":
        before, after = datetime.now(UTC) - timedelta(days=1), datetime.now(UTC) + timedelta(seconds=1)
        print(
            operations.forget(before, keep=()),
            operations.forget(after, keep=("run1",)),
            operations.state("run1"),
            operations.forget(after, keep=()),
            operations.state("run1"),
        )
    operations.close()
