"""Remote commands as values. Quoting happens here and nowhere else."""

import shlex
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellCommand:
    """POSIX sh text to run on a host. Build it with `shell()`, or from a template whose values went through `quote`."""

    text: str
    #: sent to the command's standard input, then closed
    stdin: bytes = b""
    timeout_s: float = 30.0
    #: stdout and stderr are each cut after this many bytes (the head is kept; the rest is drained and counted)
    output_limit_bytes: int = 2_000_000
    #: run as root: as it is when logged in as root, else through `sudo -n`
    as_root: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellResult:
    """What a remote command gave. Text is decoded as UTF-8 with replacement characters."""

    exit_status: int
    stdout: str
    stderr: str
    duration_s: float = 0.0
    #: bytes of stdout and stderr that were dropped because of `output_limit_bytes`
    dropped_bytes: int = 0

    @property
    def ok(self) -> bool:
        """Whether the exit status was 0."""
        return self.exit_status == 0


def quote(word: str) -> str:
    """Quote one word for sh."""
    return shlex.quote(word)


def shell(*words: str, stdin: bytes = b"", timeout_s: float = 30.0, as_root: bool = False) -> ShellCommand:
    """Make a command out of words; each is quoted."""
    return ShellCommand(text=shlex.join(words), stdin=stdin, timeout_s=timeout_s, as_root=as_root)
