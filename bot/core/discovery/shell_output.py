"""Small programs whose output is certain without running them: echo, printf, dirname, seq and the like."""

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from bot.core.discovery.program_options import Options
from bot.core.discovery.shell_files import readable_file, write_file
from bot.core.discovery.shell_filters import FILTERS, run_filter
from bot.core.discovery.shell_state import Sink, basename, directory, has_unknown, join_path, place_of
from bot.core.discovery.shell_syntax import Simple
from bot.core.discovery.shell_tests import LIKELY, YES, Status

if TYPE_CHECKING:
    from bot.core.discovery.shell_run import Interpreter

_SEQ = Options(frozenset(("-s", "--separator", "-f", "--format")))


def _echo(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    arguments = words[1:]
    newline = "\n"
    while arguments and re.fullmatch(r"-[neE]+", arguments[0]):
        newline = "" if "n" in arguments.pop(0) else newline
    text = " ".join(arguments)
    if has_unknown(text) and not _written(node):
        shell.write_unknown()
    else:
        shell.write(text + newline)
    return YES


def _written(node: Simple) -> bool:
    return any(redirect.operator in (">", ">>", ">|") for redirect in node.redirects)


def _printf(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    arguments = words[1:]
    name = None
    if arguments[:1] == ["-v"] and len(arguments) > 2:
        name, arguments = arguments[1], arguments[2:]
    if not arguments:
        return YES
    text = _formatted(arguments[0], arguments[1:])
    if name is not None:
        shell.scope.assign(name, text, shell.origin())
    elif has_unknown(text) and not _written(node):
        shell.write_unknown()
    else:
        shell.write(text)
    return YES


def _formatted(pattern: str, values: list[str]) -> str:
    """printf with %s, %d, %b, %q and the usual escapes; the pattern repeats while values are left."""
    escapes = {"\\n": "\n", "\\t": "\t", "\\\\": "\\", "\\r": "\r"}
    out: list[str] = []
    queue = list(values)
    for _ in range(max(len(values), 1)):
        before = len(queue)
        for token in re.findall(r"\\.|%%|%[-0-9.]*[sdbqif]|[^\\%]+|.", pattern, re.DOTALL):
            if token == "%%":
                out.append("%")
            elif token[0] == "%" and len(token) > 1:
                value = queue.pop(0) if queue else ""
                width = re.match(r"%0(\d+)d", token)
                out.append(value.zfill(min(int(width[1]), 20)) if width else value)
            else:
                out.append(escapes.get(token, token))
        if not queue or len(queue) == before:
            break
    return "".join(out)


def _cat(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    files = [word for word in words[1:] if not word.startswith("-")]
    known = [file for name in files if (file := readable_file(shell, name)) is not None]
    if files and len(known) == len(files):
        for file in known:
            if file.path:
                shell.scope.add_source(file.kind, file.path)
            shell.write(file.text)
    elif files or shell.stdin is None:
        shell.write_unknown()
    else:
        shell.write("".join(line + "\n" for line in shell.stdin))
    return LIKELY


def _xargs(shell: "Interpreter", words: list[str], node: Simple) -> Status | None:
    """`… | xargs` alone joins lines to words."""
    if shell.stdin is None or any(not re.fullmatch(r"-[0dL].*|\\n|1", word) for word in words[1:]):
        return None
    lines = (line for line in shell.stdin if line.strip() and not line.lstrip().startswith("#"))
    shell.write(" ".join(re.sub(r"=([\"'])(.*)\1$", r"=\2", line.strip()) for line in lines) + "\n")
    return LIKELY


def _tee(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    if shell.stdin is None:
        shell.write_unknown()
        return LIKELY
    text = "".join(line + "\n" for line in shell.stdin)
    for target in words[1:]:
        path = place_of(shell.scope.cwd, target)
        if path and not target.startswith("-"):
            write_file(shell, path, Sink([text]), append="-a" in words)
    shell.write(text)
    return LIKELY


def _copied(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    """cp, mv, install and ln of files that this text wrote."""
    names = [word for word in words[1:] if not word.startswith("-")]
    given = re.findall(r"(?:^|\0)-[mog]\0([^\0]+)", "\0".join(words[1:])) if words[0] == "install" else []
    places = [place_of(shell.scope.cwd, name) for name in names if name not in given]
    target = places[-1] if len(places) > 1 else None
    for source in places[:-1]:
        text = shell.world.written.get(source or "")
        if text is not None and source is not None and target is not None:
            folder = names[-1].endswith("/") or len(places) > 2 or "." not in basename(target)
            shell.world.written[f"{target.rstrip('/')}/{basename(source)}" if folder else target] = text
    return LIKELY


def _path_program(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    arguments = [word for word in words[1:] if not re.fullmatch(r"-[femqsz]+|--\w[\w-]*|--", word)]
    name = words[0]
    text: str | None = None
    if arguments and not has_unknown(arguments[0]):
        if name == "dirname":
            text = directory(arguments[0])
        elif name == "basename":
            text = basename(arguments[0]).removesuffix(arguments[1] if len(arguments) > 1 else "\0")
        else:
            text = join_path(shell.scope.cwd, arguments[0])
            if text is None and arguments[0] == shell.scope.script:
                text = arguments[0]
    if text is None:
        shell.write_unknown()
    else:
        shell.write(text + "\n")
    return LIKELY


def _pwd(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    if shell.scope.cwd is None:
        shell.write_unknown()
    else:
        shell.write(shell.scope.cwd + "\n")
    return YES


def _seq(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    start = next((n for n, word in enumerate(words) if n and re.fullmatch(r"-\d+", word)), len(words))
    pairs, position = _SEQ.read(words[:start])
    given = dict(pairs)
    separator = given.get("-s") or given.get("--separator") or "\n"
    arguments = [] if {"-f", "--format"} & given.keys() else words[position:]
    numbers = [int(word) for word in arguments if re.fullmatch(r"-?\d{1,9}", word)]
    if len(numbers) != len(arguments) or not 1 <= len(numbers) <= 3:
        shell.write_unknown()
        return LIKELY
    first = numbers[0] if len(numbers) > 1 else 1
    step = numbers[1] if len(numbers) == 3 else 1
    last = numbers[-1]
    values = range(first, last + (1 if step > 0 else -1), step or 1)[:200]
    shell.write(separator.join(map(str, values)) + "\n")
    return YES


def _whoami(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    if shell.scope.user is None or (words[0] == "id" and words[1:] not in (["-un"], ["-u", "-n"])):
        shell.write_unknown()
    else:
        shell.write(shell.scope.user + "\n")
    return LIKELY


OUTPUT: Mapping[str, Callable[["Interpreter", list[str], Simple], Status | None]] = {
    **dict.fromkeys(("dirname", "basename", "realpath", "readlink"), _path_program),
    **dict.fromkeys(("whoami", "id"), _whoami),
    **dict.fromkeys(FILTERS, run_filter),
    **dict.fromkeys(("cp", "mv", "install", "ln"), _copied),
    "xargs": _xargs,
    "echo": _echo,
    "printf": _printf,
    "cat": _cat,
    "tee": _tee,
    "pwd": _pwd,
    "seq": _seq,
}
