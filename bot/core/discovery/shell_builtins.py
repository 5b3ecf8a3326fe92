"""Commands of the shell itself that change what later commands see, and small programs whose output is certain."""

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from bot.core.discovery.program_options import Options
from bot.core.discovery.shell_files import find_file
from bot.core.discovery.shell_output import OUTPUT
from bot.core.discovery.shell_read import mapfile, read
from bot.core.discovery.shell_state import (
    Leave,
    Variable,
    basename,
    clean,
    directory,
    join_path,
    render,
)
from bot.core.discovery.shell_syntax import Assignment, Simple
from bot.core.discovery.shell_tests import LIKELY, NO, YES, Status, evaluate_test

if TYPE_CHECKING:
    from bot.core.discovery.shell_run import Interpreter

#: gives None where the command is to be looked at as a program
Builtin = Callable[["Interpreter", list[str], Simple], Status | None]


def declare(shell: "Interpreter", assignment: Assignment, *, exported: bool | None) -> None:
    """Carry out one assignment; `exported` None leaves that as it is."""
    scope = shell.scope
    name = assignment.name
    before = scope.variables.get(name)
    value: str | tuple[str, ...] | dict[str, str]
    if assignment.array is not None:
        value = _array(shell, assignment, before)
    else:
        text = shell.expander.text(assignment.value)
        if assignment.index is not None:
            value = _element(shell, assignment, before, text)
        elif assignment.append and before is not None and not isinstance(before.value, str):
            value = (before.text + text, *before.values[1:])
        else:
            value = (before.text if assignment.append and before else "") + text
    scope.assign(name, value, shell.origin())
    if exported is not None:
        kept = scope.variables[name]
        scope.variables[name] = Variable(kept.value, exported or kept.exported, kept.origin)


def _array(shell: "Interpreter", assignment: Assignment, before: Variable | None) -> tuple[str, ...] | dict[str, str]:
    words = shell.expander.fields(assignment.array or ())
    keyed = [re.fullmatch(r"\[([^\]]+)\]=(.*)", word, re.DOTALL) for word in words]
    if words and all(keyed):
        table = dict(before.value) if before and isinstance(before.value, dict) and assignment.append else {}
        table.update({match[1].strip("\"'"): match[2] for match in keyed if match})
        return table
    if before is not None and isinstance(before.value, dict):
        return {**(before.value if assignment.append else {}), **dict(zip(words[::2], words[1::2], strict=False))}
    return (*(before.values if assignment.append and before else ()), *words)


def _element(
    shell: "Interpreter", assignment: Assignment, before: Variable | None, text: str
) -> tuple[str, ...] | dict[str, str]:
    key = shell.expander.text(assignment.index)
    if before is not None and isinstance(before.value, dict):
        return {**before.value, key: text}
    number = shell.expander.arithmetic(key) if re.fullmatch(r"[\w+\-*/ ]+", key) else None
    values = list(before.values) if before else []
    if number is None or not re.fullmatch(r"\d+|[A-Za-z_]\w*", key) or not 0 <= number < 1000:
        return {**dict(enumerate_text(values)), key: text}
    if not key.isdigit() and not values and key not in shell.scope.variables:
        return {key: text}
    values.extend([""] * (number + 1 - len(values)))
    values[number] = text
    return tuple(values)


def enumerate_text(values: list[str]) -> list[tuple[str, str]]:
    """Elements of an indexed array with their index as text."""
    return [(str(number), value) for number, value in enumerate(values)]


def _declaring(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    options = [word for word in words[1:] if word.startswith("-")]
    exports = words[0] == "export" or any("x" in option for option in options)
    if words[0] not in ("export", "readonly") and not any("g" in option for option in options):
        for name in (*(one.name for one in node.declared), *(word.partition("=")[0] for word in words[1:])):
            shell.make_local(name)
    for assignment in node.declared:
        if any("A" in option for option in options) and assignment.array == ():
            shell.scope.assign(assignment.name, {}, shell.origin())
        else:
            declare(shell, assignment, exported=True if exports else None)
    for name in words[1:]:
        if name in options:
            continue
        _declare_name(shell, name, options, exports)
    return YES


def _declare_name(shell: "Interpreter", name: str, options: list[str], exports: bool) -> None:
    """A bare NAME, or NAME=value that only expansion gave."""
    scope = shell.scope
    head, equals, text = name.partition("=")
    if not re.fullmatch(r"[A-Za-z_]\w*", head):
        return
    if equals:
        scope.assign(head, text, shell.origin())
    elif any("A" in option for option in options):
        scope.variables.setdefault(head, Variable({}, exports, shell.origin()))
    variable = scope.variables.get(head)
    if exports and variable is not None:
        removed = "-n" in options
        scope.variables[head] = Variable(variable.value, not removed, variable.origin)


def _cd(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    scope = shell.scope
    targets = [word for word in words[1:] if not re.fullmatch(r"-[LPe@]+|--", word)]
    if words[0] == "pushd":
        scope.stack = (*scope.stack[-20:], scope.cwd)
    if targets[:1] == ["-"]:
        previous = scope.variables.get("OLDPWD")
        target = previous.text if previous else None
    elif targets:
        target = join_path(scope.cwd, targets[0])
    else:
        target = scope.home
    if scope.cwd:
        scope.variables["OLDPWD"] = Variable(scope.cwd)
    scope.cwd = target
    return LIKELY


def _popd(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    scope = shell.scope
    scope.cwd = scope.stack[-1] if scope.stack else None
    scope.stack = scope.stack[:-1]
    return LIKELY


def _source(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    if len(words) < 2:
        return LIKELY
    target = words[1]
    piped = node.words[1].process if len(node.words) > 1 else None
    if piped is not None:
        text = shell.substitute(piped)
        if text is not None:
            _run_here(shell, "", "", text, words[2:])
        return LIKELY
    if re.fullmatch(r"activate(\.\w+)?", basename(render(target))):
        path = join_path(shell.scope.cwd, target)
        folder = directory(path) if path else None
        shell.scope.venv = directory(folder) if folder and basename(folder) in ("bin", "Scripts") else None
        return LIKELY
    file = find_file(shell, target)
    if file is None:
        return LIKELY
    _run_here(shell, file.kind, file.path, file.text, words[2:])
    return LIKELY


def _run_here(shell: "Interpreter", kind: str, path: str, text: str, arguments: list[str]) -> None:
    """Source a text into the present shell."""
    scope = shell.scope
    kept = (shell.where, scope.script, scope.positional, shell._line)
    if path:
        scope.add_source(kind, path)
        shell.where = f"{kind.replace('_', ' ')} {path}"
        if kind == "script":
            scope.variables["BASH_SOURCE"] = Variable((path,))
    if arguments:
        scope.positional = tuple(arguments)
    with shell.deeper():
        shell.run_text(clean(text))
    shell.where, _, positional, shell._line = kept
    shell.scope.variables.pop("BASH_SOURCE", None)
    shell.scope.positional = positional if arguments else shell.scope.positional


def _activate(shell: "Interpreter", words: list[str], node: Simple) -> Status | None:
    """conda activate NAME or /path."""
    if words[1:2] == ["deactivate"]:
        shell.scope.venv = None
        return LIKELY
    if words[1:2] != ["activate"]:
        return None
    target = words[2] if len(words) > 2 else ""
    shell.scope.venv = join_path(shell.scope.cwd, target) if "/" in target else None
    return LIKELY


def _deactivate(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    shell.scope.venv = None
    return LIKELY


def _eval(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    with shell.deeper():
        return shell.run_text(render(" ".join(words[1:])))


def _leave(kind: str) -> Builtin:
    def run(shell: "Interpreter", words: list[str], node: Simple) -> Status:
        level = words[1] if len(words) > 1 else ""
        raise Leave(kind, int(level) if level.isdigit() and kind in ("break", "continue") else 1)

    return run


#: long options of fish's set
_FISH_SET = {
    "--query": "-q", "--erase": "-e", "--local": "-l", "--function": "-f", "--append": "-a", "--prepend": "-p",
    "--export": "-x", "--unexport": "-u", "--global": "-g", "--universal": "-U",
}  # fmt: skip
#: variables that are there without being set by a text
_OF_THE_LOGIN = frozenset(("HOME", "USER", "PATH", "PWD", "SHELL", "LANG", "TERM", "DISPLAY", "TMUX", "SSH_TTY"))


def _set(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    scope = shell.scope
    if shell.fish:
        return _fish_set(shell, words)
    position = 1
    while position < len(words):
        word = words[position]
        if word == "--" or not re.match(r"[-+][A-Za-z]", word):
            scope.positional = tuple(words[position + (word == "--") :])
            break
        if (word[1:] == "o" and words[position + 1 : position + 2] == ["allexport"]) or "a" in word[1:]:
            scope.allexport = word[0] == "-"
        position += 2 if word[1:].endswith("o") else 1
    return YES


def _fish_set(shell: "Interpreter", words: list[str]) -> Status:
    """fish's set: its options stand before the name, what follows is values."""
    pairs, position = Options().read(words)
    letters = {_FISH_SET.get(option, option) for option, _ in pairs}
    rest = words[position:]
    if not rest:
        return YES
    name, values = rest[0], tuple(rest[1:])
    scope = shell.scope
    before = scope.variables.get(name)
    if "-q" in letters:
        missing = [one for one in rest if one not in scope.variables]
        return Status(not missing, not missing or missing[0] not in _OF_THE_LOGIN)
    if "-e" in letters:
        scope.variables.pop(name, None)
        return YES
    if {"-l", "-f"} & letters:
        shell.make_local(name)
    if {"-a", "-p"} & letters and before is not None:
        values = (*before.values, *values) if "-a" in letters else (*values, *before.values)
    scope.assign(name, values[0] if len(values) == 1 else values, shell.origin())
    exported = "-x" in letters or (before is not None and before.exported and "-u" not in letters)
    if exported:
        kept = scope.variables[name]
        scope.variables[name] = Variable(" ".join(kept.values), True, kept.origin)
    return YES


def _setenv(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    if len(words) > 1:
        shell.scope.variables[words[1]] = Variable(" ".join(words[2:]), True, shell.origin())
    return YES


def _unset(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    for name in words[1:]:
        shell.scope.variables.pop(name, None)
    return YES


def _shift(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    count = int(words[1]) if len(words) > 1 and words[1].isdigit() else 1
    if len(shell.scope.positional) < count:
        return NO
    shell.scope.positional = shell.scope.positional[count:]
    return YES


def _alias(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    for word in words[1:]:
        name, equals, text = word.partition("=")
        if equals:
            shell.scope.aliases[name] = render(text)
    if shell.fish and len(words) == 3:
        shell.scope.aliases[words[1]] = render(words[2])
    return YES


def _test(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    tokens = words[1:]
    if words[0] == "[" and tokens[-1:] == ["]"]:
        tokens = tokens[:-1]
    return evaluate_test(tokens, matches=lambda text, pattern: text == pattern) if tokens else NO


def _let(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    value = None
    for expression in words[1:]:
        value = shell.expander.arithmetic(expression)
    return LIKELY if value is None else (YES if value else NO)


def _getopts(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    """getopts SPEC NAME: one option a call, off the positional parameters."""
    scope = shell.scope
    if len(words) < 3 or not scope.positional:
        return NO
    match = re.fullmatch(r"-([A-Za-z0-9])(.*)", scope.positional[0], re.DOTALL)
    if match is None:
        return NO
    taken = 1
    scope.assign(words[2], match[1], shell.origin())
    if match[1] + ":" in words[1]:
        value = match[2] or (scope.positional[1] if len(scope.positional) > 1 else "")
        taken = 1 if match[2] else 2
        scope.assign("OPTARG", value, shell.origin())
    scope.positional = scope.positional[taken:]
    scope.assign("OPTIND", "1", "")
    return YES


def _exec(shell: "Interpreter", words: list[str], node: Simple) -> Status | None:
    return YES if len(words) == 1 else None


def _true(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    return YES


def _false(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    return NO


def _found(shell: "Interpreter", words: list[str], node: Simple) -> Status | None:
    """`command -v X` asks; `command X` runs."""
    if words[0] == "command" and not re.fullmatch(r"-[vV]+", words[1] if len(words) > 1 else ""):
        return None
    shell.write_unknown()
    return LIKELY


def _no_command(shell: "Interpreter", words: list[str], node: Simple) -> Status:
    return YES


BUILTINS: Mapping[str, Builtin] = {
    **OUTPUT,
    **dict.fromkeys(("export", "local", "declare", "typeset", "readonly"), _declaring),
    **dict.fromkeys(("cd", "pushd"), _cd),
    **dict.fromkeys(("source", "."), _source),
    **dict.fromkeys(("conda", "mamba", "micromamba"), _activate),
    **dict.fromkeys(("[", "test"), _test),
    **dict.fromkeys(("true", ":"), _true),
    **dict.fromkeys(("mapfile", "readarray"), mapfile),
    **dict.fromkeys(("command", "which", "type", "hash"), _found),
    **dict.fromkeys(("trap", "wait", "umask", "ulimit", "shopt", "setopt", "disown", "jobs", "sleep"), _no_command),
    **{kind: _leave(kind) for kind in ("exit", "return", "break", "continue")},
    "logout": _leave("exit"),
    "popd": _popd,
    "deactivate": _deactivate,
    "eval": _eval,
    "set": _set,
    "setenv": _setenv,
    "unset": _unset,
    "shift": _shift,
    "read": read,
    "alias": _alias,
    "let": _let,
    "getopts": _getopts,
    "exec": _exec,
    "false": _false,
}
