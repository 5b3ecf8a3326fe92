"""Container command lines and images: options of `docker run`, published ports, GPU requests, environment files."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bot.core.discovery.container_options import options_of_run
from bot.core.discovery.launch_call import ContainerRun, PortMapping
from bot.core.discovery.program_options import DOCKER_RUN
from bot.core.discovery.secrets import is_secret_name
from bot.core.discovery.shell_state import Variable, unset

#: last part of an image's name, and the command that its own entrypoint runs. Read from the published images.
_ENTRYPOINTS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (re.compile(r"(.*[-_])?vllm([-_](openai|serve|server|rocm|cpu|tpu|xpu|gaudi|neuron).*)?(:.*)?"), ("vllm", "serve")),
    (
        re.compile(r"llama(\.|-)?cpp([-_]server.*)?:(.*-)?server.*|llama(\.|-)?cpp-server.*|llama-server.*"),
        ("llama-server",),
    ),
)  # fmt: skip
#: images whose entrypoint takes the server as an option: `full --server -m …`
_FULL_IMAGE = re.compile(r"llama(\.|-)?cpp:(.*-)?full.*")
#: variables that base images bring along
_IMAGE_VARIABLES = re.compile(
    r"PATH|LD_LIBRARY_PATH|LIBRARY_PATH|CUDA_VERSION|CUDA_HOME|CUDNN_.*|NVARCH|NV_.*|NVIDIA_.*|NCCL_VERSION|PYTHON_.*"
    r"|PYTHONPATH|PYTHONUNBUFFERED|DEBIAN_FRONTEND|LANG|LC_ALL|HOME|HOSTNAME|TERM|GPG_KEY|container|UV_.*|PIP_.*|TZ"
    r"|SHELL|BUILD_TYPE|TORCH_CUDA_ARCH_LIST|_CUDA_COMPAT_PATH|ENV|BASH_ENV|CUDA_MODULE_LOADING|USER|OLDPWD|PWD"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerCommand:
    """A `docker run` line, read."""

    container: ContainerRun
    argv: tuple[str, ...] = field(repr=False)
    env: Mapping[str, Variable] = field(repr=False)
    env_files: tuple[str, ...] = ()
    cwd: str | None = None
    user: str | None = None


def entrypoint_of(image: str | None) -> tuple[str, ...] | None:
    """The command that an image's own entrypoint runs, where that is a server; None where the image does not say."""
    if not image:
        return None
    name = re.sub(r"@sha256:.*", "", image).rpartition("/")[2]
    for pattern, command in _ENTRYPOINTS:
        if pattern.fullmatch(name):
            return command
    return None


def image_arguments(image: str | None, argv: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """(command line, whether the image's entrypoint was put in front) of the words behind an image."""
    words = tuple(argv)
    if image and words[:1] == ("--server",) and _FULL_IMAGE.fullmatch(image.rpartition("/")[2]):
        return ("llama-server", *words[1:]), False
    command = entrypoint_of(image)
    if command is None:
        return words, False
    if words[:1] == ("serve",):
        words = words[1:]
    return (*command, *words), True


def is_image_variable(name: str) -> bool:
    """Whether a variable comes from a base image rather than from whoever runs it."""
    return _IMAGE_VARIABLES.fullmatch(name) is not None


def parse_env_list(text: str, origin: str) -> dict[str, Variable]:
    """docker's --env-file: NAME=value lines as they are, no quotes, `#` comments."""
    found: dict[str, Variable] = {}
    for line in text.splitlines():
        name, equals, value = line.strip().partition("=")
        if equals and name and not name.startswith("#"):
            found[name] = Variable(value, True, f"{origin}, {name}")
    return found


def read_port(text: str) -> PortMapping | None:
    """`8001:8000`, `127.0.0.1:8001:8000/tcp`, `[::]:8001:8000`, `8000`."""
    match = re.fullmatch(r"(?:(?:\[[^\]]*\]|[^:\[\]]*):)?(?:(\d*):)?(\d+)(?:/\w+)?", text.strip())
    if match is None:
        return None
    host = match[1]
    if host is None and (short := re.fullmatch(r"(\d+):(\d+)(?:/\w+)?", text.strip())):
        host = short[1]
    return PortMapping(host=host or None, container=match[2])


def read_gpus(text: str) -> tuple[str, ...]:
    """`--gpus device=0,1` (with docker's extra quotes) or a CDI name with a number."""
    text = text.strip().strip("\"'")
    match = re.search(r"device=([^\s\"']+)", text)
    if match:
        return tuple(part for part in re.split(r"[,;]", match[1].strip("\"'")) if part and "=" not in part)
    cdi = re.fullmatch(r"[\w.]+/gpu=([\w-]+)", text)
    return (cdi[1],) if cdi and cdi[1] != "all" else ()


def host_port(container: ContainerRun | None, inside: str | None, default: str) -> str | None:
    """The port on the host of a server that listens on `inside` (None: its default)."""
    if container is None or container.host_network:
        return inside
    for mapping in container.ports:
        if mapping.container == (inside or default):
            return mapping.host
    if len(container.ports) == 1 and inside is None:
        return container.ports[0].host
    return None


def read_docker_run(argv: Sequence[str], exported: Mapping[str, Variable], origin: str) -> ContainerCommand | None:
    """The words behind `docker run`. `exported`: variables that `-e NAME` passes on."""
    pairs, position = DOCKER_RUN.read(argv)
    if position >= len(argv):
        return None
    image, rest = argv[position], tuple(argv[position + 1 :])
    entrypoint = _last(pairs, "--entrypoint")
    env = _env(pairs, exported, origin)
    if entrypoint:
        command, hidden = (*_entrypoint(entrypoint), *rest), False
    else:
        command, hidden = rest, True
    container = ContainerRun(
        image=image,
        name=_last(pairs, "--name"),
        ports=tuple(filter(None, (read_port(value) for name, value in pairs if name in ("-p", "--publish")))),
        host_network="host" in (_last(pairs, "--network"), _last(pairs, "--net")),
        gpus=_gpus(pairs),
        entrypoint_hidden=hidden,
        options=options_of_run(pairs),
        command=command,
        image_entrypoint=hidden,
    )
    return ContainerCommand(
        container=container,
        argv=command,
        env=env,
        env_files=tuple(value for name, value in pairs if name == "--env-file"),
        cwd=_last(pairs, "-w", "--workdir"),
        user=_last(pairs, "-u", "--user"),
    )


def _entrypoint(text: str) -> list[str]:
    """`--entrypoint`: a program, or with podman a JSON list."""
    if text.startswith("["):
        return [word for word in re.split(r"[\[\]\", ]+", text) if word]
    return text.split() if text.strip("\"'") else []


def _last(pairs: Iterable[tuple[str, str]], *names: str) -> str | None:
    found = [value for name, value in pairs if name in names]
    return found[-1] if found else None


def _env(pairs: Iterable[tuple[str, str]], exported: Mapping[str, Variable], origin: str) -> dict[str, Variable]:
    env: dict[str, Variable] = {}
    for option, value in pairs:
        if option not in ("-e", "--env"):
            continue
        name, equals, text = value.partition("=")
        if equals:
            env[name] = Variable(text, True, origin)
        elif name in exported or is_secret_name(name):
            env[name] = exported.get(name) or Variable(unset("$" + name), True, f"{origin}, environment of the caller")
    return env


def _gpus(pairs: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    found: list[str] = []
    for option, value in pairs:
        if option in ("--gpus", "--device"):
            found.extend(read_gpus(value) if option == "--gpus" or "/gpu=" in value else ())
    return tuple(found)
