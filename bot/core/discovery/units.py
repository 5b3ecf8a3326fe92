"""systemd services, user services and quadlets, with their drop-ins and environment files, to sightings."""

import contextlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.core.discovery.artefact import Artefact, home_of_path, user_of_path
from bot.core.discovery.container_options import QUADLET_KEYS, options_of_quadlet
from bot.core.discovery.container_programs import inside_container
from bot.core.discovery.container_run import read_gpus, read_port
from bot.core.discovery.launch_call import Call, ContainerRun, Evidence, Sighting
from bot.core.discovery.program_options import DOCKER_RUN
from bot.core.discovery.shell_run import Interpreter
from bot.core.discovery.shell_state import Leave, Scope, Variable, clean
from bot.core.discovery.shell_world import Surroundings, World
from bot.core.discovery.systemd_unit import (
    Setting,
    UnitName,
    expand_command,
    parse_environment,
    parse_environment_file,
    parse_unit,
    split_words,
)

_FOLDERS = ("/etc/", "/run/", "/usr/local/lib/", "/usr/lib/", "/lib/")
_TRUE = frozenset(("1", "yes", "true", "on", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A unit with everything that is merged into it."""

    name: UnitName
    settings: tuple[Setting, ...] = field(repr=False)
    evidence: tuple[Evidence, ...]
    quadlet: bool = False

    def values(self, section: str, key: str) -> list[str]:
        """All values of a list setting; an empty one resets."""
        found: list[str] = []
        for setting in self.settings:
            if setting.section == section and setting.key == key:
                found = [*found, setting.value] if setting.value else []
        return found

    def value(self, section: str, key: str) -> str | None:
        """The last value."""
        found = self.values(section, key)
        return found[-1] if found else None


def unit_name(path: str) -> UnitName:
    """Name and manager of a unit, from where its file lies or from the command that showed it."""
    name = re.sub(r"\.d/[^/]*$", "", path) if re.search(r"\.d/[^/]*\.conf$", path) else path
    name = re.split(r"[/: ]", name.rstrip("/"))[-1]
    if "." not in name.rpartition("@")[2] and not name.endswith((".service", ".container")):
        name += ".service"
    users = re.search(
        r"/(\.config|\.local/share)/(systemd/user|containers/systemd)/|/systemd/user/|/containers/systemd/users/", path
    )
    return UnitName(
        name=name,
        user_manager=users is not None,
        user_home=home_of_path(path) if users else None,
        user=user_of_path(path) if users else None,
        path=path,
    )


def collect_units(artefacts: Sequence[Artefact], instances: Iterable[str] = ()) -> list[Unit]:
    """Units with their drop-ins. `instances`: names of running instances, for templates."""
    files = [one for one in artefacts if one.kind == "unit" and one.text.strip()]
    dropins = [one for one in artefacts if one.kind == "dropin"]
    chosen: dict[tuple[str, str | None], Artefact] = {}
    for artefact in files:
        name = unit_name(artefact.path)
        key = (name.name, name.user_home if name.user_manager else "system")
        if key not in chosen or _rank(artefact.path) < _rank(chosen[key].path):
            chosen[key] = artefact
    units: list[Unit] = []
    for artefact in chosen.values():
        name = unit_name(artefact.path)
        names = [name] if name.instance != "" else _instances(name, artefact, artefacts, instances)
        units.extend(_unit(one, artefact, dropins) for one in names)
    return units


def _rank(path: str) -> int:
    """Where systemd looks first; the unit itself before a link to it."""
    place = next((number for number, folder in enumerate(_FOLDERS) if path.startswith(folder)), len(_FOLDERS))
    return 2 * place + (".wants/" in path or ".requires/" in path)


def _instances(
    name: UnitName, artefact: Artefact, artefacts: Sequence[Artefact], running: Iterable[str]
) -> list[UnitName]:
    """Instances of a template that something names: a process, a drop-in, an environment file, DefaultInstance."""
    suffix = name.name.rpartition(".")[2]
    pattern = re.compile(re.escape(name.prefix) + r"@(.+)\." + re.escape(suffix))
    found = {match[1] for one in running if (match := pattern.fullmatch(one))}
    for other in artefacts:
        if other.kind == "dropin" and (match := pattern.fullmatch(unit_name(other.path).name)):
            found.add(match[1])
    linked = {unit_name(one.path).name for one in artefacts if one.kind == "unit"}
    settings = parse_unit(artefact.text)
    for setting in settings:
        if setting.key == "EnvironmentFile" and re.search(r"%[iI]", setting.value):
            place = re.compile(re.sub(r"%[iI]", "(.+)", re.escape(setting.value.lstrip("-")).replace(r"%i", "%i")))
            found |= {match[1] for one in artefacts if (match := place.fullmatch(one.path)) and "*" not in match[1]}
        if setting.key == "DefaultInstance" and not found and not any(map(pattern.fullmatch, linked - {name.name})):
            found.add(setting.value)
    names = [f"{name.prefix}@{instance}.{suffix}" for instance in sorted(found)]
    return [replace(name, name=one) for one in names if one not in linked]


def _unit(name: UnitName, artefact: Artefact, dropins: Sequence[Artefact]) -> Unit:
    settings = parse_unit(artefact.text)
    evidence = [Evidence(kind="unit", path=artefact.path, seen_at=artefact.changed_at)]
    for dropin in _dropins_of(name, dropins):
        settings += parse_unit(dropin.text)
        evidence.append(Evidence(kind="dropin", path=dropin.path, seen_at=dropin.changed_at))
    return Unit(name=name, settings=tuple(settings), evidence=tuple(evidence), quadlet=name.name.endswith(".container"))


def _dropins_of(name: UnitName, dropins: Sequence[Artefact]) -> list[Artefact]:
    """The drop-ins of a unit in the order that they apply: by file name; one of /etc hides its namesake in /usr."""
    folders = _dropin_folders(name)
    by_name: dict[str, tuple[int, Artefact]] = {}
    for dropin in dropins:
        folder, _, file = dropin.path.rpartition("/")
        owner = folder.rpartition("/")[2].removesuffix(".d")
        other = unit_name(dropin.path)
        if owner not in folders or other.user_manager != name.user_manager:
            continue
        if name.user_manager and other.user_home and name.user_home and other.user_home != name.user_home:
            continue
        rank = _rank(dropin.path)
        if file not in by_name or rank < by_name[file][0]:
            by_name[file] = (rank, dropin)
    return [by_name[file][1] for file in sorted(by_name)]


def _dropin_folders(name: UnitName) -> set[str]:
    suffix = "." + name.name.rpartition(".")[2]
    folders = {name.name, name.template, suffix[1:]}
    parts = name.prefix.split("-")
    folders.update("-".join(parts[:number]) + "-" + suffix for number in range(1, len(parts)))
    return folders


def sight_units(units: Sequence[Unit], world: World, env_files: Sequence[Artefact]) -> list[Sighting]:
    """The launches of all units."""
    found: list[Sighting] = []
    for unit in units:
        found.extend(_quadlet(unit, world, env_files) if unit.quadlet else _service(unit, world, env_files))
    return found


def _environment(
    unit: Unit, section: str, env_files: Sequence[Artefact], world: World
) -> tuple[dict[str, Variable], list[Evidence]]:
    """Variables of a section: files beat `Environment=`, unset ones go."""
    specifiers = unit.name.specifiers()
    env: dict[str, Variable] = {}
    for value in unit.values(section, "Environment"):
        for name, text in parse_environment(value, specifiers).items():
            env[name] = Variable(clean(text), True, f"unit {unit.name.name}, Environment={name}")
    evidence: list[Evidence] = []
    for value in unit.values(section, "EnvironmentFile"):
        pattern = specifiers(value.lstrip("-"))
        matching = _matching(pattern, env_files)
        if not matching:
            world.missing[pattern] = None
        for file in matching:
            evidence.append(Evidence(kind=file.kind, path=file.path, seen_at=file.changed_at))
            for name, text in parse_environment_file(file.text).items():
                env[name] = Variable(clean(text), True, f"env file {file.path}, {name}")
    for value in unit.values(section, "UnsetEnvironment"):
        for name in split_words(value):
            env.pop(name.partition("=")[0], None)
    return env, evidence


def _matching(pattern: str, files: Sequence[Artefact]) -> list[Artefact]:
    if not re.search(r"[*?\[]", pattern):
        return [file for file in files if file.path == pattern][:1]
    expression = re.compile(re.escape(pattern).replace(r"\*", "[^/]*").replace(r"\?", "[^/]"))
    return sorted((file for file in files if expression.fullmatch(file.path)), key=lambda file: file.path)


def _account(unit: Unit) -> tuple[str | None, str | None]:
    """(user, home) that a service runs as."""
    specifiers = unit.name.specifiers()
    if unit.name.user_manager:
        return unit.name.user, unit.name.user_home
    stated = unit.value("Service", "User")
    user = specifiers(stated) if stated else "root"
    if unit.value("Service", "DynamicUser") in _TRUE and not stated:
        return None, None
    return user, "/root" if user == "root" else f"/home/{user}"


def _service(unit: Unit, world: World, env_files: Sequence[Artefact]) -> list[Sighting]:
    env, evidence = _environment(unit, "Service", env_files, world)
    specifiers = unit.name.specifiers()
    user, home = _account(unit)
    folder = specifiers(unit.value("Service", "WorkingDirectory") or "").lstrip("-")
    cwd = home if folder == "~" else clean(folder) or None
    logs = [
        match[1]
        for key in ("StandardOutput", "StandardError")
        if (match := re.match(r"(?:append|file|truncate):(.*)", specifiers(unit.value("Service", key) or "")))
    ]
    found: list[Sighting] = []
    for command in _commands(unit, env):
        scope = Scope(variables=env, cwd=cwd, home=home, user=user)
        around = Surroundings(runner="systemd", unit=unit.name.name, evidence=(*unit.evidence, *evidence))
        shell = Interpreter(world, scope, where=f"unit {unit.name.name}", surroundings=around)
        call = Call(argv=tuple(map(clean, command)), env=env, cwd=cwd, user=None, home=home, logs=tuple(logs))
        with contextlib.suppress(Leave):
            shell.dispatch(call)
        found.extend(replace(one, unit=unit.name.name, runner="systemd") for one in shell.launches)
    return found


def _commands(unit: Unit, env: Mapping[str, Variable]) -> list[list[str]]:
    """The command lines of ExecStart, variables filled in."""
    specifiers = unit.name.specifiers()
    commands: list[list[str]] = []
    for value in unit.values("Service", "ExecStart"):
        prefix = re.match(r"[-@:+!|]*", value)
        marks = prefix[0] if prefix else ""
        words = [specifiers(word) for word in split_words(value[len(marks) :])]
        for command in _separate(words):
            if "@" in marks and len(command) > 1:
                command = [command[0], *command[2:]]
            if ":" not in marks:
                command = expand_command(command, lambda name: env[name].text if name in env else None)
            commands.append(command)
    return commands


def _separate(words: list[str]) -> list[list[str]]:
    """A lone ";" separates commands, "\\;" is a word."""
    commands: list[list[str]] = [[]]
    for word in words:
        if word == ";":
            commands.append([])
        else:
            commands[-1].append(";" if word == "\\;" else word)
    return [command for command in commands if command]


def _quadlet(unit: Unit, world: World, env_files: Sequence[Artefact]) -> list[Sighting]:
    """A podman quadlet: `x.container` becomes `x.service`."""
    specifiers = unit.name.specifiers()
    env, evidence = _environment(unit, "Container", env_files, world)
    env |= _podman_secrets(unit)
    service_env, _ = _environment(unit, "Service", env_files, world)
    command = [specifiers(word) for word in split_words(unit.value("Container", "Exec") or "")]
    command = expand_command(["", *command], lambda name: service_env[name].text if name in service_env else None)[1:]
    entrypoint = unit.value("Container", "Entrypoint")
    service = unit.name.stem + ".service"
    container = _quadlet_container(unit, hidden=not entrypoint)
    if entrypoint:
        command = [*_entrypoint_words(entrypoint), *command]
    container = replace(container, command=tuple(command))
    cwd = unit.value("Container", "WorkingDir")
    user = unit.value("Container", "User")
    around = Surroundings(runner="systemd", unit=service, container=container, evidence=(*unit.evidence, *evidence))
    shell = Interpreter(world, Scope(variables=env, cwd=cwd, user=user), where=f"unit {service}", surroundings=around)
    with contextlib.suppress(Leave):
        inside_container(shell, Call(argv=tuple(map(clean, command)), env=env, cwd=cwd))
    return shell.launches


def _entrypoint_words(text: str) -> list[str]:
    return [word for word in re.split(r"[\[\]\", ]+", text) if word]


def _podman_secrets(unit: Unit) -> dict[str, Variable]:
    """`Secret=NAME,type=env,target=VARIABLE`."""
    found: dict[str, Variable] = {}
    for value in unit.values("Container", "Secret"):
        name, _, rest = value.partition(",")
        given = dict(pair.partition("=")[::2] for pair in rest.split(","))
        if given.get("type") == "env":
            found[given.get("target") or name] = Variable("", True, f"podman secret {name}")
    return found


def _quadlet_container(unit: Unit, *, hidden: bool) -> ContainerRun:
    specifiers = unit.name.specifiers()
    pairs: list[tuple[str, str]] = []
    for value in unit.values("Container", "PodmanArgs"):
        pairs.extend(DOCKER_RUN.read(split_words(value))[0])
    published = [*unit.values("Container", "PublishPort"), *(v for k, v in pairs if k in ("-p", "--publish"))]
    devices = [*unit.values("Container", "AddDevice"), *(v for k, v in pairs if k in ("--gpus", "--device"))]
    networks = [*unit.values("Container", "Network"), *(v for k, v in pairs if k in ("--network", "--net"))]
    return ContainerRun(
        image=unit.value("Container", "Image"),
        name=specifiers(unit.value("Container", "ContainerName") or "systemd-%N"),
        ports=tuple(filter(None, (read_port(specifiers(value)) for value in published))),
        host_network="host" in networks,
        gpus=tuple(gpu for device in devices for gpu in read_gpus(specifiers(device))),
        entrypoint_hidden=hidden,
        tool="podman",
        options=options_of_quadlet(
            {key: [specifiers(value) for value in unit.values("Container", key)] for key in QUADLET_KEYS}, pairs
        ),
        image_entrypoint=hidden,
    )
