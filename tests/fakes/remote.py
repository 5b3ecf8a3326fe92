"""A Remote without SSH: commands run in a shell on this machine, or are answered from a script."""

import contextlib
import os
import re
import select
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from bot.core.domain.host import Host
from bot.core.domain.shell import ShellCommand, ShellResult
from bot.errors import CommandTimeoutError, HostKeyError, RelaunchError, UnreachableError


@dataclass
class FakeRemote:
    """All hosts are this machine. `answers`: (pattern in the command's text, result or error), the first match wins;
    without a match the command really runs, unless `strict`. `commands` keeps what was asked of whom."""

    answers: list[tuple[str, ShellResult | RelaunchError]] = field(default_factory=list)
    #: names of hosts that cannot be reached
    unreachable: set[str] = field(default_factory=set)
    fingerprints: dict[str, str] = field(default_factory=dict)
    trusted: dict[str, str] = field(default_factory=dict)
    #: a command without an answer is an error
    strict: bool = False
    commands: list[tuple[str, ShellCommand]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, pattern: str, stdout: str = "", *, exit_status: int = 0, stderr: str = "") -> None:
        """Answer commands whose text has `pattern` (a regular expression)."""
        self.answers.append((pattern, ShellResult(exit_status=exit_status, stdout=stdout, stderr=stderr)))

    def run(self, host: Host, command: ShellCommand) -> ShellResult:
        """Answer from the script, or run it here."""
        self._ask(host, command)
        for pattern, answer in self.answers:
            if re.search(pattern, command.text):
                if isinstance(answer, RelaunchError):
                    raise answer
                return answer
        if self.strict:
            raise AssertionError(f"no answer for: {command.text}")
        return _run_here(host, command)

    @contextlib.contextmanager
    def stream(self, host: Host, command: ShellCommand) -> Iterator[Iterator[bytes]]:
        """Chunks of a scripted stdout, or of a command that runs here."""
        self._ask(host, command)
        for pattern, answer in self.answers:
            if re.search(pattern, command.text):
                if isinstance(answer, RelaunchError):
                    raise answer
                yield iter([answer.stdout.encode()])
                return
        with _process(command) as process:
            yield _chunks(host, command, process)

    @contextlib.contextmanager
    def forward(self, host: Host, port: int) -> Iterator[int]:
        """The host's ports are ours."""
        self._ask(host, ShellCommand(text=f"# forward {port}"))
        yield port

    def fingerprint(self, host: Host) -> str:
        """The fingerprint set for the host, or one made of its name."""
        self._check(host)
        return self.fingerprints.get(host.name, f"SHA256:{host.name}")

    def trust(self, host: Host, fingerprint: str) -> None:
        """Remember a fingerprint, if it is the host's."""
        shown = self.fingerprint(host)
        if shown != fingerprint:
            raise HostKeyError(f"{host.name}: shows {shown}", host=host.name, fingerprint=shown, changed=True)
        self.trusted[host.name] = fingerprint

    def close(self) -> None:
        """Nothing is kept open."""

    def _ask(self, host: Host, command: ShellCommand) -> None:
        with self._lock:
            self.commands.append((host.name, command))
        self._check(host)

    def _check(self, host: Host) -> None:
        if host.name in self.unreachable:
            raise UnreachableError(f"{host.name}: does not answer", remedy="is the host up?", host=host.name)


def _run_here(host: Host, command: ShellCommand) -> ShellResult:
    started = time.monotonic()
    with _process(command) as process:
        try:
            out, err = process.communicate(command.stdin, timeout=command.timeout_s)
        except subprocess.TimeoutExpired as error:
            _end(process)
            out, err = process.communicate()
            raise CommandTimeoutError(
                f"{host.name}: not done after {command.timeout_s:g} s",
                host=host.name,
                stdout=out.decode(errors="replace"),
                stderr=err.decode(errors="replace"),
            ) from error
    limit = command.output_limit_bytes
    return ShellResult(
        exit_status=process.returncode if process.returncode >= 0 else -1,
        stdout=out[:limit].decode(errors="replace"),
        stderr=err[:limit].decode(errors="replace"),
        duration_s=time.monotonic() - started,
        dropped_bytes=max(0, len(out) - limit) + max(0, len(err) - limit),
    )


@contextlib.contextmanager
def _process(command: ShellCommand) -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(
        ["/bin/sh", "-c", command.text],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            _end(process)


def _chunks(host: Host, command: ShellCommand, process: "subprocess.Popen[bytes]") -> Iterator[bytes]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(command.stdin)
    process.stdin.close()
    deadline = time.monotonic() + command.timeout_s
    while True:
        ready, _, _ = select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise CommandTimeoutError(f"{host.name}: not done after {command.timeout_s:g} s", host=host.name)
        chunk = os.read(process.stdout.fileno(), 65536)
        if not chunk:
            return
        yield chunk


def _end(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
