"""Finding an engine's server program at the head of a command line."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_PYTHON = re.compile(r"(python|pypy)(\d+(\.\d+)*)?t?(\.exe)?")
#: interpreter options that take the next word
_PYTHON_WITH_VALUE = {"-X", "-W", "--check-hash-based-pycs"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """How a server may be called."""

    #: `python -m MODULE`
    modules: tuple[str, ...] = ()
    #: basenames of executables, and of scripts given to python
    executables: tuple[str, ...] = ()
    #: basenames that are the server only with this next word
    with_subcommand: tuple[tuple[str, str], ...] = ()

    def length(self, argv: Sequence[str]) -> int | None:
        """How many words at the head of argv are the program, or None when another program is called."""
        if not argv:
            return None
        if not _PYTHON.fullmatch(_base(argv[0])):
            return self._called(argv, 0)
        position = 1
        while position < len(argv):
            word = argv[position]
            if re.fullmatch(r"-[a-zA-Z]*m", word):
                return self._module(argv, position + 1)
            if re.fullmatch(r"-m\w+(\.\w+)*", word):
                return position + 1 if word[2:] in self.modules else None
            if not word.startswith("-"):
                return self._called(argv, position)
            position += 2 if word in _PYTHON_WITH_VALUE else 1
        return None

    def search(self, argv: Sequence[str]) -> int:
        """Like `length`, but looks past unknown words before the program; 0 when it is nowhere (an image's entrypoint).
        A `serve` in front of the flags belongs to the program too."""
        for start in range(len(argv)):
            if argv[start].startswith("-"):
                continue
            length = self.length(argv[start:])
            if length is not None:
                return start + length
        return 1 if argv[:1] == ["serve"] else 0

    def _called(self, argv: Sequence[str], position: int) -> int | None:
        base = _base(argv[position])
        if base in self.executables:
            return position + 1
        following = argv[position + 1] if position + 1 < len(argv) else None
        return position + 2 if (base, following) in self.with_subcommand else None

    def _module(self, argv: Sequence[str], position: int) -> int | None:
        module = argv[position] if position < len(argv) else ""
        if module not in self.modules:
            return None
        return position + (2 if argv[position + 1 : position + 2] == ["serve"] else 1)


def _base(word: str) -> str:
    return re.split(r"[/\\]", word)[-1]
