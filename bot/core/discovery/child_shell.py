"""Shells that a command starts: for a script, or for the text of `sh -c`."""

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.core.discovery.launch_call import Call
from bot.core.discovery.shell_dialect import SH, ZSH
from bot.core.discovery.shell_state import Scope, clean, render

if TYPE_CHECKING:
    from bot.core.discovery.shell_run import Interpreter


def run_script(shell: "Interpreter", call: Call, kind: str, path: str, text: str, arguments: tuple[str, ...]) -> None:
    """Follow a script in a shell of its own."""
    scope = scope_of(shell, call)
    scope.script = path or None
    scope.positional = arguments
    scope.variables.pop("BASH_SOURCE", None)
    where = f"{kind.replace('_', ' ')} {path}" if path else shell.where
    if path and path not in shell.world.written:
        scope.add_source(kind, path)
    first = text[:100].partition("\n")[0]
    scope.dialect = ZSH if path.endswith(".zsh") or (first.startswith("#!") and "zsh" in first) else SH
    inner = shell.child(scope, where=where, fish=first.startswith("#!") and "fish" in first)
    count = len(shell.launches)
    inner.run_text(clean(text))
    _carry_wrappers(shell, call, count)


def run_shell_text(
    shell: "Interpreter",
    call: Call,
    text: str,
    arguments: tuple[str, ...],
    *,
    fish: bool = False,
    zsh: bool = False,
    name: str | None = None,
) -> None:
    """Follow `sh -c TEXT NAME …` in a shell of its own; `name` is its `$0`."""
    scope = scope_of(shell, call)
    scope.positional = arguments
    scope.script = name or shell.scope.script
    scope.dialect = ZSH if zsh else SH
    count = len(shell.launches)
    inner = shell.child(scope, fish=fish)
    inner.run_text(clean(render(text)))
    _carry_wrappers(shell, call, count)


def _carry_wrappers(shell: "Interpreter", call: Call, count: int) -> None:
    """Wrappers in front of a script, and where its output goes, hold for the launches in it."""
    shell.launches[count:] = [
        replace(
            one,
            wrappers=(*call.wrappers, *one.wrappers),
            logs=one.logs or call.logs,
            unit=one.unit or call.unit,
            runner="systemd" if one.unit or call.unit else one.runner,
        )
        for one in shell.launches[count:]
    ]


def scope_of(shell: "Interpreter", call: Call) -> Scope:
    """The state of a shell that this command starts."""
    scope = shell.scope.child(None, ())
    scope.variables = dict(call.env)
    scope.cwd = call.cwd
    scope.user = call.user or shell.scope.user
    scope.home = call.home
    scope.venv = call.venv
    return scope
