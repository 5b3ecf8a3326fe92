"""Files that a shell reads and writes: redirections, here-documents, scripts that artefacts or the text itself give."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.core.discovery.shell_state import Sink, has_unknown, join_path, place_of, render
from bot.core.discovery.shell_syntax import Node, Redirect, Simple
from bot.core.discovery.shell_tests import Status
from bot.core.discovery.shell_world import ShellFile

if TYPE_CHECKING:
    from bot.core.discovery.shell_run import Interpreter


def log_paths(shell: "Interpreter", redirects: list[Redirect]) -> list[str]:
    paths = []
    for redirect in redirects:
        if redirect.operator in (">", ">>", ">|", "&>", "&>>") and redirect.descriptor in ("", "1"):
            path = join_path(shell.scope.cwd, shell.expander.text(redirect.target))
            if path and path != "/dev/null":
                paths.append(path)
    return paths


def redirected(shell: "Interpreter", redirects: list[Redirect], action: Callable[[], Status]) -> Status:
    """Run with here-documents as input; output to a file is kept as what the file then holds."""
    kept_stdin, kept_sink = shell.stdin, shell.sink
    target: tuple[str, bool] | None = None
    for redirect in redirects:
        text = _input(shell, redirect)
        if text is not None:
            shell.stdin = text.splitlines()
        elif redirect.operator in (">", ">>", ">|", "&>", "&>>") and redirect.descriptor in ("", "1"):
            path = place_of(shell.scope.cwd, shell.expander.text(redirect.target))
            target = (path or "", ">>" in redirect.operator)
            shell.sink = Sink()
    try:
        return action()
    finally:
        if target is not None:
            write_file(shell, target[0], shell.sink, append=target[1])
        shell.stdin, shell.sink = kept_stdin, kept_sink


def _input(shell: "Interpreter", redirect: Redirect) -> str | None:
    if redirect.operator in ("<<", "<<-"):
        return shell.expander.text(redirect.heredoc)
    if redirect.operator == "<<<":
        return shell.expander.text(redirect.target) + "\n"
    if redirect.operator == "<":
        piped = redirect.target.process
        if piped is not None:
            return shell.substitute(piped)
        found = find_file(shell, shell.expander.text(redirect.target))
        return found.text if found else None
    return None


def write_file(shell: "Interpreter", path: str, sink: Sink, *, append: bool) -> None:
    """Remember what a file holds after this."""
    if not path or path.startswith("/dev/") or sink.opaque or not sink.parts:
        return
    before = shell.world.written.get(path, "") if append else ""
    shell.world.written[path] = (before + "".join(sink.parts))[-200_000:]


def find_file(shell: "Interpreter", path: str) -> ShellFile | None:
    """A file that an artefact or a here-document gives. Where the folder is not known, the one of that name."""
    full = join_path(shell.scope.cwd, path)
    place = full or place_of(shell.scope.cwd, path)
    # what was typed into a file long ago says less than the file itshell
    typed = not shell.scope.sources and any(one.kind == "history" for one in shell.surroundings.evidence)
    if place is not None and place in shell.world.written and not (typed and place in shell.world.files):
        return ShellFile("script", "", render(shell.world.written[place]))
    if full is not None:
        if full in shell.world.files:
            return shell.world.files[full]
        shell.world.missing[full] = None
        return None
    tail = "/" + render(path).lstrip("~./").rpartition("/")[2]
    same = [one for place, one in shell.world.files.items() if place.endswith(tail)]
    return same[0] if len(same) == 1 and len(tail) > 1 and not has_unknown(path) else None


def note_tee(shell: "Interpreter", following: list[Node], before: int) -> None:
    """`launch | tee FILE` writes a log."""
    for command in following:
        if not isinstance(command, Simple) or not command.words or command.words[0].literal != "tee":
            continue
        for target in shell.expander.fields(command.words[1:]):
            path = join_path(shell.scope.cwd, target)
            if path and not target.startswith("-"):
                shell.launches[before:] = [replace(one, logs=(*one.logs, path)) for one in shell.launches[before:]]


def readable_file(shell: "Interpreter", path: str) -> ShellFile | None:
    """A file whose text a command may print: variables, or what this text wrote itself. A script is only shown."""
    if path.startswith("-"):
        return None
    file = find_file(shell, path)
    return file if file is not None and (file.kind == "env_file" or not file.path) else None
