"""Programs that only hand a command on (sudo, nohup, env, systemd-run), and wrappers that must be repeated to get the
same process (numactl, uv run)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.core.discovery import program_options as options
from bot.core.discovery.accounts import ACCOUNTS, with_assignments
from bot.core.discovery.launch_call import Call
from bot.core.discovery.program_options import WRAPPERS, Options
from bot.core.discovery.shell_state import Variable, basename, join_path

if TYPE_CHECKING:
    from bot.core.discovery.shell_run import Interpreter

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


def _env(shell: "Interpreter", call: Call) -> Call | None:
    pairs, position = options.ENV.read(call.argv)
    env = dict(call.env)
    cwd = call.cwd
    split: list[str] = []
    for option, value in pairs:
        if option in ("-i", "--ignore-environment"):
            env = {}
        elif option in ("-u", "--unset"):
            env.pop(value, None)
        elif option in ("-C", "--chdir"):
            cwd = join_path(cwd, value)
        elif option in ("-S", "--split-string"):
            split = value.split()
    if call.argv[position : position + 1] == ("-",):
        env, position = {}, position + 1
    inner = replace(call, env=env, cwd=cwd, argv=(*split, *call.argv[position:]))
    return with_assignments(inner, 0, shell.origin(call.line))


def _skip(syntax: Options) -> Callable[["Interpreter", Call], Call | None]:
    def handed_on(shell: "Interpreter", call: Call) -> Call | None:
        return call.with_argv(call.argv[syntax.end(call.argv) + syntax.positional :])

    return handed_on


def _systemd_run(shell: "Interpreter", call: Call) -> Call | None:
    pairs, position = options.SYSTEMD_RUN.read(call.argv)
    given = dict(pairs)
    scope = "--scope" in given
    env = dict(call.env) if scope else {}
    cwd = call.cwd if scope or "-d" in given or "--same-dir" in given else None
    user = given.get("--uid")
    for option, value in pairs:
        name, _, text = value.partition("=")
        if option in ("-E", "--setenv"):
            env[name] = (
                Variable(text, True, shell.origin(call.line)) if "=" in value else call.env.get(name, Variable(""))
            )
        elif option in ("-p", "--property"):
            cwd = text if name == "WorkingDirectory" else cwd
            user = text if name == "User" else user
            if name == "Environment" and (match := _ASSIGNMENT.fullmatch(text.strip("\"'"))):
                env[match[1]] = Variable(match[2], True, shell.origin(call.line))
    cwd = given.get("--working-directory") or cwd
    unit = given.get("--unit") or given.get("-u")
    if unit and "." not in unit.rpartition("@")[2][-8:]:
        unit += ".service"
    inner = replace(call, argv=call.argv[position:], env=env, cwd=cwd, user=user or call.user)
    return inner if scope else replace(inner, unit=unit or "run-*.service", venv=None)


def _script_program(shell: "Interpreter", call: Call) -> Call | None:
    """util-linux's `script -c TEXT FILE`."""
    text = dict(options.SCRIPT.read(call.argv)[0])
    command = text.get("-c") or text.get("--command")
    return call.with_argv(("sh", "-c", command)) if command else call.with_argv(())


PASSING: Mapping[str, Callable[["Interpreter", Call], Call | None]] = {
    **ACCOUNTS,
    "env": _env,
    "nohup": _skip(options.SETSID),
    "setsid": _skip(options.SETSID),
    "command": _skip(options.SETSID),
    "builtin": _skip(options.SETSID),
    "noglob": _skip(options.SETSID),
    "nocorrect": _skip(options.SETSID),
    "exec": _skip(options.EXEC),
    "time": _skip(options.TIME),
    "systemd-cat": _skip(options.SYSTEMD_CAT),
    "dtach": _skip(Options(frozenset(("-A", "-c", "-n", "-N")))),
    "systemd-run": _systemd_run,
    "script": _script_program,
}


def wrapper_length(argv: tuple[str, ...]) -> int:
    """How many words at the head are a wrapper, 0 where none is."""
    if not argv:
        return 0
    head = (basename(argv[0]), *argv[1:])
    for name, syntax in WRAPPERS.items():
        start = len(name)
        if head[:start] == name:
            return _past(syntax, argv, start)
        if start > 1 and head[:1] == name[:1]:
            # options of the program itself stand before the sub-command: uv --directory X run
            position = syntax.end(argv, 1)
            if position > 1 and argv[position : position + start - 1] == name[1:]:
                return _past(syntax, argv, position + start - 1)
    return 0


def _past(syntax: Options, argv: tuple[str, ...], start: int) -> int:
    position = start
    while position < len(argv):
        word = argv[position]
        if word in ("-m", "--module") and "--with" in syntax.values:
            return position
        if word == "--" or not word.startswith("-") or word == "-":
            break
        position = syntax.end(argv[: position + 2], position) if word in syntax.values else position + 1
    position += position < len(argv) and argv[position] == "--"
    return position + syntax.positional if position + syntax.positional < len(argv) else 0


def wrapped(call: Call, length: int) -> Call:
    """The call behind its wrapper; options that change the folder or the module are carried out."""
    head = call.argv[:length]
    inner = call.wrapped(length)
    if head[-1:] == ("--",):
        inner = replace(inner, wrappers=(*call.wrappers, head[:-1]))
    following = (*head[1:], "")
    folder = next(
        (
            word.partition("=")[2] or following[number]
            for number, word in enumerate(head)
            if word.partition("=")[0] in ("--cwd", "--directory")
        ),
        None,
    )
    if folder:
        inner = replace(inner, cwd=join_path(call.cwd, folder))
    if inner.argv[:1] in (("-m",), ("--module",)):
        inner = inner.with_argv(("python", "-m", *inner.argv[1:]))
    isolated = basename(head[0]) not in ("numactl", "taskset", "nice", "ionice", "chrt", "stdbuf", "timeout", "prlimit")
    return replace(inner, venv=None) if isolated else inner
