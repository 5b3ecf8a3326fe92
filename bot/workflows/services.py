"""Everything that commands and workflows may use, handed in by the composition root."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from bot.core.access import AccessPolicy
from bot.core.domain.command import Command, ThreadContext
from bot.core.domain.engine import Engine
from bot.core.domain.measurement import Workload
from bot.core.domain.message import Conversation
from bot.core.domain.operation import Actor
from bot.core.domain.runner import Runner
from bot.core.facts import Fact
from bot.core.health import Probe
from bot.core.language.vocabulary import Vocabulary
from bot.core.planning import Check
from bot.workflows.ports import (
    AuditRepository,
    CatalogRepository,
    Clock,
    HealthSampleRepository,
    HelpRepository,
    HostRepository,
    LaunchRepository,
    LocalPython,
    Messenger,
    ModelServer,
    OperationRepository,
    Operations,
    Plotter,
    Remote,
    ScheduleRepository,
    WaitRepository,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The ports, and the rules that settings give."""

    clock: Clock
    remote: Remote
    messenger: Messenger
    model_server: ModelServer
    runs: Operations
    hosts: HostRepository
    catalog: CatalogRepository
    launches: LaunchRepository
    operations: OperationRepository
    waits: WaitRepository
    helps: HelpRepository
    audit: AuditRepository
    schedules: ScheduleRepository
    health_samples: HealthSampleRepository
    engines: Mapping[str, Engine]
    facts: Mapping[str, Fact[Any]]
    probes: Mapping[str, Probe]
    runners: Mapping[str, Runner]
    #: index of all names for the language; rebuilt when the catalog or the inventory changed
    vocabulary: Callable[[], Vocabulary]
    #: template name and values to text of a script, unit or probe (templates/scripts, templates/units)
    script: Callable[..., str]
    local_python: LocalPython
    plotter: Plotter
    checks: Mapping[str, Check]
    policy: AccessPolicy
    #: whether whoever asked may approve it too; administrators always may
    approve_own: bool
    approval_lifetime: timedelta
    #: how long a start waits for its GPUs
    wait_lifetime: timedelta
    #: a person as the workspace knows them now
    person: Callable[[Actor], Actor]
    ready_timeout_s: float
    workload: Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One sentence of one person, understood."""

    #: stable for redeliveries of the same message; operation ids come from it
    id: str
    actor: Actor
    conversation: Conversation
    command: Command
    context: ThreadContext | None = None
    #: the person was asked and said to do it all the same
    confirmed: bool = False
