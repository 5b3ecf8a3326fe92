"""What a fact is, what it may look at, and the readings of one host."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar, cast

from bot.core.domain.reading import Reading, Unknown

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeTarget:
    """What a probe is about. Facts leave out what the target does not name."""

    #: words of the server's program, without flags: ("/opt/venv/bin/python3", "-m", "sglang.launch_server")
    program: tuple[str, ...] = ()
    #: pip distribution of the engine; None: ask the program itself with --version
    distribution: str | None = None
    #: import names whose native libraries a start needs
    packages: tuple[str, ...] = ()
    #: words after the program that print its flags, tried in order
    help_words: tuple[tuple[str, ...], ...] = ()
    #: file, folder, or "owner/name" of a model hub
    model: str | None = None
    cwd: str | None = None
    #: PATH that the command will see, where it is set
    path: str | None = None
    #: HF_HOME or HF_HUB_CACHE of the command's environment, where set
    model_cache: str | None = None
    #: file, text or name of a chat template that takes the model's own place
    chat_template: str | None = None
    #: file, folder or hub name of a tokenizer that takes the model's own place
    tokenizer: str | None = None
    #: further folders whose file systems matter
    folders: tuple[str, ...] = ()
    #: image of a container launch
    image: str | None = None
    #: words in a unit's command that make it an engine's unit
    unit_words: tuple[str, ...] = ()
    #: unit whose file matters, with its type: "qwen.service"
    unit: str | None = None
    #: where its file was seen
    unit_path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(Generic[T]):
    """One thing to know of a host."""

    name: str
    #: sh text, or "" when the target does not name what it needs; exits 0 exactly when it could look
    snippet: Callable[[ProbeTarget], str]
    #: standard output of the snippet to a reading
    parse: Callable[[str], Reading[T]]
    timeout_s: int = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """Readings of one host by fact name."""

    readings: Mapping[str, Reading[object]] = field(default_factory=dict)
    taken_at: datetime | None = None

    def reading(self, fact: Fact[T]) -> Reading[T]:
        """The reading of a fact; Unknown when it was not looked at."""
        found = self.readings.get(fact.name)
        return Unknown("not looked at") if found is None else cast(Reading[T], found)
