"""`docker inspect` and `podman inspect` to sightings."""

import contextlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from bot.core.discovery.artefact import Artefact
from bot.core.discovery.container_options import options_of_inspect, options_of_run
from bot.core.discovery.container_programs import inside_container
from bot.core.discovery.container_run import is_image_variable, parse_env_list, read_gpus
from bot.core.discovery.launch_call import Call, ContainerRun, Evidence, PortMapping, Sighting
from bot.core.discovery.program_options import DOCKER_RUN
from bot.core.discovery.shell_files import find_file
from bot.core.discovery.shell_run import Interpreter
from bot.core.discovery.shell_state import Leave, Scope, Variable, clean
from bot.core.discovery.shell_world import Surroundings, World


def sight_inspect(artefact: Artefact, world: World) -> list[Sighting]:
    """Launches of the containers that an inspect output lists."""
    try:
        document = json.loads(artefact.text)
    except (ValueError, RecursionError):
        return []
    found: list[Sighting] = []
    for item in document if isinstance(document, list) else [document]:
        if isinstance(item, dict):
            found.extend(_container(item, artefact, world))
    return found


def _get(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [str(one) for one in value] if isinstance(value, list) else []


def _container(item: Mapping[str, Any], artefact: Artefact, world: World) -> list[Sighting]:
    config = item.get("Config") or {}
    entrypoint, command = _texts(_get(config, "Entrypoint")), _texts(_get(config, "Cmd"))
    path = item.get("Path")
    argv = [str(path), *_texts(item.get("Args"))] if path else [*entrypoint, *command]
    name = str(item.get("Name") or "").lstrip("/") or None
    where = f"container {name or str(item.get('Id'))[:12]}"
    env = _environment(config, where)
    labels = _get(config, "Labels")
    running = bool(_get(item, "State", "Running")) or _get(item, "State", "Status") == "running"
    started = moment(_get(item, "State", "StartedAt"))
    container = ContainerRun(
        image=_image(item, config),
        name=name,
        id=str(item.get("Id") or "") or None,
        ports=_ports(item),
        host_network=_get(item, "HostConfig", "NetworkMode") == "host",
        gpus=_gpus(item),
        entrypoint_hidden=not entrypoint and not path,
        service=_get(labels, "com.docker.compose.service"),
        project=_get(labels, "com.docker.compose.project.working_dir"),
        tool="podman" if "ImageName" in item else "docker",
        image_id=_image_id(item),
        options=_options(item),
        command=tuple(argv),
        image_entrypoint=not entrypoint and not path,
    )
    for file in str(_get(labels, "com.docker.compose.project.config_files") or "").split(","):
        world.missing[file] = None
    evidence = Evidence(kind="inspect", path=artefact.path, seen_at=started)
    unit = _get(labels, "PODMAN_SYSTEMD_UNIT")
    runner = "compose" if _get(labels, "com.docker.compose.service") else "docker"
    around = Surroundings(runner=runner, unit=unit, container=container, evidence=(evidence,))
    cwd = _get(config, "WorkingDir") or None
    user = _get(config, "User") or None
    shell = Interpreter(world, Scope(variables=env, cwd=cwd, user=user), where=where, surroundings=around)
    env |= _from_files(item, env, shell)
    with contextlib.suppress(Leave):
        inside_container(shell, Call(argv=tuple(map(clean, argv)), env=env, cwd=cwd))
    pid = _get(item, "State", "Pid")
    return [
        replace(
            one,
            running=running,
            pid=pid if isinstance(pid, int) and pid else None,
            seen_at=started,
            may_have_failed=False,
            whole_environment=True,
        )
        for one in shell.launches
    ]


def _environment(config: Mapping[str, Any], where: str) -> dict[str, Variable]:
    env: dict[str, Variable] = {}
    for line in _texts(_get(config, "Env")):
        name, equals, text = line.partition("=")
        pins = name == "NVIDIA_VISIBLE_DEVICES" and text not in ("all", "void", "none", "")
        if equals and (pins or not is_image_variable(name)):
            env[name] = Variable(clean(text), True, f"{where}, environment {name}")
    return env


def _from_files(item: Mapping[str, Any], env: Mapping[str, Variable], shell: Interpreter) -> dict[str, Variable]:
    """Variables that came from an environment file, where podman kept the command that names it."""
    found: dict[str, Variable] = {}
    for name, path in _created(item):
        file = find_file(shell, path) if name == "--env-file" and path.startswith("/") else None
        listed = parse_env_list(file.text, f"env file {path}") if file else {}
        found |= {key: replace(env[key], origin=one.origin) for key, one in listed.items() if key in env}
    return found


def _image(item: Mapping[str, Any], config: Mapping[str, Any]) -> str | None:
    for image in (_get(config, "Image"), item.get("ImageName"), item.get("Image")):
        if isinstance(image, str) and image and not image.startswith("sha256:"):
            return image
    return None


def _image_id(item: Mapping[str, Any]) -> str | None:
    """podman leaves "sha256:" away."""
    found = str(item.get("Image") or "").removeprefix("sha256:")
    return f"sha256:{found}" if re.fullmatch(r"[0-9a-f]{64}", found) else None


def _options(item: Mapping[str, Any]) -> tuple[str, ...]:
    """podman keeps the command that made the container; docker what came of it."""
    return options_of_run(_created(item)) or options_of_inspect(item)


def _created(item: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(option, value) pairs of the command that made the container, where that is kept."""
    created = _texts(_get(item, "Config", "CreateCommand"))
    start = next((number for number, word in enumerate(created) if word in ("run", "create")), None)
    return [] if start is None else DOCKER_RUN.read(created[start + 1 :])[0]


def _ports(item: Mapping[str, Any]) -> tuple[PortMapping, ...]:
    bindings = _get(item, "NetworkSettings", "Ports") or _get(item, "HostConfig", "PortBindings") or {}
    found: list[PortMapping] = []
    for inside, places in bindings.items() if isinstance(bindings, Mapping) else ():
        for place in places if isinstance(places, list) else []:
            host = _get(place, "HostPort")
            found.append(PortMapping(host=str(host) if host else None, container=str(inside).partition("/")[0]))
    return tuple(dict.fromkeys(found))


def _gpus(item: Mapping[str, Any]) -> tuple[str, ...]:
    found: list[str] = []
    requests = _get(item, "HostConfig", "DeviceRequests")
    for request in requests if isinstance(requests, list) else []:
        for device in _texts(_get(request, "DeviceIDs")):
            found.extend(read_gpus(device) if "=" in device else [device])
    devices = _get(item, "HostConfig", "Devices")
    for device in devices if isinstance(devices, list) else []:
        found.extend(read_gpus(str(_get(device, "PathOnHost") or "")))
    return tuple(found)


def moment(text: object) -> datetime | None:
    """A time as docker and ISO 8601 write it, aware; None for the zero time or something else."""
    if not isinstance(text, str) or text.startswith("0001-"):
        return None
    shortened = re.sub(r"(\.\d{6})\d+", r"\1", text).replace("Z", "+00:00")
    try:
        found = datetime.fromisoformat(shortened)
    except ValueError:
        return None
    return found if found.tzinfo else None
