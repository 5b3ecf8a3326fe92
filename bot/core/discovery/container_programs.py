"""`docker run`, `docker exec` and their like: the command inside, with the container's own environment."""

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.core.discovery import program_options as options
from bot.core.discovery.child_shell import scope_of
from bot.core.discovery.container_run import parse_env_list, read_docker_run
from bot.core.discovery.launch_call import Call, ComposeUp, ContainerRun
from bot.core.discovery.program_options import LOOSE_WRAPPERS
from bot.core.discovery.shell_files import find_file
from bot.core.discovery.shell_results import emit, start_services
from bot.core.discovery.shell_state import Variable, basename, is_unset, join_path
from bot.core.discovery.shell_tests import LIKELY, YES, Status, program_status

if TYPE_CHECKING:
    from bot.core.discovery.shell_run import Interpreter

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


def compose(shell: "Interpreter", call: Call) -> Status:
    """`docker compose … up`, also as docker-compose: what the compose file says, where that is known."""
    pairs, position = options.DOCKER_COMPOSE.read(call.argv)
    given = dict(pairs)
    rest = call.argv[position:]
    if rest[:1] not in (("up",), ("start",)):
        shell.write_unknown()
        return program_status(("docker", "compose", *rest))
    up = ComposeUp(
        cwd=join_path(call.cwd, given.get("--project-directory") or ".") if call.cwd else None,
        files=tuple(value for option, value in pairs if option in ("-f", "--file")) or _named_by(call, "COMPOSE_FILE"),
        services=rest[options.DOCKER_COMPOSE_UP.end(rest) :],
        env_file=given.get("--env-file") or next(iter(_named_by(call, "COMPOSE_ENV_FILES")), None),
        variables=call.env,
    )
    start_services(shell, up)
    return LIKELY


def _named_by(call: Call, name: str) -> tuple[str, ...]:
    """Files that a variable of compose lists."""
    variable = call.env.get(name)
    listed = re.split("[:,]", variable.text) if variable is not None and not is_unset(variable.text) else []
    return tuple(filter(None, listed))


def docker(shell: "Interpreter", call: Call) -> Status:
    position = options.DOCKER.end(call.argv)
    words = call.argv[position:]
    if words[:1] == ("compose",):
        return compose(shell, call.with_argv(words))
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
        file = find_file(shell, path)
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
    inner = shell.child(scope_of(shell, inside))
    inner.scope.user = command.user
    inner.scope.sources = shell.scope.sources
    inner.surroundings = replace(
        shell.surroundings,
        container=replace(command.container, tool=tool_of(call.argv[0])),
        runner=shell.surroundings.runner if shell.surroundings.unit else "docker",
    )
    return inside_container(inner, inside)


def tool_of(program: str) -> str:
    """Which of the two command lines a program is."""
    return "podman" if "podman" in basename(program) else "docker"


def inside_container(shell: "Interpreter", call: Call) -> Status:
    """The command of a container: behind the image's entrypoint, or past an entrypoint script."""
    if emit(shell, call):
        return YES
    count = len(shell.launches)
    shown = shell.surroundings.container
    if shown is not None:
        shell.surroundings = replace(shell.surroundings, container=replace(shown, entrypoint_hidden=False))
    status = shell.dispatch(call) if call.argv else LIKELY
    if len(shell.launches) == count and len(call.argv) > 1 and _is_entrypoint(call.argv[0]):
        status = shell.dispatch(call.with_argv(call.argv[1:]))
    return status


def _is_entrypoint(program: str) -> bool:
    """Whether a program is an image's own script that hands its arguments on."""
    name = basename(program)
    return name.endswith(".sh") or "entrypoint" in name or name in LOOSE_WRAPPERS


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
    inner = shell.child(scope_of(shell, inside))
    inner.scope.user = inside.user
    inner.surroundings = replace(
        shell.surroundings, container=ContainerRun(name=rest[0], host_network=True), runner="docker"
    )
    return inner.dispatch(inside)
