"""Submit runs to a bot that works in another process on the same database."""

import time
from collections.abc import Mapping
from typing import Any

from dbos import DBOSClient, EnqueueOptions

from bot.adapters.durable.operations import HOSTS_QUEUE, PROTOCOL, TALK_QUEUE
from bot.adapters.durable.serializer import JsonSerializer


class ClientOperations:
    """Operations port that only submits and looks."""

    def __init__(self, url: str) -> None:
        self._client = DBOSClient(system_database_url=url, serializer=JsonSerializer())

    def submit(self, workflow: str, *, run_id: str, partition: str | None, arguments: Mapping[str, Any]) -> None:
        """Enqueue once per run_id."""
        if self.state(run_id) is not None:
            return
        options: EnqueueOptions = {
            "queue_name": HOSTS_QUEUE if partition else TALK_QUEUE,
            "workflow_name": workflow,
            "workflow_id": run_id,
            "app_version": PROTOCOL,
        }
        if partition:
            options["queue_partition_key"] = partition
        self._client.enqueue(options, dict(arguments))

    def state(self, run_id: str) -> str | None:
        """State of a run, or None when there is none."""
        found = self._client.list_workflows(workflow_ids=[run_id], load_input=False, load_output=False)
        return found[0].status.lower() if found else None

    def wait(self, run_id: str, timeout_s: float) -> str:
        """Wait for the end of a run."""
        until = time.monotonic() + timeout_s
        while (state := self.state(run_id)) in ("pending", "enqueued", "delayed") and time.monotonic() < until:
            time.sleep(0.2)
        return state or "unknown"

    def close(self) -> None:
        """Close the connections."""
        self._client.destroy()
