"""Commands given to tmux and screen."""

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.core.discovery import program_options as options
from bot.core.discovery.child_shell import run_shell_text, scope_of
from bot.core.discovery.launch_call import Call
from bot.core.discovery.shell_state import Variable, clean, join_path, render
from bot.core.discovery.shell_tests import LIKELY, Status, program_status

if TYPE_CHECKING:
    from bot.core.discovery.shell_run import Interpreter

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


def tmux(shell: "Interpreter", call: Call) -> Status:
    start = options.TMUX.end(call.argv)
    commands: list[list[str]] = [[]]
    for word in call.argv[start:]:
        if word == ";":
            commands.append([])
        else:
            commands[-1].append(word)
    status = LIKELY
    for words in commands:
        if words:
            status = _tmux_command(shell, call, words)
    return status


def _tmux_command(shell: "Interpreter", call: Call, words: list[str]) -> Status:
    pairs, position = options.TMUX_COMMAND.read(words)
    given = dict(pairs)
    name, rest = words[0], tuple(words[position:])
    if name in ("send-keys", "send"):
        return _typed(shell, call, given.get("-t", ""), rest)
    if name not in ("new-session", "new", "new-window", "neww", "split-window", "splitw", "respawn-pane", "respawnp"):
        return program_status(("tmux", name))
    cwd = join_path(call.cwd, given["-c"]) if "-c" in given else call.cwd
    env = dict(call.env)
    for option, value in pairs:
        if option == "-e" and (match := _ASSIGNMENT.fullmatch(value)):
            env[match[1]] = Variable(match[2], True, shell.origin(call.line))
    session = given.get("-s") or given.get("-t", "")
    return _terminal(shell, replace(call, cwd=cwd, env=env), session.partition(":")[0], rest)


def screen(shell: "Interpreter", call: Call) -> Status:
    pairs, position = options.SCREEN.read(call.argv)
    given = dict(pairs)
    rest = call.argv[position:]
    if "-X" in given:
        if rest[:1] == ("stuff",) and len(rest) > 1:
            text = rest[1].replace("^M", "\n").replace("\\n", "\n").replace("\r", "\n").rstrip("\n")
            return _typed(shell, call, given.get("-S", ""), (text,))
        return LIKELY
    if "-r" in given or "-x" in given:
        return program_status(call.argv)
    return shell.dispatch(call.with_argv(rest)) if rest else LIKELY


def _terminal(shell: "Interpreter", call: Call, session: str, words: tuple[str, ...]) -> Status:
    """The command of a new window: one word is shell text, several are a program."""
    if len(words) == 1:
        run_shell_text(shell, call, words[0], ())
    elif words:
        return shell.dispatch(call.with_argv(words))
    shell.sessions.setdefault(session, scope_of(shell, call))
    return LIKELY


def _typed(shell: "Interpreter", call: Call, target: str, keys: tuple[str, ...]) -> Status:
    """Text typed into a window; it runs once Enter follows."""
    session = target.partition(":")[0]
    scope = shell.sessions.setdefault(session, scope_of(shell, call))
    words = [word for word in keys if word not in ("Enter", "C-m", "KPEnter", "C-j", "C-c", "C-l", "C-d", "C-u")]
    inner = shell.child(scope)
    inner.run_text(clean(render(" ".join(words))))
    shell.sessions[session] = inner.scope
    return LIKELY
