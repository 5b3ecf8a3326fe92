"""Plans: ordered steps for one operation, with a fingerprint; and refusals."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from bot.core.domain.catalog import SecretRef
from bot.core.domain.container import Container
from bot.core.domain.finding import Finding


class StepKind(StrEnum):
    """What a step does. Each looks before it acts, so that running it twice is harmless."""

    STOP = "stop"
    START = "start"
    WATCH = "watch"
    PROVE = "prove"
    MEASURE = "measure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step, with what it will do in words."""

    kind: StepKind
    summary: str
    #: unit to stop or start, without ".service"
    unit: str | None = None
    #: process to stop where no unit of ours owns it
    pid: int | None = None
    #: who stops it; None: the plan's runner
    runner: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why no plan is offered, with the remedy."""

    reason: str
    remedy: str = ""
    findings: tuple[Finding, ...] = ()
    #: "start": sets of GPUs that are free now and that the launch fits on
    free_gpus: tuple[tuple[int, ...], ...] = ()
    #: whether all that is in the way ends with those who hold the GPUs, and who they are
    passing: bool = False
    holders: tuple[str, ...] = ()
    #: id of the launch that runs already, where that is the reason
    running: str | None = None
    #: id of the operation of ours, running or queued, that takes the same
    underway: str | None = None
    #: what was to be launched
    revision: str | None = None
    #: whether what was to be stopped does not run; `others` runs there instead
    absent: bool = False
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """One difference between two revisions, in words and by meaning group
    ("speculative", "memory", "parallelism", "kernels", "serving", "environment", "model", "other")."""

    group: str
    name: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What will be done, exactly. Nothing but this is carried out."""

    operation: str
    host: str
    config: str | None
    #: id of the revision to launch; None for a stop
    revision: str | None
    #: exact command, a word each; secrets as SecretRef
    argv: tuple[str | SecretRef, ...] = ()
    env: tuple[tuple[str, str | SecretRef], ...] = ()
    cwd: str | None = None
    user: str | None = None
    wrappers: tuple[str, ...] = ()
    container: Container | None = None
    #: "systemd", "systemd-user", "process" or "docker"
    runner: str = "systemd"
    engine: str = ""
    model: str = ""
    port: int | None = None
    steps: tuple[Step, ...] = ()
    findings: tuple[Finding, ...] = ()
    diff: tuple[DiffLine, ...] = ()
    #: state of the host that the plan relies on (what runs on the port, pids to stop): re-checked at the click
    relies_on: tuple[tuple[str, str], ...] = ()
    needs_approval: tuple[str, ...] = field(default=())
    expected_ready_s: float | None = None
    expected_tok_s: float | None = None
    #: why this revision, and what was ignored in the sentence
    reasons: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """SHA-256 over what will be done and what it relies on. Estimates and findings' wording are not part of it."""
        content = asdict(self)
        for name in ("findings", "diff", "expected_ready_s", "expected_tok_s", "reasons", "needs_approval"):
            del content[name]
        # plans of before these fields keep their fingerprints
        for part, name in ((content, "container"), *((step, "runner") for step in content["steps"])):
            if part[name] is None:
                del part[name]
        return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()
