"""From a command to the launch behind it: what hands on, wrappers, shells, terminals, containers, known scripts."""

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from bot.core.discovery.child_shell import run_script, run_shell_text
from bot.core.discovery.container_programs import compose, docker
from bot.core.discovery.hand_on import PASSING, wrapped, wrapper_length
from bot.core.discovery.launch_call import Call
from bot.core.discovery.program_options import LOOSE_WRAPPERS
from bot.core.discovery.shell_files import find_file
from bot.core.discovery.shell_output import OUTPUT
from bot.core.discovery.shell_results import emit, start_written
from bot.core.discovery.shell_state import Leave, basename, place_of, render
from bot.core.discovery.shell_syntax import Simple
from bot.core.discovery.shell_tests import LIKELY, YES, Status, program_status
from bot.core.discovery.terminals import screen, tmux

if TYPE_CHECKING:
    from bot.core.discovery.shell_run import Interpreter

_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "rbash"))


_DOCKERS = frozenset(("docker", "podman", "nerdctl", "nvidia-docker", "docker.io"))


_DEPTH = 30


Handler = Callable[["Interpreter", Call], Status]


def dispatch(shell: "Interpreter", call: Call, depth: int = 0) -> Status:
    """Follow one command. What is no launch gives the status that it is taken to end with."""
    if not call.argv or depth > _DEPTH:
        return LIKELY
    name = basename(call.argv[0])
    passing = PASSING.get(name)
    if passing is not None:
        inner = passing(shell, call)
        if inner is not None:
            status = _output(shell, inner)
            if status is not None:
                return status
            status = dispatch(shell, inner, depth + 1) if inner.argv != call.argv else LIKELY
            return _after_exec(status) if name == "exec" else status
    if re.fullmatch(r"python[\d.]*", name) and wrapper_length(call.argv[1:]):
        # conda and poetry are Python programs themselves: so a process shows them
        call = call.with_argv(call.argv[1:])
    wrapper = wrapper_length(call.argv)
    if wrapper:
        return dispatch(shell, wrapped(call, wrapper), depth + 1)
    if name in _SHELLS:
        return _shell_program(shell, call, fish=name == "fish")
    handler = _HANDLERS.get(name)
    if handler is not None:
        return handler(shell, call)
    return _program(shell, call, depth)


def _output(shell: "Interpreter", call: Call) -> Status | None:
    """`sudo tee`, `command printf` and the like: what writes the same whoever runs it."""
    program = OUTPUT.get(call.argv[0]) if call.argv else None
    return program(shell, list(call.argv), Simple(call.line)) if program is not None else None


def _after_exec(status: Status) -> Status:
    raise Leave("exit")


def _program(shell: "Interpreter", call: Call, depth: int) -> Status:
    if emit(shell, call):
        return YES
    name = call.argv[0]
    script = find_file(shell, name) if "/" in name or name.endswith(".sh") else None
    if script is not None:
        run_script(
            shell,
            call,
            script.kind,
            script.path or place_of(shell.scope.cwd, name) or render(name),
            script.text,
            call.argv[1:],
        )
        return LIKELY
    if basename(name) in LOOSE_WRAPPERS or name.endswith(".sh"):
        for position in range(1, len(call.argv)):
            if shell.world.is_server(call.argv[position:]):
                inner = call.wrapped(position)
                return dispatch(shell, inner, depth + 1)
    shell.write_unknown()
    return program_status(call.argv)


def _shell_options(argv: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """(letters of the options, what follows them): `-c` is an option like others, its text the first word behind."""
    letters = ""
    position = 1
    while position < len(argv) and re.match(r"[-+].|-$", argv[position]):
        word = argv[position]
        position += 1
        if word in ("-", "--"):
            break
        if word.startswith("--"):
            letters += "c" if word == "--command" else ""
            position += word in ("--rcfile", "--init-file", "--emulate")
        else:
            letters += word[1:]
            position += word[-1] in "oO"
    return letters, argv[position:]


def _shell_program(shell: "Interpreter", call: Call, *, fish: bool) -> Status:
    letters, rest = _shell_options(call.argv)
    if "c" in letters:
        text = rest[0] if rest else ""
        if fish:
            run_shell_text(shell, call, render(text), rest[1:], fish=True)
        else:
            zsh = basename(call.argv[0]) == "zsh"
            run_shell_text(shell, call, text, rest[2:], zsh=zsh, name=rest[1] if len(rest) > 1 else None)
        return LIKELY
    if rest and "s" not in letters:
        script = find_file(shell, rest[0])
        if script is not None:
            run_script(
                shell,
                call,
                script.kind,
                script.path or place_of(shell.scope.cwd, rest[0]) or render(rest[0]),
                script.text,
                rest[1:],
            )
        return LIKELY
    if call.stdin is not None:
        run_shell_text(shell, call, call.stdin, (), fish=fish)
    return LIKELY


def _systemctl(shell: "Interpreter", call: Call) -> Status:
    """Starting a unit that the same text has written."""
    words = [word for word in call.argv[1:] if not word.startswith("-")]
    starting = words[:1] in (["start"], ["restart"]) or (words[:1] == ["enable"] and "--now" in call.argv)
    names = [word if "." in word.rpartition("@")[2] else f"{word}.service" for word in words[1:]] if starting else []
    for path, text in list(shell.world.written.items()):
        if path.rpartition("/")[2] in names:
            start_written(shell, path, text)
    shell.write_unknown()
    return program_status(call.argv)


def _quiet(shell: "Interpreter", call: Call) -> Status:
    """Programs whose arguments are never a command of this host."""
    shell.write_unknown()
    return program_status(call.argv)


_HANDLERS: Mapping[str, Handler] = {
    "systemctl": _systemctl,
    "tmux": tmux,
    "byobu": tmux,
    "screen": screen,
    **dict.fromkeys(_DOCKERS, docker),
    **dict.fromkeys(("docker-compose", "podman-compose"), compose),
    **dict.fromkeys(
        ("ssh", "pdsh", "ansible", "watch", "xargs", "parallel", "find", "man", "kubectl", "logger"), _quiet
    ),
}
