"""What all engines share: a program, a flag table, and how the two read and edit a command line."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.core.domain.catalog import Word
from bot.core.domain.engine import CommandLine, Flag, TypedFlag
from bot.core.domain.finding import Finding
from bot.core.domain.launch import Milestone
from bot.core.engines._argv import FlagIndex, Value
from bot.core.engines._groups import group_of
from bot.core.engines._nearest import nearest_flags
from bot.core.engines._neutral import environment_of
from bot.core.engines._program import Program
from bot.core.engines._versions import has, newer


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FlagEngine:
    """An engine as a flag table and rules; each engine's own class adds what only it does."""

    name: str
    default_port: int
    program: Program
    index: FlagIndex
    #: newest version that the flag table knows
    newest: str
    #: old flag -> what took its place
    renamed: Mapping[str, tuple[str, ...]]
    read_milestone: Callable[[str], Milestone | None]
    judge_speculation: Callable[[CommandLine, Mapping[str, Any] | None], tuple[Finding, ...]]
    distribution: str | None = None
    packages: tuple[str, ...] = ()
    help_words: tuple[tuple[str, ...], ...] = (("--help",),)

    def recognises(self, argv: Sequence[Word]) -> bool:
        return self.program.length([str(word) for word in argv]) is not None

    def split(self, argv: Sequence[Word]) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
        """The program, and the words that follow it."""
        length = self.program.search([str(word) for word in argv])
        return tuple(argv)[:length], tuple(argv)[length:]

    def read(self, argv: Sequence[Word]) -> tuple[dict[str, Value], list[str]]:
        """The flags, and the words that belong to none."""
        _, body = self.split(argv)
        occurrences, stray = self.index.read(body)
        return self.index.flags(occurrences), [str(body[position]) for position in stray]

    def line(
        self, argv: Sequence[Word], *, model: Value | None, flags: Mapping[str, Value], stray: Sequence[str]
    ) -> CommandLine:
        """A command line that was read; `flags` are those that do not name the model."""
        port = flags.get("port")
        return CommandLine(
            engine=self.name,
            program=tuple(str(word) for word in self.split(argv)[0]),
            model=model if isinstance(model, str) else None,
            flags=flags,
            stray=tuple(stray),
            port=int(port) if isinstance(port, str) and port.isdigit() else None,
        )

    def typed(self, argv: Sequence[Word]) -> tuple[TypedFlag, ...]:
        return self.index.typed(self.split(argv)[1])

    def flag(self, name: str) -> Flag | None:
        return self.index.by_name.get(name.split(".", 1)[0])

    def canonical(self, flag: str) -> str | None:
        found = self.index.look_up(flag.split("=", 1)[0] if self.index.syntax.equals else flag)
        return found[0] if found else None

    def version_has(self, flag: str, version: str | None) -> bool | None:
        return has(self.flag(flag), version)

    def newer_than_known(self, version: str | None) -> str | None:
        return newer(self.newest, version)

    def nearest(self, flag: str, version: str | None = None) -> tuple[str, ...]:
        return nearest_flags(self.index, flag, version=version, renamed=self.renamed)

    def set_flags(self, argv: Sequence[Word], flags: Mapping[str, Value | None]) -> tuple[Word, ...]:
        program, body = self.split(argv)
        return program + self.index.edit(body, flags)

    def without_speculation(self, body: Sequence[Word]) -> dict[str, Value | None]:
        """Changes that take every speculative flag out."""
        present = {one.name for one in self.index.read(body)[0] if group_of(one.name) == "speculative"}
        return dict.fromkeys(sorted(present))

    def environment(self, overrides: Mapping[str, Any]) -> Mapping[str, str | None]:
        return environment_of(overrides)

    def first_gpu(self, line: CommandLine) -> int:
        return 0

    def group(self, flag: str) -> str:
        return group_of(flag)

    def health_path(self) -> str:
        return "/health"

    def milestone(self, line: str) -> Milestone | None:
        return self.read_milestone(line)

    def check_speculation(self, line: CommandLine, config_json: Mapping[str, Any] | None) -> tuple[Finding, ...]:
        return self.judge_speculation(line, config_json)
