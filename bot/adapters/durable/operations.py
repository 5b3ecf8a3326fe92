"""The Operations and Run ports on DBOS (a library, no server). The rules are those of docs/durability.md:
one queue partitioned by host, JSON only, a pinned application version, no waiting for people inside a run."""

import fcntl
import os
import threading
import time
import uuid
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import structlog
from dbos import DBOS, DBOSConfig, SetEnqueueOptions, SetWorkflowID
from sqlalchemy import create_engine, event
from sqlalchemy.exc import SQLAlchemyError

import bot.errors
from bot.adapters.durable.serializer import JsonSerializer
from bot.adapters.durable.takeover import Takeover
from bot.core.domain.message import Json
from bot.errors import PermanentError, RelaunchError, SettingsError
from bot.workflows.ports import Run

T = TypeVar("T")
Workflow = Callable[[Run, Mapping[str, Any]], Json]
_log = structlog.get_logger()

#: changed only together with workflow names: a changed step list is a new workflow function, the old one stays
PROTOCOL = "1"
HOSTS_QUEUE = "hosts"
#: for runs that another process submits (`relaunch say` beside a running bot)
TALK_QUEUE = "talk"
_POLL_S = 0.15
_ENDED = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]
#: runs that are forgotten in one transaction
_BATCH = 500
#: at the end of the process, for steps that run to come to their end
_LAST_STEP_S = 5


class ProcessEndsError(BaseException):
    """This process ends between two steps and the next one carries on: nothing that catches faults may see it."""


class DbosRun:
    """Run inside a DBOS workflow. Our errors cross steps as JSON, so that a resumed run sees the same error."""

    def __init__(self, run_id: str, ending: threading.Event) -> None:
        self.id = run_id
        self._ending = ending

    def step(self, name: str, work: Callable[[], T]) -> T:
        """Run once, or give the stored result. Errors of ours are stored and raised again."""
        if self._ending.is_set():
            raise ProcessEndsError
        outcome: Any = DBOS.run_step({"name": name}, _guarded, work)
        if "error" in outcome:
            raise _error(outcome["error"])
        value: T = outcome["value"]
        return value

    def sleep(self, seconds: float) -> None:
        """Wait durably: a resumed run waits only for what is left."""
        if self._ending.is_set():
            raise ProcessEndsError
        DBOS.sleep(seconds)


class DbosOperations:
    """Operations on DBOS. One per process; `launch` first."""

    def __init__(self, *, url: str, workflows: Mapping[str, Workflow]) -> None:
        self._url = url
        self._lock: int | None = None
        self._takeover: Takeover | None = None
        self._submitter = ThreadPoolExecutor(max_workers=4, thread_name_prefix="submit")
        self._ending = threading.Event()
        self._functions = {name: _register(name, work, self._ending) for name, work in workflows.items()}

    def launch(self) -> None:
        """Take the lock, create the tables, carry on what an earlier process left. Raises PermanentError when another
        process works on the same SQLite file."""
        # a thread of its own: the library refuses one that has an event loop, which a caller's may
        try:
            self._submitter.submit(self._launch).result()
        except SQLAlchemyError as error:
            said = str(getattr(error, "orig", None) or error).split("\n")[0]
            raise PermanentError(
                f"the database of running operations cannot be used: {said}",
                remedy="restore relaunch-durable.db from a backup; without it, what ran when the bot ended is not "
                "carried on, and everything else still works",
            ) from error

    def _launch(self) -> None:
        sqlite = self._url.startswith("sqlite")
        executor = "local" if sqlite else f"relaunch-{uuid.uuid4().hex[:12]}"
        if sqlite:
            self._lock = _lock_file(self._url)
        else:
            self._takeover = Takeover(self._url, executor)
            self._takeover.lock()
        config = _config(self._url, executor)
        engine = config.get("system_database_engine")
        if engine is not None:
            # the library would print a traceback for a file that cannot be used
            engine.connect().close()
        DBOS(config=config)
        DBOS.launch()
        DBOS.register_queue(
            HOSTS_QUEUE, partition_concurrency=1, polling_interval_sec=_POLL_S, on_conflict="always_update"
        )
        DBOS.register_queue(TALK_QUEUE, polling_interval_sec=_POLL_S, on_conflict="always_update")
        if self._takeover is not None:
            self._takeover.start()

    def submit(self, workflow: str, *, run_id: str, partition: str | None, arguments: Mapping[str, Any]) -> None:
        """Enqueue once per run_id."""
        # a thread of its own: inside a step the library would take the new run for a child of the one that runs
        self._submitter.submit(self._submit, workflow, run_id, partition, dict(arguments)).result()

    def _submit(self, workflow: str, run_id: str, partition: str | None, arguments: dict[str, Any]) -> None:
        if self.state(run_id) is not None:
            return
        function = self._functions[workflow]
        with SetWorkflowID(run_id):
            if partition is None:
                DBOS.start_workflow(function, arguments)
            else:
                with SetEnqueueOptions(queue_partition_key=partition):
                    DBOS.enqueue_workflow(HOSTS_QUEUE, function, arguments)

    def state(self, run_id: str) -> str | None:
        """One of "pending", "enqueued", "success", "error", "cancelled" …, or None when there is no such run."""
        status = DBOS.get_workflow_status(run_id)
        return status.status.lower() if status else None

    def wait(self, run_id: str, timeout_s: float) -> str:
        """Wait for the end of a run; gives its state then, which may still be a running one."""
        until = time.monotonic() + timeout_s
        while (state := self.state(run_id)) in ("pending", "enqueued", "delayed") and time.monotonic() < until:
            time.sleep(0.1)
        return state or "unknown"

    def forget(self, before: datetime, *, keep: Collection[str]) -> int:
        """Delete the stored steps of runs that ended before a time, but for the run ids in `keep`; gives their number.
        At most one batch; the next call goes on."""
        return self._submitter.submit(self._forget, before, keep).result()

    def _forget(self, before: datetime, keep: Collection[str]) -> int:
        ended = DBOS.list_workflows(
            status=_ENDED, completed_before=before.isoformat(), limit=_BATCH, load_input=False, load_output=False
        )
        gone = [run.workflow_id for run in ended if run.workflow_id not in keep]
        if gone:
            DBOS.delete_workflows(gone)
        return len(gone)

    def close(self) -> None:
        """Stop taking work; what runs is carried on by the next process."""
        if self._takeover is not None:
            self._takeover.stop()
        self._ending.set()
        self._submitter.submit(
            DBOS.destroy, destroy_registry=True, workflow_completion_timeout_sec=_LAST_STEP_S
        ).result()
        self._submitter.shutdown(wait=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _register(name: str, work: Workflow, ending: threading.Event) -> Callable[[dict[str, Any]], Json]:
    def run(arguments: dict[str, Any]) -> Json:
        run_id = DBOS.workflow_id or "?"
        with structlog.contextvars.bound_contextvars(run=run_id, workflow=name):
            return work(DbosRun(run_id, ending), arguments)

    run.__name__ = run.__qualname__ = name
    return DBOS.workflow(name=name)(run)


def _guarded(work: Callable[[], Any]) -> Any:
    try:
        return {"value": work()}
    except RelaunchError as error:
        fields = {k: v for k, v in vars(error).items() if isinstance(v, str | int | float | bool | None)}
        return {"error": {**fields, "type": type(error).__name__, "message": error.message}}


def _error(stored: Mapping[str, Any]) -> RelaunchError:
    kind: type[RelaunchError] = getattr(bot.errors, str(stored["type"]), PermanentError)
    error = PermanentError(stored["message"]) if kind is SettingsError else kind(stored["message"])
    for name, value in stored.items():
        if name != "type":
            setattr(error, name, value)
    return error


def _config(url: str, executor: str) -> DBOSConfig:
    config: DBOSConfig = {
        "name": "relaunch",
        "executor_id": executor,
        "application_version": PROTOCOL,
        "serializer": JsonSerializer(),
        "log_level": "WARNING",
        "notification_listener_polling_interval_sec": 0.2,
        "run_migrations": True,
    }
    if not url.startswith("sqlite"):
        return {**config, "system_database_url": url, "dbos_system_schema": "dbos"}
    engine = create_engine(url, connect_args={"timeout": 10.0})

    @event.listens_for(engine, "connect")
    def _pragmas(connection: Any, _record: object) -> None:
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=10000"):
            connection.execute(f"PRAGMA {pragma}")

    return {**config, "system_database_url": url, "system_database_engine": engine}


def _lock_file(url: str) -> int:
    path = Path(url.removeprefix("sqlite:///") + ".lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise PermanentError(
            f"another process already works on {path.name.removesuffix('.lock')}",
            remedy="stop the other bot first, or set RELAUNCH_DATABASE_URL to PostgreSQL to run several",
        ) from error
    return handle
