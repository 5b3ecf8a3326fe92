"""Operations, approvals, people and the audit trail."""

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum, StrEnum


class Permission(IntEnum):
    """What a person may do; each includes the ones before it."""

    NOTHING = 0
    READ = 1
    OPERATE = 2
    APPROVE = 3
    ADMINISTER = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who asks. `id` is a Slack user id, or "cli:<login>" in the terminal."""

    id: str
    name: str = ""
    team: str | None = None
    #: not a full member of our workspace (guest, Slack Connect, deleted, a bot): may do nothing
    outsider: bool = False
    time_zone: str = "UTC"
    #: ids of the Slack user groups that access is given to and that they are in
    groups: tuple[str, ...] = ()


class OperationState(StrEnum):
    """Life of one plan."""

    PROPOSED = "proposed"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    REJECTED = "rejected"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """A decision bound to one plan's fingerprint; single use."""

    operation: str
    fingerprint: str
    expires_at: datetime
    decided_by: str | None = None
    decided_at: datetime | None = None
    approved: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """Who did what to which host, when, and how it ended."""

    at: datetime
    actor: str
    action: str
    host: str | None = None
    config: str | None = None
    operation: str | None = None
    outcome: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A report posted on a rhythm: either `cron` (5 fields, 0 or sun = Sunday) in `time_zone`, or `every_s`."""

    id: str
    channel: str
    host: str | None
    cron: str | None
    every_s: int | None
    time_zone: str
    created_by: str
    created_at: datetime
