"""From a command to the launch behind it: programs that only hand on (sudo, nohup, env), wrappers that must be repeated
(numactl, uv run), shells, terminals, containers, and scripts that are known."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.core.discovery import program_options as options
from bot.core.discovery.container_run import parse_env_list, read_docker_run
from bot.core.discovery.launch_call import Call
from bot.core.discovery.program_options import LOOSE_WRAPPERS, WRAPPERS, Options
from bot.core.discovery.shell_state import Scope, Variable, basename, clean, join_path, render
from bot.core.discovery.shell_tests import LIKELY, YES, Status, program_status

if TYPE_CHECKING:
    from bot.core.discovery.shell_run import Interpreter

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "rbash"))
_DOCKERS = frozenset(("docker", "podman", "nerdctl", "nvidia-docker", "docker.io"))
_DEPTH = 30

Handler = Callable[["Interpreter", Call], Status]


def dispatch(shell: "Interpreter", call: Call, depth: int = 0) -> Status:
    """Follow one command. What is no launch gives the status that it is taken to end with."""
    if not call.argv or depth > _DEPTH:
        return LIKELY
    name = basename(call.argv[0])
    passing = _PASSING.get(name)
    if passing is not None:
        inner = passing(shell, call)
        if inner is not None:
            status = dispatch(shell, inner, depth + 1) if inner.argv != call.argv else LIKELY
            return _after_exec(status) if name == "exec" else status
    wrapper = _wrapper_length(call.argv)
    if wrapper:
        return dispatch(shell, _wrapped(call, wrapper), depth + 1)
    if name in _SHELLS:
        return _shell_program(shell, call, fish=name == "fish")
    handler = _HANDLERS.get(name)
    if handler is not None:
        return handler(shell, call)
    return _program(shell, call, depth)


def _after_exec(status: Status) -> Status:
    from bot.core.discovery.shell_run import Leave

    raise Leave("exit")


def _program(shell: "Interpreter", call: Call, depth: int) -> Status:
    if shell.emit(call):
        return YES
    name = call.argv[0]
    script = shell.find_file(name) if "/" in name or name.endswith(".sh") else None
    if script is not None:
        run_script(shell, call, script.kind, script.path or render(name), script.text, call.argv[1:])
        return LIKELY
    if basename(name) in LOOSE_WRAPPERS or name.endswith(".sh"):
        for position in range(1, len(call.argv)):
            if shell.world.is_server(call.argv[position:]):
                inner = call.wrapped(position)
                return dispatch(shell, inner, depth + 1)
    shell.write_unknown()
    return program_status(call.argv)


def run_script(shell: "Interpreter", call: Call, kind: str, path: str, text: str, arguments: tuple[str, ...]) -> None:
    """Follow a script in a shell of its own."""
    scope = _scope_of(shell, call)
    scope.script = path or None
    scope.positional = arguments
    scope.variables.pop("BASH_SOURCE", None)
    where = f"{kind.replace('_', ' ')} {path}" if path else shell.where
    if path and path not in shell.world.written:
        scope.add_source(kind, path)
    first = text[:100].partition("\n")[0]
    inner = shell.child(scope, where=where, fish=first.startswith("#!") and "fish" in first)
    count = len(shell.launches)
    inner.run_text(clean(text))
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


def _scope_of(shell: "Interpreter", call: Call) -> Scope:
    """The state of a shell that this command starts."""
    scope = shell.scope.child(None, ())
    scope.variables = dict(call.env)
    scope.cwd = call.cwd
    scope.user = call.user or shell.scope.user
    scope.home = call.home
    scope.venv = call.venv
    return scope


# programs that hand on


def _as_user(call: Call, user: str | None, *, keep: bool, login: bool) -> Call:
    """The command under another account: a fresh environment unless it is kept, and no virtual environment."""
    home = None if user is None else ("/root" if user == "root" else f"/home/{user}")
    return replace(
        call,
        user=user,
        home=home,
        env=call.env if keep else {},
        venv=call.venv if keep else None,
        cwd=home if login else call.cwd,
    )


def _with_assignments(call: Call, position: int, origin: str) -> Call:
    env = dict(call.env)
    while position < len(call.argv) and (match := _ASSIGNMENT.fullmatch(call.argv[position])):
        env[match[1]] = Variable(match[2], True, origin)
        position += 1
    return replace(call, env=env, argv=call.argv[position:])


def _sudo(shell: "Interpreter", call: Call) -> Call | None:
    pairs, position = options.SUDO.read(call.argv)
    given = dict(pairs)
    user = given.get("-u") or given.get("--user") or "root"
    keep = "-E" in given or given.get("--preserve-env") == ""
    kept = {name: call.env[name] for name in given.get("--preserve-env", "").split(",") if name in call.env}
    inner = _as_user(call, user.removeprefix("#"), keep=keep, login="-i" in given or "--login" in given)
    inner = replace(inner, env={**kept, **inner.env}, cwd=given.get("-D") or given.get("--chdir") or inner.cwd)
    return _with_assignments(inner, position, shell.origin(call.line))


def _doas(shell: "Interpreter", call: Call) -> Call | None:
    pairs, position = options.DOAS.read(call.argv)
    inner = _as_user(call, dict(pairs).get("-u") or "root", keep=False, login=False)
    return inner.with_argv(call.argv[position:])


def _su(shell: "Interpreter", call: Call) -> Call | None:
    """su [-] USER -c TEXT, runuser -u USER -- COMMAND."""
    login = any(word in ("-", "-l", "--login") for word in call.argv)
    words = (call.argv[0], *(word for word in call.argv[1:] if word != "-"))
    pairs, position = options.SU.read(words)
    given = dict(pairs)
    user = given.get("-u") or given.get("--user")
    rest = words[position:]
    if user is None:
        user, rest = (rest[0] if rest else "root"), rest[1:]
        late, _ = options.SU.read(("su", *rest))
        given.update(late)
    text = given.get("-c") or given.get("--command")
    inner = _as_user(call, user, keep=not login, login=login)
    return inner.with_argv(("sh", "-c", text) if text else rest)


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
    return _with_assignments(inner, 0, shell.origin(call.line))


def _skip(syntax: Options) -> Callable[["Interpreter", Call], Call | None]:
    def handed_on(shell: "Interpreter", call: Call) -> Call | None:
        return call.with_argv(call.argv[syntax.end(call.argv) + syntax.positional :])

    return handed_on


def _gosu(shell: "Interpreter", call: Call) -> Call | None:
    user = call.argv[1] if len(call.argv) > 1 else None
    return _as_user(call, user, keep=True, login=False).with_argv(call.argv[2:])


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


def _start_stop_daemon(shell: "Interpreter", call: Call) -> Call | None:
    pairs, position = options.START_STOP_DAEMON.read(call.argv)
    given = dict(pairs)
    program = given.get("-a") or given.get("--startas") or given.get("-x") or given.get("--exec")
    if program is None or not ({"-S", "--start"} & given.keys()):
        return call.with_argv(())
    user = (given.get("-c") or given.get("--chuid") or "").partition(":")[0]
    cwd = given.get("-d") or given.get("--chdir") or call.cwd
    return replace(call, argv=(program, *call.argv[position:]), user=user or call.user, cwd=cwd)


def _script_program(shell: "Interpreter", call: Call) -> Call | None:
    """util-linux's `script -c TEXT FILE`."""
    text = dict(options.SCRIPT.read(call.argv)[0])
    command = text.get("-c") or text.get("--command")
    return call.with_argv(("sh", "-c", command)) if command else call.with_argv(())


_PASSING: Mapping[str, Callable[["Interpreter", Call], Call | None]] = {
    "sudo": _sudo,
    "doas": _doas,
    "su": _su,
    "runuser": _su,
    "env": _env,
    "nohup": _skip(options.SETSID),
    "setsid": _skip(options.SETSID),
    "command": _skip(options.SETSID),
    "builtin": _skip(options.SETSID),
    "noglob": _skip(options.SETSID),
    "nocorrect": _skip(options.SETSID),
    "exec": _skip(options.EXEC),
    "time": _skip(options.TIME),
    "daemonize": _skip(Options(frozenset(("-a", "-e", "-o", "-c", "-p", "-l", "-u", "-E")))),
    "systemd-cat": _skip(options.SYSTEMD_CAT),
    "chroot": _skip(options.CHROOT),
    "dtach": _skip(Options(frozenset(("-A", "-c", "-n", "-N")))),
    "gosu": _gosu,
    "su-exec": _gosu,
    "setuidgid": _gosu,
    "systemd-run": _systemd_run,
    "start-stop-daemon": _start_stop_daemon,
    "script": _script_program,
}


# wrappers that must be repeated


def _wrapper_length(argv: tuple[str, ...]) -> int:
    """How many words at the head are a wrapper, 0 where none is."""
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


def _wrapped(call: Call, length: int) -> Call:
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


# shells, terminals, containers


def _shell_program(shell: "Interpreter", call: Call, *, fish: bool) -> Status:
    pairs, position = options.SHELL.read(call.argv)
    text = dict(pairs).get("-c")
    rest = call.argv[position:]
    if text is None and any(re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*", word) for word in call.argv[1:position]):
        text, rest = (rest[0] if rest else ""), rest[1:]
    if text is not None:
        run_shell_text(shell, call, render(text) if fish else text, rest[1:], fish=fish)
        return LIKELY
    if rest and "-s" not in dict(pairs):
        script = shell.find_file(rest[0])
        if script is not None:
            run_script(shell, call, script.kind, script.path or render(rest[0]), script.text, rest[1:])
        return LIKELY
    if call.stdin is not None:
        run_shell_text(shell, call, call.stdin, (), fish=fish)
    return LIKELY


def run_shell_text(
    shell: "Interpreter", call: Call, text: str, arguments: tuple[str, ...], *, fish: bool = False
) -> None:
    """Follow `sh -c TEXT` in a shell of its own."""
    scope = _scope_of(shell, call)
    scope.positional = arguments
    scope.script = shell.scope.script
    count = len(shell.launches)
    inner = shell.child(scope, fish=fish)
    inner.run_text(clean(render(text)))
    _carry_wrappers(shell, call, count)


def _terminal(shell: "Interpreter", call: Call, session: str, words: tuple[str, ...]) -> Status:
    """The command of a new window: one word is shell text, several are a program."""
    if len(words) == 1:
        run_shell_text(shell, call, words[0], ())
    elif words:
        return dispatch(shell, call.with_argv(words), 1)
    shell.sessions.setdefault(session, _scope_of(shell, call))
    return LIKELY


def _tmux(shell: "Interpreter", call: Call) -> Status:
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


def _typed(shell: "Interpreter", call: Call, target: str, keys: tuple[str, ...]) -> Status:
    """Text typed into a window; it runs once Enter follows."""
    session = target.partition(":")[0]
    scope = shell.sessions.setdefault(session, _scope_of(shell, call))
    words = [word for word in keys if word not in ("Enter", "C-m", "KPEnter", "C-j", "C-c", "C-l", "C-d", "C-u")]
    inner = shell.child(scope)
    inner.run_text(clean(render(" ".join(words))))
    shell.sessions[session] = inner.scope
    return LIKELY


def _screen(shell: "Interpreter", call: Call) -> Status:
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
    return dispatch(shell, call.with_argv(rest), 1) if rest else LIKELY


def _docker(shell: "Interpreter", call: Call) -> Status:
    position = options.DOCKER.end(call.argv)
    words = call.argv[position:]
    if words[:1] == ("container",):
        words = words[1:]
    if words[:1] in (("run",), ("create",)):
        return run_container(shell, call, words[1:])
    if words[:1] == ("exec",):
        return _docker_exec(shell, call, words)
    shell.write_unknown()
    return program_status(call.argv)


def run_container(shell: "Interpreter", call: Call, words: tuple[str, ...]) -> Status:
    """`docker run`: the command inside, with the container's own environment."""
    command = read_docker_run(words, call.env, shell.origin(call.line))
    if command is None:
        return LIKELY
    env: dict[str, Variable] = {}
    for path in command.env_files:
        file = shell.find_file(path)
        if file is not None:
            env.update(parse_env_list(file.text, f"env file {file.path}"))
            shell.scope.add_source(file.kind, file.path)
    env.update(command.env)
    inside = replace(
        call,
        argv=command.argv,
        env=env,
        cwd=command.cwd,
        user=command.user,
        venv=None,
        home=None,
        wrappers=(),
        stdin=None,
    )
    inner = shell.child(_scope_of(shell, inside))
    inner.scope.user = command.user
    inner.scope.sources = shell.scope.sources
    inner.surroundings = replace(
        shell.surroundings,
        container=command.container,
        runner=shell.surroundings.runner if shell.surroundings.unit else "docker",
    )
    return inside_container(inner, inside)


def inside_container(shell: "Interpreter", call: Call) -> Status:
    """The command of a container: behind the image's entrypoint, or past an entrypoint script."""
    if shell.emit(call):
        return YES
    count = len(shell.launches)
    shown = shell.surroundings.container
    if shown is not None:
        shell.surroundings = replace(shell.surroundings, container=replace(shown, entrypoint_hidden=False))
    status = dispatch(shell, call) if call.argv else LIKELY
    if len(shell.launches) == count and len(call.argv) > 1 and shell.world.is_server(call.argv[1:]):
        status = dispatch(shell, call.with_argv(call.argv[1:]))
    return status


def _docker_exec(shell: "Interpreter", call: Call, words: tuple[str, ...]) -> Status:
    pairs, position = options.DOCKER_EXEC.read(words)
    rest = words[position:]
    if len(rest) < 2:
        return LIKELY
    given = dict(pairs)
    env = {
        match[1]: Variable(match[2], True, shell.origin(call.line))
        for option, value in pairs
        if option in ("-e", "--env") and (match := _ASSIGNMENT.fullmatch(value))
    }
    inside = replace(
        call,
        argv=rest[1:],
        env=env,
        container=rest[0],
        cwd=given.get("-w") or given.get("--workdir"),
        user=given.get("-u") or given.get("--user"),
        venv=None,
        wrappers=(),
    )
    from bot.core.discovery.launch_call import ContainerRun

    inner = shell.child(_scope_of(shell, inside))
    inner.scope.user = inside.user
    inner.surroundings = replace(
        shell.surroundings, container=ContainerRun(name=rest[0], host_network=True), runner="docker"
    )
    return dispatch(inner, inside)


def _quiet(shell: "Interpreter", call: Call) -> Status:
    """Programs whose arguments are never a command of this host."""
    shell.write_unknown()
    return program_status(call.argv)


_HANDLERS: Mapping[str, Handler] = {
    "tmux": _tmux,
    "byobu": _tmux,
    "screen": _screen,
    **dict.fromkeys(_DOCKERS, _docker),
    **dict.fromkeys(
        ("ssh", "pdsh", "ansible", "watch", "xargs", "parallel", "find", "man", "kubectl", "logger"), _quiet
    ),
}
