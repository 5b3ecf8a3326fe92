"""What the load script is told, and what each of its lines says."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.core.domain.measurement import Workload
from bot.errors import TemporaryError

#: answers 0 and prints the path of the first Python that is new enough for the script
FIND_PYTHON = (
    "for p in {candidates}; do "
    '"$p" -c "import sys; sys.exit(sys.version_info < (3, 8))" >/dev/null 2>&1 && command -v "$p" && exit 0; '
    "done; exit 1"
)
#: tried in this order; the last one is where RHEL keeps its own
PYTHONS = (
    "python3",
    "python3.13",
    "python3.12",
    "python3.11",
    "python3.10",
    "python3.9",
    "python3.8",
    "python",
    "/usr/libexec/platform-python",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a running measurement is."""

    concurrency: int
    #: 1-based, of `levels`
    level: int
    levels: int
    #: "warm-up" or "measure"
    phase: str
    requests: int
    failed: int
    elapsed_s: float
    #: a level ends after this long at the latest
    limit_s: float
    #: median so far
    decode_tok_s: float | None


def script_config(
    workload: Workload, *, url: str, model: str | None, gpu: bool = True, endpoint: str = "chat"
) -> dict[str, Any]:
    """The script's argument. `gpu`: whether nvidia-smi where the script runs speaks of the server's GPUs."""
    return {
        "url": url,
        "model": model,
        "concurrency": list(workload.concurrency),
        "prompt_tokens": workload.prompt_tokens,
        "output_tokens": workload.output_tokens,
        "max_level_s": workload.max_level_s,
        "reuse_prompts": workload.reuse_prompts,
        "endpoint": endpoint,
        "gpu": gpu,
    }


def with_key(script: bytes, api_key: str | None) -> bytes:
    """The script's text with the server's key in front: over stdin, so that `ps` on the host does not show it."""
    return script if not api_key else b"RELAUNCH_API_KEY = " + json.dumps(api_key).encode() + b"\n" + script


def limit_s(workload: Workload) -> float:
    """An upper bound for the whole run: warm-up, measuring and the last answers of each level, and preparation."""
    return 900.0 + len(workload.concurrency) * (3 * workload.max_level_s + 600.0)


def parse_line(line: str) -> Mapping[str, Any] | None:
    """One line of the script's output as a record; None for anything else (a login banner, a warning)."""
    if not line.startswith("{"):
        return None
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and "type" in record else None


def progress(record: Mapping[str, Any]) -> Progress | None:
    """The record as Progress, if it is one."""
    if record.get("type") != "progress":
        return None
    return Progress(
        concurrency=int(record["concurrency"]),
        level=int(record["level"]),
        levels=int(record["levels"]),
        phase=str(record["phase"]),
        requests=int(record["requests"]),
        failed=int(record["failed"]),
        elapsed_s=float(record["elapsed_s"]),
        limit_s=float(record["limit_s"]),
        decode_tok_s=record["decode_tok_s"],
    )


def final(record: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The record if it is the result. Raises TemporaryError when it says that the measurement could not be made."""
    if record.get("type") == "failed":
        raise TemporaryError(
            f"the measurement could not be made: {record.get('error', 'no reason given')}",
            remedy="check that the server is ready and answers a request, then measure again",
        )
    return record if record.get("type") == "result" else None
