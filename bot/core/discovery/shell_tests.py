"""Conditions: `[ … ]`, `test`, `[[ … ]]`, and what other programs are taken to answer.

Nothing is looked up on the host. Files that a script asks for are taken to be there, servers it looks for not to run.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from bot.core.discovery.shell_state import known

#: programs that ask whether something runs already
_RUNNING_CHECKS = frozenset(
    ("pgrep", "pidof", "lsof", "fuser", "nc", "ncat", "curl", "wget", "ss", "netstat", "ps", "grep", "egrep", "fgrep",
     "rg", "pstree", "nmap", "killall", "pkill", "kill", "http")
)  # fmt: skip
_ASKING_ARGUMENTS = {
    "systemctl": ("is-active", "is-failed", "status"),
    "docker": ("ps", "inspect", "container", "top"),
    "podman": ("ps", "inspect", "container", "top"),
    "tmux": ("has-session", "has", "ls", "list-sessions"),
    "screen": ("-ls", "-list"),
    "service": ("status",),
}
_NUMERIC: dict[str, Callable[[int, int], bool]] = {
    "-eq": lambda a, b: a == b,
    "-ne": lambda a, b: a != b,
    "-lt": lambda a, b: a < b,
    "-le": lambda a, b: a <= b,
    "-gt": lambda a, b: a > b,
    "-ge": lambda a, b: a >= b,
}
_BINARY = frozenset((*_NUMERIC, "=", "==", "!=", "=~", "<", ">", "-nt", "-ot", "-ef"))
_FILE_TESTS = frozenset("-" + letter for letter in "abcdefghkprstuwxGLNOS")


class Status(NamedTuple):
    """How a command ends: success or not, and whether that is certain or only the likely way."""

    ok: bool
    certain: bool


YES = Status(True, True)
NO = Status(False, True)
LIKELY = Status(True, False)
UNLIKELY = Status(False, False)


def program_status(argv: Sequence[str]) -> Status:
    """What a program that is not run here is taken to answer."""
    name = argv[0].rpartition("/")[2] if argv else ""
    asking = _ASKING_ARGUMENTS.get(name)
    if name in _RUNNING_CHECKS or (asking and any(word in asking for word in argv[1:3])):
        return UNLIKELY
    return LIKELY


def evaluate_test(tokens: Sequence[str], *, extended: bool = False, matches: Callable[[str, str], bool]) -> Status:
    """A condition's words without the brackets. `matches(text, pattern)` compares for `==` inside `[[ ]]`."""
    reader = _Reader(list(tokens), extended, matches)
    status = reader.either()
    return status if reader.done() else LIKELY


class _Reader:
    def __init__(self, tokens: list[str], extended: bool, matches: Callable[[str, str], bool]) -> None:
        self._tokens = tokens
        self._position = 0
        self._extended = extended
        self._matches = matches

    def done(self) -> bool:
        return self._position >= len(self._tokens)

    def _peek(self, offset: int = 0) -> str:
        position = self._position + offset
        return self._tokens[position] if position < len(self._tokens) else ""

    def either(self) -> Status:
        status = self._both()
        while self._peek() in ("||", "-o"):
            self._position += 1
            other = self._both()
            status = status if status.ok and status.certain else _stronger(status, other, any_ok=True)
        return status

    def _both(self) -> Status:
        status = self._not()
        while self._peek() in ("&&", "-a"):
            self._position += 1
            other = self._not()
            status = _stronger(status, other, any_ok=False)
        return status

    def _not(self) -> Status:
        if self._peek() == "!" and self._position + 1 < len(self._tokens):
            self._position += 1
            status = self._not()
            return Status(not status.ok, status.certain)
        if self._peek() == "(" and (self._extended or ")" in self._tokens[self._position :]):
            self._position += 1
            status = self.either()
            self._position += self._peek() == ")"
            return status
        return self._primary()

    def _primary(self) -> Status:
        first, operator = self._peek(), self._peek(1)
        if operator in _BINARY and self._position + 2 < len(self._tokens) + 0:
            self._position += 3
            return self._compare(first, operator, self._tokens[self._position - 1])
        if first in ("-z", "-n") and self._position + 1 < len(self._tokens):
            self._position += 2
            text = known(operator)
            if text is None:
                return LIKELY if first == "-n" else UNLIKELY
            return YES if (text == "") == (first == "-z") else NO
        if first in _FILE_TESTS and self._position + 1 < len(self._tokens):
            self._position += 2
            return LIKELY
        if first in ("-v", "-R") and self._position + 1 < len(self._tokens):
            self._position += 2
            return UNLIKELY
        self._position += 1
        text = known(first)
        return LIKELY if text is None else (YES if text else NO)

    def _compare(self, left: str, operator: str, right: str) -> Status:
        a, b = known(left), known(right)
        if a is None or b is None:
            return UNLIKELY if operator in ("!=", "-ne") else LIKELY
        if operator in _NUMERIC:
            try:
                return YES if _NUMERIC[operator](int(a.strip() or 0), int(b.strip() or 0)) else NO
            except ValueError:
                return LIKELY
        if operator in ("-nt", "-ot", "-ef"):
            return LIKELY
        if operator in ("<", ">"):
            return YES if (a < b) == (operator == "<") and a != b else NO
        if operator == "=~":
            return _regular(a, b)
        same = self._matches(a, b) if self._extended else a == b
        return YES if same == (operator != "!=") else NO


def _regular(text: str, pattern: str) -> Status:
    # nested repetition can take for ever
    if len(text) > 500 or len(pattern) > 200 or re.search(r"[+*}][^()]*\)[+*{]", pattern):
        return LIKELY
    try:
        return YES if re.search(re.sub(r"\[\[:(\w+):\]\]", r"\\w", pattern), text) else NO
    except re.error:
        return LIKELY


def _stronger(a: Status, b: Status, *, any_ok: bool) -> Status:
    """`a` and `b` together: for `||` (any_ok) a certain yes decides, for `&&` a certain no."""
    deciding = YES if any_ok else NO
    if deciding in (a, b):
        return deciding
    ok = (a.ok or b.ok) if any_ok else (a.ok and b.ok)
    return Status(ok, a.certain and b.certain)
