"""Make a command independent of the account's login shell, which may be csh, fish or anything else.

sshd hands the command line to the login shell, so that line holds only what all shells read alike: printable ASCII in
single quotes, without backslash (fish), exclamation mark (csh), quote and newline. Other text goes over standard input.
The command says its process id first, on standard error, so that it can be ended: sshd does not end a command when its
channel closes, and refuses signals for root.
"""

import re
from dataclasses import dataclass

from bot.core.domain.shell import ShellCommand
from bot.errors import BadInputError

_PLAIN = re.compile(r"[ -~]*")
_SPECIAL = frozenset("\\!'")
#: Linux refuses a single argument of 128 KiB
_MAX_LINE = 100_000

_SAY_PID = "echo relaunch-pid $$ >&2"
_SAID_PID = re.compile(r"^relaunch-pid (\d+)\n", re.MULTILINE)

#: reads the program line by line with `read`, which never reads past a newline, and leaves the rest to the program
_READER = 'IFS= read -r _relaunch_line; eval "$_relaunch_line"'
_LOADER = (
    "_relaunch_nl=$(printf '\\nx'); _relaunch_nl=${{_relaunch_nl%x}}; _relaunch_text=; _relaunch_left={lines}; "
    'while [ "$_relaunch_left" -gt 0 ]; do IFS= read -r _relaunch_line; '
    "_relaunch_text=$_relaunch_text$_relaunch_line$_relaunch_nl; _relaunch_left=$((_relaunch_left-1)); done; "
    'eval "$_relaunch_text"\n'
)
#: SIGTERM to the process group of a pid (field 5 of /proc/PID/stat, counted after the name in brackets), then SIGKILL;
#: dash knows no `kill --`
_END = (
    "read -r line </proc/{pid}/stat || exit 0; set -- ${{line##*) }}; kill -TERM -$3; "
    "for i in 1 2 3 4 5; do kill -0 -$3 || exit 0; sleep 0.1; done; kill -KILL -$3"
)


@dataclass(frozen=True, slots=True)
class Wrapped:
    """What sshd is asked to run, and what goes to its standard input before the command's own."""

    line: str
    preamble: bytes = b""
    #: the command reads standard input to its end
    ends_input: bool = False


def wrap(command: ShellCommand, *, sudo: bool) -> Wrapped:
    """Wrap a command. `sudo`: run it through `sudo -n`. Raises BadInputError for text with a NUL."""
    if "\0" in command.text:
        raise BadInputError("a command holds a NUL character, which no shell can run")
    prefix, start = "exec", [_SAY_PID]
    if sudo:
        # the locale is set so that sudo's own complaints can be recognised, and unset again for the command
        prefix, start = "exec env LC_ALL=C sudo -n --", [_SAY_PID, "unset LC_ALL"]
    one_line = "; ".join([*start, command.text])
    if len(one_line) < _MAX_LINE and _PLAIN.fullmatch(one_line) and not _SPECIAL & set(one_line):
        tail = "" if command.stdin else " </dev/null"
        return Wrapped(f"{prefix} /bin/sh -c '{one_line}'{tail}", ends_input=bool(command.stdin))
    program = "\n".join([*start, command.text])
    if command.stdin:
        loader = _LOADER.format(lines=program.count("\n") + 1)
        return Wrapped(f"{prefix} /bin/sh -c '{_READER}'", _bytes(f"{loader}{program}\n"), ends_input=True)
    return Wrapped(f"{prefix} /bin/sh -s", _bytes(f"{{\n{program}\n}} </dev/null\nexit\n"))


def split_pid(stderr: str) -> tuple[int | None, str]:
    """The process id that a wrapped command said, and its standard error without that line."""
    said = _SAID_PID.search(stderr)
    if said is None:
        return None, stderr
    return int(said.group(1)), stderr[: said.start()] + stderr[said.end() :]


def ending(pid: int) -> ShellCommand:
    """Command that ends the process group of a wrapped command."""
    return ShellCommand(text=f"{{ {_END.format(pid=pid)}; }} 2>/dev/null", timeout_s=3.0)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
