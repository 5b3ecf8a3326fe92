"""A host whose facts are raw texts: it answers probes with them, and other commands from a script."""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from bot.core.domain.host import Host
from bot.core.domain.shell import ShellCommand, ShellResult
from bot.errors import UnreachableError

_ASKED = re.compile(r"^begin (\w+) ", re.MULTILINE)
_MARK = re.compile(r"printf '%s over\\n' (\S+)$", re.MULTILINE)


@dataclass
class FactHost:
    """A Remote for hosts that are all the same. `facts`: fact name -> what its snippet prints; a fact without a text
    ends with exit status 1. `answers`: (pattern in the command, output), the first match wins."""

    facts: dict[str, str] = field(default_factory=dict)
    answers: list[tuple[str, str]] = field(default_factory=list)
    away: bool = False
    #: facts whose snippets do not end in time
    late: frozenset[str] = frozenset()
    #: facts that were asked for, one set for each probe
    probes: list[frozenset[str]] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)

    def run(self, host: Host, command: ShellCommand) -> ShellResult:
        """Answer a probe, or from the script."""
        if self.away:
            raise UnreachableError(f"{host.name}: no answer within 10 s", host=host.name)
        script = command.stdin.decode()
        mark = _MARK.search(script)
        if mark is not None:
            return ShellResult(exit_status=0, stdout=self._probe(script, mark[1].strip("'")), stderr="")
        self.commands.append(command.text)
        for pattern, output in self.answers:
            if re.search(pattern, command.text) or re.search(pattern, script):
                return ShellResult(exit_status=0, stdout=output, stderr="")
        return ShellResult(exit_status=127, stdout="", stderr="not scripted")

    @contextlib.contextmanager
    def stream(self, host: Host, command: ShellCommand) -> Iterator[Iterator[bytes]]:
        """The whole answer at once."""
        yield iter([self.run(host, command).stdout.encode()])

    @contextlib.contextmanager
    def forward(self, host: Host, port: int) -> Iterator[int]:
        """Ports are as they are."""
        if self.away:
            raise UnreachableError(f"{host.name}: no answer within 10 s", host=host.name)
        yield port

    def fingerprint(self, host: Host) -> str:
        """One for each name."""
        return f"SHA256:{host.name}"

    def trust(self, host: Host, fingerprint: str) -> None:
        """Every key is."""

    def close(self) -> None:
        """Nothing is kept open."""

    def _probe(self, script: str, mark: str) -> str:
        asked = _ASKED.findall(script)
        self.probes.append(frozenset(asked))
        return "".join(self._frame(name, mark) for name in asked)

    def _frame(self, name: str, mark: str) -> str:
        text = self.facts.get(name)
        status = "late" if name in self.late else "1" if text is None else "0"
        body = text or ""
        size = len(body.encode())
        return f"{mark} begin {name}\n{body}\n{mark} complaints {name}\n\n{mark} end {name} {status} {size}\n"
