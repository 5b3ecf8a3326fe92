"""Field splitting by IFS, and the builtins that read their standard input: read and mapfile."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from bot.core.discovery.shell_state import Scope, Variable, unset
from bot.core.discovery.shell_syntax import Simple
from bot.core.discovery.shell_tests import LIKELY, NO, YES, Status

if TYPE_CHECKING:
    from bot.core.discovery.shell_run import Interpreter

BLANKS = " \t\n"
#: what is unknown is one piece, whatever its source holds
_MARKED = "[\ue000\ue002][^\ue001\ue003]*[\ue001\ue003]"
_READ_VALUES = "adinNptu"


def separators(scope: Scope) -> str:
    """The characters that fields are split at."""
    variable = scope.variables.get("IFS")
    return BLANKS if variable is None else variable.text


@lru_cache(maxsize=64)
def _tokens(ifs: str) -> re.Pattern[str]:
    blank = "".join(char for char in BLANKS if char in ifs)
    solid = "".join(char for char in ifs if char not in BLANKS)
    blanks = f"[{re.escape(blank)}]*" if blank else ""
    hard = f"(?P<hard>{blanks}[{re.escape(solid)}]{blanks})" if solid else "(?P<hard>(?!))"
    soft = f"(?P<soft>[{re.escape(blank)}]+)" if blank else "(?P<soft>(?!))"
    return re.compile(f"{hard}|{soft}|(?P<text>(?:{_MARKED}|[^{re.escape(ifs)}])+)")


def cut(text: str, ifs: str) -> Iterator[tuple[str, bool]]:
    """Pieces of a text between separators: (text, False); a separator: ("", whether it ends a field even where that
    is empty)."""
    if not ifs:
        yield text, False
        return
    for match in _tokens(ifs).finditer(text):
        if match["text"] is not None:
            yield match["text"], False
        else:
            yield "", match["hard"] is not None


def split(text: str, ifs: str, limit: int = 0) -> list[str]:
    """Fields of a line as `read` takes them; with a `limit` the last one keeps the rest as it is."""
    blank = "".join(char for char in BLANKS if char in ifs)
    if not ifs:
        return [text] if text else []
    text = text.strip(blank)
    fields: list[str] = []
    position = 0
    while position < len(text) and (not limit or len(fields) < limit - 1):
        current = position
        end = len(text)
        for match in _tokens(ifs).finditer(text, position):
            if match["text"] is None:
                end, position = match.start(), match.end()
                break
        else:
            position = end
        fields.append(text[current:end])
    if position < len(text):
        fields.append(text[position:])
    return fields


def read(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    """One line, or up to the delimiter, of the standard input."""
    options, names = _read_options(words)
    array = options.get("a")
    lines = shell.stdin
    if lines is None:
        for name in [array] if array else names:
            shell.scope.assign(name, unset("$" + name), shell.origin())
        return LIKELY
    if not lines:
        for name in names:
            shell.scope.assign(name, "", shell.origin())
        return NO
    text, complete = _taken(lines, options)
    if "r" not in options:
        text = re.sub(r"\\(.)", r"\1", text)
    ifs = _separators(node, shell)
    if array:
        shell.scope.assign(array, tuple(split(text, ifs)), shell.origin())
    elif names == ["REPLY"]:
        shell.scope.assign("REPLY", text, shell.origin())
    else:
        fields = split(text, ifs, len(names))
        for number, name in enumerate(names):
            shell.scope.assign(name, fields[number] if number < len(fields) else "", shell.origin())
    return YES if complete else NO


def _separators(node: Simple, shell: "Interpreter") -> str:
    for one in node.assignments:
        if one.name == "IFS":
            return shell.expander.text(one.value)
    return separators(shell.scope)


def _taken(lines: list[str], options: dict[str, str]) -> tuple[str, bool]:
    """What one call takes off the input, and whether its delimiter was there."""
    delimiter = options.get("d")
    if delimiter is None:
        line = lines.pop(0)
        while "r" not in options and line.endswith("\\") and lines:
            line = line[:-1] + lines.pop(0)
        return line, True
    whole = "\n".join(lines) + "\n"
    taken, found, rest = whole.partition(delimiter) if delimiter else (whole, "", "")
    lines[:] = rest.splitlines()
    return taken, bool(found)


def _read_options(words: list[str]) -> tuple[dict[str, str], list[str]]:
    options: dict[str, str] = {}
    position = 1
    while position < len(words) and re.match(r"-[A-Za-z]", words[position]):
        letters = words[position][1:]
        position += 1
        for number, letter in enumerate(letters):
            if letter not in _READ_VALUES:
                options[letter] = ""
                continue
            rest = letters[number + 1 :]
            options[letter] = rest or (words[position] if position < len(words) else "")
            position += not rest
            break
    return options, words[position:] or ["REPLY"]


def mapfile(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    """All lines of the standard input."""
    names = [word for word in words[1:] if not word.startswith("-")] or ["MAPFILE"]
    if shell.stdin is None:
        shell.scope.variables[names[-1]] = Variable(unset("$" + names[-1]))
        return LIKELY
    lines = tuple(shell.stdin)
    if "-d" in words[1:-1] and len(names) > 1:
        delimiter = words[words.index("-d") + 1]
        pieces = "\n".join(lines).split(delimiter) if delimiter else list(lines)
        lines = tuple(pieces[:-1] if pieces[-1:] == [""] else pieces)
    shell.scope.assign(names[-1], lines, shell.origin())
    return YES
