"""What the shells of one discovery share: known files, and who asks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bot.core.discovery.launch_call import ComposeUp, ContainerRun, Evidence, Sighting


@dataclass(frozen=True, slots=True)
class ShellFile:
    """A text that a shell may run or source."""

    kind: str
    path: str
    text: str = field(repr=False)


@dataclass(slots=True)
class World:
    """What all shells of one discovery share: known files, and whether a command is a launch."""

    files: Mapping[str, ShellFile]
    is_launch: Callable[[Sighting], bool]
    is_server: Callable[[tuple[str, ...]], bool]
    #: launches of a unit file (path, text)
    read_unit: Callable[[str, str], list[Sighting]] = lambda path, text: []
    #: launches of the services that `docker compose up` starts
    read_compose: Callable[[ComposeUp], list[Sighting]] = lambda up: []
    #: files that scripts wrote as here-documents
    written: dict[str, str] = field(default_factory=dict, repr=False)
    #: files that a launch was reached through
    used: set[str] = field(default_factory=set)
    #: files that were asked for and are not there, in order
    missing: dict[str, None] = field(default_factory=dict)
    #: whether to follow also what can only lead to files that are missing
    seeking: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What holds for every command of a shell: who starts it, and in what."""

    runner: str = "process"
    unit: str | None = None
    container: ContainerRun | None = None
    evidence: tuple[Evidence, ...] = ()
