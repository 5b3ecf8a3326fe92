"""One command on its way through its wrappers, and what is found at the end: a sighting of a launch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.core.discovery.shell_state import Variable


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A command with what surrounds it. `env` is what the program gets: exports and prefix assignments."""

    argv: tuple[str, ...] = field(repr=False)
    env: Mapping[str, Variable] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    user: str | None = None
    home: str | None = None
    venv: str | None = None
    wrappers: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    #: here-document or here-string on its standard input
    stdin: str | None = field(default=None, repr=False)
    #: files that its output goes to
    logs: tuple[str, ...] = ()
    line: int = 0
    #: transient unit of systemd-run
    unit: str | None = None
    #: container of docker exec
    container: str | None = None

    def with_argv(self, argv: tuple[str, ...]) -> "Call":
        """The same surroundings, another command."""
        return replace(self, argv=argv)

    def wrapped(self, length: int) -> "Call":
        """The command behind a wrapper of `length` words that must be repeated."""
        return replace(self, argv=self.argv[length:], wrappers=(*self.wrappers, self.argv[:length]))

    def with_env(self, name: str, value: str, origin: str) -> "Call":
        """One more variable."""
        return replace(self, env={**self.env, name: Variable(value, True, origin)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One artefact that contributed. `detail`: "line 12", "process 4211"."""

    kind: str
    path: str
    detail: str = ""
    seen_at: datetime | None = None

    def __str__(self) -> str:
        place = self.path if not self.detail else f"{self.path} {self.detail}"
        return f"{self.kind} {place}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposeUp:
    """A `docker compose up`. No `files`: those that lie in the folder; no `services`: all."""

    cwd: str | None
    files: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    env_file: str | None = None
    variables: Mapping[str, Variable] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PortMapping:
    """A published port; `host` None: any free one."""

    host: str | None
    container: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerRun:
    """How a container is run."""

    image: str | None = None
    name: str | None = None
    #: id, of a container that exists
    id: str | None = None
    ports: tuple[PortMapping, ...] = ()
    host_network: bool = False
    gpus: tuple[str, ...] = ()
    #: argv holds only the arguments of the image's own entrypoint
    entrypoint_hidden: bool = False
    #: compose service, and folder of its project
    service: str | None = None
    project: str | None = None
    #: how it can be run again: "docker" or "podman", its image's id, its options, the words inside
    tool: str = "docker"
    image_id: str | None = None
    options: tuple[str, ...] = field(default=(), repr=False)
    command: tuple[str, ...] = field(default=(), repr=False)
    #: the words inside go to the image's own entrypoint
    image_entrypoint: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A command that may be a launch, as one chain of artefacts shows it. It holds secrets in clear: never shown."""

    argv: tuple[str, ...] = field(repr=False)
    env: Mapping[str, Variable] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    user: str | None = None
    venv: str | None = None
    wrappers: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    runner: str = "process"
    unit: str | None = None
    container: ContainerRun | None = None
    evidence: tuple[Evidence, ...] = ()
    running: bool = False
    pid: int | None = None
    cgroup: str | None = None
    logs: tuple[str, ...] = ()
    #: whether the program itself refuses odd arguments: False where it is known to have started
    may_have_failed: bool = True
    #: the environment is that of a live process: more than the launch sets
    whole_environment: bool = False
    #: argv was rebuilt from a log's list of arguments, which are these; None: it was not
    log_values: Mapping[str, str | bool | None] | None = field(default=None, repr=False)
    #: that list holds defaults too
    lists_defaults: bool = False
    seen_at: datetime | None = None


def said_alike(a: Sighting, b: Sighting) -> bool:
    """Whether two readings of compose files say the same of the same service."""
    values = ({name: one.text for name, one in sighting.env.items()} for sighting in (a, b))
    return (
        service_of(a) == service_of(b)
        and a.argv == b.argv
        and a.container == b.container
        and len({tuple(sorted(one.items())) for one in values}) == 1
    )


def service_of(sighting: Sighting) -> tuple[str, str] | None:
    """(folder of the project, service) of a launch by compose."""
    container = sighting.container
    return (container.project or "", container.service) if container and container.service else None


def without_plain(sightings: Sequence[Sighting]) -> list[Sighting]:
    """Without the services that compose files alone tell of and a caller starts: what it sets for them is not theirs
    alone to say."""
    reached = [(service_of(one), _composed(one)) for one in sightings if one.evidence[:1] and not _plain(one)]
    return [
        one
        for one in sightings
        if not _plain(one)
        or not any(
            service is not None and service == service_of(one) and _composed(one) <= files for service, files in reached
        )
    ]


def _plain(sighting: Sighting) -> bool:
    return sighting.evidence[:1] != () and sighting.evidence[0].kind == "compose"


def _composed(sighting: Sighting) -> frozenset[str]:
    return frozenset(one.path for one in sighting.evidence if one.kind == "compose")
