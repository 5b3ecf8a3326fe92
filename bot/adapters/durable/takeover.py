"""Carry on the runs of a dead replica (PostgreSQL only).

Each process holds a session advisory lock on its executor id, on a connection of its own, taken before it works.
Whoever obtains the lock of another executor knows that one is dead, and re-enqueues its pending runs while holding it.
The library itself only recovers runs of the same executor id."""

import os
import signal
import threading
from collections import Counter

import structlog
from dbos import DBOS
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import SQLAlchemyError

_CLASS = 7411
_SCAN_S = 3.0
#: a run that killed this many processes is left alone, and said
_MAX_TAKEOVERS = 5
_log = structlog.get_logger()


class Takeover:
    """Holds our lock, and scans for the dead every few seconds."""

    def __init__(self, url: str, executor: str) -> None:
        self._executor = executor
        scheme, _, rest = url.partition("://")
        driver = "postgresql+psycopg" if scheme in ("postgres", "postgresql") else scheme
        self._engine = create_engine(f"{driver}://{rest}", isolation_level="AUTOCOMMIT", pool_pre_ping=True)
        self._connection: Connection | None = None
        self._taken: Counter[str] = Counter()
        self._stop = threading.Event()

    def lock(self) -> None:
        """Take our own lock; fails only when somebody has our random id."""
        self._connection = self._engine.connect()
        if not _try_lock(self._connection, self._executor):
            raise RuntimeError(f"executor id {self._executor} is in use")

    def start(self) -> None:
        """Scan in the background."""
        threading.Thread(target=self._loop, name="takeover", daemon=True).start()

    def stop(self) -> None:
        """End scanning and give the lock back."""
        self._stop.set()
        if self._connection is not None:
            self._connection.close()
        self._engine.dispose()

    def _loop(self) -> None:
        while not self._stop.wait(_SCAN_S):
            self._hold()
            try:
                self.scan()
            except SQLAlchemyError as error:
                _log.warning("takeover scan failed", error=str(error).splitlines()[0])

    def _hold(self) -> None:
        """A lost lock connection means that a peer may take our runs: lock again, or end this process."""
        assert self._connection is not None
        try:
            self._connection.execute(text("SELECT 1"))
        except SQLAlchemyError:
            try:
                self.lock()
            except (SQLAlchemyError, RuntimeError):
                if self._stop.is_set():
                    return
                _log.error("lost the executor lock; ending, a peer carries on")
                os.kill(os.getpid(), signal.SIGTERM)
                self._stop.set()

    def scan(self) -> int:
        """Take over what dead executors left. Gives the number of runs."""
        pending = DBOS.list_workflows(status="PENDING", load_input=False, load_output=False)
        taken = 0
        for dead in {w.executor_id for w in pending if w.executor_id and w.executor_id != self._executor}:
            with self._engine.connect() as connection:
                if not _try_lock(connection, dead):
                    continue
                try:
                    taken += self._resume(dead)
                finally:
                    connection.execute(text("SELECT pg_advisory_unlock(:c, hashtext(:e))"), {"c": _CLASS, "e": dead})
        return taken

    def _resume(self, dead: str) -> int:
        runs = DBOS.list_workflows(status="PENDING", executor_id=dead, load_input=False, load_output=False)
        for run in runs:
            self._taken[run.workflow_id] += 1
            if self._taken[run.workflow_id] > _MAX_TAKEOVERS:
                _log.error("run ended too many processes; left alone", run=run.workflow_id)
                continue
            queue = {"queue_name": run.queue_name} if run.queue_name else {}
            DBOS.resume_workflow(run.workflow_id, **queue)
            _log.info("run taken over", run=run.workflow_id, from_executor=dead)
        return len(runs)


def _try_lock(connection: Connection, executor: str) -> bool:
    return bool(
        connection.execute(text("SELECT pg_try_advisory_lock(:c, hashtext(:e))"), {"c": _CLASS, "e": executor}).scalar()
    )
