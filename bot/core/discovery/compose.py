"""Compose files to sightings: interpolation, anchors, overrides, environment files, GPU reservations."""

import contextlib
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import yaml

from bot.core.discovery.artefact import Artefact
from bot.core.discovery.container_options import options_of_compose
from bot.core.discovery.container_programs import inside_container
from bot.core.discovery.container_run import read_gpus, read_port
from bot.core.discovery.launch_call import Call, ComposeUp, ContainerRun, Evidence, PortMapping, Sighting
from bot.core.discovery.secrets import is_secret_name
from bot.core.discovery.shell_run import Interpreter
from bot.core.discovery.shell_state import Leave, Scope, Variable, clean, directory, is_unset, join_path, render, unset
from bot.core.discovery.shell_world import Surroundings, World
from bot.core.domain.yaml_text import parse_yaml
from bot.errors import BadInputError

_INTERPOLATED = re.compile(
    r"\$\$|\$([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)(?:(:?[-?+])((?:[^{}]|\{[^{}]*\}|\$\{[^{}]*\})*))?\}"
)
#: a file that a script wrote, and no artefact
_WRITTEN = "written"
_SIZE_LIMIT = 2_000_000
#: files that `docker compose` looks for, the first one counts
_STOCK_NAMES = ("compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml")
#: lists of one service in several files that are put together
_ADDED = ("ports", "volumes", "devices", "env_file", "expose", "dns", "tmpfs")
#: files that build on files
_DEPTH = 8
#: with every anchor written out; far beyond any real stack
_MOST_NODES = 100_000


class _PlainLoader(yaml.SafeLoader):
    """YAML with anchors and merges, all scalars as text: compose hands "on" and 1.10 on as they are written."""


_PlainLoader.yaml_implicit_resolvers = {
    "<": [("tag:yaml.org,2002:merge", re.compile(r"^(?:<<)$"))],
    "~": [("tag:yaml.org,2002:null", re.compile(r"^~$"))],
    "n": [("tag:yaml.org,2002:null", re.compile(r"^null$"))],
    "": [("tag:yaml.org,2002:null", re.compile(r"^$"))],
}


def load_yaml(text: str) -> Any:
    """The document with all scalars as text; None where it is no YAML."""
    if len(text) > _SIZE_LIMIT:
        return None
    try:
        return parse_yaml(text, loader=_PlainLoader, unique_keys=False, most_nodes=_MOST_NODES)
    except BadInputError:
        return None


def sight_compose(artefacts: Sequence[Artefact], world: World, env_files: Sequence[Artefact]) -> list[Sighting]:
    """Launches of all compose files; an override file is merged into its neighbour."""
    found: list[Sighting] = []
    projects: dict[str, list[Artefact]] = {}
    parts = {path for artefact in artefacts for path in _borrowed(artefact)}
    for artefact in artefacts:
        if artefact.path not in parts:
            projects.setdefault(directory(artefact.path), []).append(artefact)
    for folder, files in projects.items():
        bases = [file for file in files if not _is_override(file.path)]
        overrides = [file for file in files if file not in bases]
        for base in bases or overrides:
            merged = [base, *(overrides if bases else [])]
            found.extend(_project(merged, artefacts, _Project(folder, env_files, world), world))
    return found


def _is_override(path: str) -> bool:
    return "override" in path.rpartition("/")[2]


def _borrowed(artefact: Artefact) -> set[str]:
    """Files whose services this one only builds on: `extends: {file: …}` and `include`."""
    document = load_yaml(artefact.text)
    if not isinstance(document, dict):
        return set()
    services = document.get("services")
    bodies = services.values() if isinstance(services, dict) else ()
    extended = (body.get("extends") for body in bodies if isinstance(body, dict))
    names = [one["file"] for one in extended if isinstance(one, dict) and isinstance(one.get("file"), str)]
    names += _included(document)
    return {path for name in names if (path := join_path(directory(artefact.path), name)) and path != artefact.path}


def _included(document: Mapping[str, Any]) -> list[str]:
    listed = document.get("include")
    paths = [one.get("path") if isinstance(one, dict) else one for one in listed] if isinstance(listed, list) else []
    flat = [inner for path in paths for inner in (path if isinstance(path, list) else [path])]
    return [path for path in flat if isinstance(path, str)]


def sight_up(
    up: ComposeUp, artefacts: Sequence[Artefact], world: World, env_files: Sequence[Artefact]
) -> list[Sighting]:
    """Launches of what `docker compose up` starts, the caller's variables filled in."""
    # what the caller wrote itself before
    written = [Artefact(path=path, kind=_WRITTEN, text=render(text)) for path, text in world.written.items()]
    artefacts = [*(one for one in written if one.path.endswith((".yml", ".yaml"))), *artefacts]
    env_files = [*env_files, *written]
    known = {artefact.path: artefact for artefact in artefacts}
    wanted = [path for name in up.files if (path := join_path(up.cwd, name))]
    if not wanted and up.cwd is not None:
        stock = [f"{up.cwd.rstrip('/')}/{name}" for name in _STOCK_NAMES]
        wanted = [path for path in stock if path in known][:1] or stock[:0]
        if not wanted:
            world.missing.update(dict.fromkeys(stock))
        wanted += [path for path in known if wanted and directory(path) == directory(wanted[0]) and _is_override(path)]
    for path in wanted:
        if path not in known:
            world.missing[path] = None
    files = [known[path] for path in dict.fromkeys(wanted) if path in known]
    if not files:
        return []
    project = _Project(directory(files[0].path), env_files, world, up)
    return _project(files, artefacts, project, world)


class _Project:
    """One project's services, with what interpolation reads."""

    def __init__(self, folder: str, env_files: Sequence[Artefact], world: World, up: ComposeUp | None = None) -> None:
        self.folder = folder
        self.services = up.services if up else ()
        self._world = world
        self._env_files = env_files
        place = join_path(folder if folder.startswith("/") else None, up.env_file if up and up.env_file else ".env")
        place = place or f"{folder.rstrip('/')}/.env"
        dotenv = next((one for one in env_files if one.path == place), None)
        if dotenv is None:
            world.missing[place] = None
        self._dotenv = dotenv
        self._values = parse_dotenv(dotenv.text, f"env file {dotenv.path}") if dotenv else {}
        self._values |= up.variables if up else {}
        self.used: list[Artefact] = []

    def interpolate(self, text: str) -> str:
        """`${X:-y}` and the like, from the .env file beside the compose file."""
        return _INTERPOLATED.sub(self._value, clean(text))

    def origin(self, text: str) -> str | None:
        """Where the variable that a whole value names was set."""
        match = _INTERPOLATED.fullmatch(text.strip())
        variable = self._values.get(match[1] or match[2]) if match else None
        return variable.origin if variable else None

    def _value(self, match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        name, operator, argument = match[1] or match[2], match[3] or "", match[4] or ""
        variable = self._values.get(name)
        if variable is not None and self._dotenv is not None and self._dotenv not in self.used:
            self.used.append(self._dotenv)
        if variable is not None and is_unset(variable.text):
            # `MODEL=$1 docker compose up` without an argument
            variable = replace(variable, value="")
        present = variable is not None and (bool(variable.text) or not operator.startswith(":"))
        if operator.endswith("+"):
            return self.interpolate(argument) if present else ""
        if variable is not None and present:
            return variable.text
        if operator.endswith("-"):
            return self.interpolate(argument)
        return unset(match[0])

    def env_file(self, path: str) -> dict[str, Variable]:
        """Variables of a service's env_file."""
        full = join_path(self.folder if self.folder.startswith("/") else None, path) or path
        file = next((one for one in self._env_files if one.path in (full, path)), None)
        if file is None:
            self._world.missing[full] = None
            return {}
        if file not in self.used:
            self.used.append(file)
        return parse_dotenv(file.text, f"env file {file.path}")


def parse_dotenv(text: str, origin: str) -> dict[str, Variable]:
    """A .env file as compose reads it: quotes go, `export` is allowed, comments end unquoted values."""
    found: dict[str, Variable] = {}
    for line in text.splitlines():
        match = re.match(r"\s*(?:export\s+)?([A-Za-z_][\w.]*)\s*[=:]\s*(.*?)\s*$", line)
        if match is None:
            continue
        value = match[2]
        quoted = re.match(r"'([^']*)'|\"((?:\\.|[^\"\\])*)\"", value)
        if quoted:
            value = (
                quoted[1] if quoted[1] is not None else re.sub(r"\\([\"\\$])", r"\1", quoted[2].replace("\\n", "\n"))
            )
        else:
            value = re.sub(r"\s+#.*$", "", value)
        found[match[1]] = Variable(clean(value), True, f"{origin}, {match[1]}")
    return found


def _project(
    files: Sequence[Artefact], artefacts: Sequence[Artefact], project: _Project, world: World
) -> list[Sighting]:
    library = _Library({artefact.path: artefact for artefact in artefacts}, world)
    services: dict[str, dict[str, Any]] = {}
    for file in files:
        for name, body in library.services(file.path).items():
            services[name] = _overridden(services.get(name, {}), body)
    evidence = tuple(
        Evidence(kind="compose", path=file.path, seen_at=file.changed_at) for file in files if file.kind != _WRITTEN
    )
    found: list[Sighting] = []
    for name, body in services.items():
        if project.services and name not in _needed(project.services, services):
            continue
        project.used = []
        found.extend(_service(name, body, project, world, evidence, f"compose {files[0].path}, service {name}"))
    return found


def _needed(wanted: Sequence[str], services: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """Services that are started: those asked for, and what they depend on."""
    needed: set[str] = set()
    queue = list(wanted)
    while queue:
        name = queue.pop()
        if name not in needed and name in services:
            needed.add(name)
            queue.extend(map(str, services[name].get("depends_on") or ()))
    return needed


class _Library:
    """Services of compose files, with what they extend and include put in."""

    def __init__(self, files: Mapping[str, Artefact], world: World) -> None:
        self._files = files
        self._world = world

    def services(self, path: str, depth: int = 0) -> dict[str, dict[str, Any]]:
        """The services of one file by name."""
        artefact = self._files.get(path)
        if artefact is None:
            self._world.missing[path] = None
        document = load_yaml(artefact.text) if artefact and depth < _DEPTH else None
        if not isinstance(document, dict):
            return {}
        listed = document.get("services")
        if listed is None:
            # the first version of the format had no heading
            listed = {name: body for name, body in document.items() if isinstance(body, dict) and "image" in body}
        own = (
            {str(name): body for name, body in listed.items() if isinstance(body, dict)}
            if isinstance(listed, dict)
            else {}
        )
        found: dict[str, dict[str, Any]] = {}
        for name in _included(document):
            place = join_path(directory(path), name)
            found |= self.services(place, depth + 1) if place else {}
        return found | {name: self._extended(body, own, path, depth) for name, body in own.items()}

    def _extended(
        self, body: Mapping[str, Any], siblings: Mapping[str, Mapping[str, Any]], path: str, depth: int
    ) -> dict[str, Any]:
        extends = body.get("extends")
        kept = {key: value for key, value in body.items() if key != "extends"}
        name = extends.get("service") if isinstance(extends, dict) else extends
        file = extends.get("file") if isinstance(extends, dict) else None
        if not isinstance(name, str) or depth > _DEPTH:
            return kept
        place = join_path(directory(path), file) if isinstance(file, str) else path
        if place is not None and place != path:
            base: Mapping[str, Any] = self.services(place, depth + 1).get(name, {})
        else:
            base = siblings.get(name, {})
            base = self._extended(base, siblings, path, depth + 1) if base is not body else {}
        return _overridden(base, kept)


def _overridden(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Two bodies of one service: single values are replaced, environments merged, ports added."""
    merged = dict(base)
    for key, value in over.items():
        before = merged.get(key)
        if key == "environment" and before is not None:
            merged[key] = {**_pairs(before), **_pairs(value)}
        elif key in _ADDED and before is not None:
            merged[key] = [
                *(before if isinstance(before, list) else [before]),
                *(value if isinstance(value, list) else [value]),
            ]
        elif isinstance(before, dict) and isinstance(value, dict):
            merged[key] = {**before, **value}
        else:
            merged[key] = value
    return merged


def _pairs(value: Any) -> dict[str, str | None]:
    """`environment` as a mapping or a list; None: handed on from the caller's environment."""
    if isinstance(value, dict):
        return {str(name): None if text is None else str(text) for name, text in value.items()}
    pairs: dict[str, str | None] = {}
    for item in value if isinstance(value, list) else []:
        name, equals, text = str(item).partition("=")
        pairs[name] = text if equals else None
    return pairs


def _words(value: Any, project: _Project) -> list[str]:
    """A command: a list of words, or text that is split like a shell does, without expansion."""
    if isinstance(value, list):
        return [project.interpolate(str(word)) for word in value]
    if not isinstance(value, str):
        return []
    text = project.interpolate(value.replace("\\\n", " "))
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _service(
    name: str, body: Mapping[str, Any], project: _Project, world: World, evidence: tuple[Evidence, ...], where: str
) -> list[Sighting]:
    entrypoint = _words(body.get("entrypoint"), project)
    command = _words(body.get("command"), project)
    # an empty one takes the image's away
    hidden = body.get("entrypoint") is None
    image = project.interpolate(str(body["image"])) if body.get("image") else None
    env = _environment(body, project, where)
    container = replace(
        _container(name, body, project, image, hidden=hidden),
        options=options_of_compose(_interpolated(body, project), project.folder),
        command=(*entrypoint, *command),
        image_entrypoint=hidden,
    )
    cwd = body.get("working_dir")
    user = body.get("user")
    scope = Scope(
        variables=env,
        cwd=project.interpolate(str(cwd)) if cwd else None,
        user=project.interpolate(str(user)) if user else None,
    )
    around = Surroundings(runner="compose", container=container, evidence=evidence)
    shell = Interpreter(world, scope, where=where, surroundings=around)
    with contextlib.suppress(Leave):
        inside_container(shell, Call(argv=(*entrypoint, *command), env=env, cwd=scope.cwd))
    used = tuple(
        Evidence(kind=one.kind, path=one.path, seen_at=one.changed_at) for one in project.used if one.kind != _WRITTEN
    )
    return [replace(one, evidence=(*one.evidence, *used), runner="compose") for one in shell.launches]


def _interpolated(value: Any, project: _Project) -> Any:
    if isinstance(value, dict):
        return {str(name): _interpolated(inner, project) for name, inner in value.items()}
    if isinstance(value, list):
        return [_interpolated(inner, project) for inner in value]
    return project.interpolate(value) if isinstance(value, str) else value


def _environment(body: Mapping[str, Any], project: _Project, where: str) -> dict[str, Variable]:
    env: dict[str, Variable] = {}
    files = body.get("env_file")
    for item in files if isinstance(files, list) else [files]:
        path = item.get("path") if isinstance(item, dict) else item
        if path:
            env.update(project.env_file(project.interpolate(str(path))))
    for name, text in _pairs(body.get("environment")).items():
        written = "${" + name + "}" if text is None else text
        value = project.interpolate(written)
        if text is None and is_unset(value) and not is_secret_name(name):
            # a name alone that nobody sets is not set inside either
            continue
        env[name] = Variable(value, True, project.origin(written) or f"{where}, {name}")
    return env


def _container(
    name: str, body: Mapping[str, Any], project: _Project, image: str | None, *, hidden: bool
) -> ContainerRun:
    stated = body.get("container_name")
    ports = body.get("ports")
    networks = body.get("network_mode")
    return ContainerRun(
        image=image,
        name=project.interpolate(str(stated)) if stated else None,
        ports=tuple(filter(None, (_port(item, project) for item in ports))) if isinstance(ports, list) else (),
        host_network=networks == "host",
        gpus=_gpus(body, project),
        entrypoint_hidden=hidden,
        service=name,
        project=project.folder,
    )


def _port(item: Any, project: _Project) -> PortMapping | None:
    if isinstance(item, dict):
        published, target = item.get("published"), item.get("target")
        host = project.interpolate(str(published)) if published else None
        return PortMapping(host=host, container=project.interpolate(str(target))) if target else None
    return read_port(project.interpolate(str(item)))


def _gpus(body: Mapping[str, Any], project: _Project) -> tuple[str, ...]:
    deploy = body.get("deploy")
    resources = deploy.get("resources") if isinstance(deploy, dict) else None
    reservations = resources.get("reservations") if isinstance(resources, dict) else None
    requests = reservations.get("devices") if isinstance(reservations, dict) else None
    short = body.get("gpus")
    found: list[str] = []
    for request in [*(requests if isinstance(requests, list) else []), *(short if isinstance(short, list) else [])]:
        ids = request.get("device_ids") if isinstance(request, dict) else None
        found.extend(project.interpolate(str(one)) for one in (ids if isinstance(ids, list) else []))
    devices = body.get("devices")
    for device in devices if isinstance(devices, list) else []:
        found.extend(read_gpus(project.interpolate(str(device))))
    return tuple(dict.fromkeys(part for one in found for part in one.split(",")))
