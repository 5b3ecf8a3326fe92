"""Artefacts of one host to launch candidates."""

import contextlib
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from bot.core.discovery.artefact import Artefact, home_of_path, user_of_path
from bot.core.discovery.candidate import Candidate, Contradiction, Seen
from bot.core.discovery.child_shell import run_script
from bot.core.discovery.compose import sight_compose, sight_up
from bot.core.discovery.history import sight_history
from bot.core.discovery.inspect import sight_inspect
from bot.core.discovery.launch_call import Call, Evidence, Sighting, without_plain
from bot.core.discovery.logs import sight_log
from bot.core.discovery.merge import Group, differences, group_launches, kind_of, merged_environment, outer_port
from bot.core.discovery.process import read_ps, sight_processes, unit_of_cgroup
from bot.core.discovery.recognise import Launch, executable_of, is_server, recognise
from bot.core.discovery.schedules import sight_cron, sight_procfile, sight_supervisor, sight_terminals
from bot.core.discovery.secrets import MARK, Masker, is_secret_name
from bot.core.discovery.shell_run import Interpreter
from bot.core.discovery.shell_state import Leave, Scope, has_unknown, is_unset, render
from bot.core.discovery.shell_world import ShellFile, World
from bot.core.discovery.units import collect_units, sight_units
from bot.core.domain.catalog import SecretRef, Word
from bot.core.domain.container import Container
from bot.core.domain.engine import Engine

#: variables that pin GPUs, the container's own first
_GPU_VARIABLES = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
_CONTAINER_GPU_VARIABLE = "NVIDIA_VISIBLE_DEVICES"
#: scripts that no shell runs
_OTHER_LANGUAGE = re.compile(r"#!.*\b(python|perl|ruby|node|lua|php|make|awk|Rscript)[\d.]*\b")
#: what a launch leaves behind
_TRACES = ("proc", "ps", "inspect", "log", "history")
_NO_GPU = frozenset(("", "all", "none", "void", "-1", "NoDevFiles"))


def discover(
    artefacts: Sequence[Artefact], now: datetime | None = None, *, engines: Mapping[str, Engine]
) -> tuple[Candidate, ...]:
    """Every launch that the artefacts show, each once. Nothing is executed; secrets become references.

    `now`: when the artefacts were taken, for "last seen" of what runs."""
    launches = find_launches(artefacts, engines)
    masker = Masker()
    for launch in launches:
        _learn_secrets(launch, masker)
    return tuple(_candidate(group, masker, now) for group in group_launches(launches))


def find_launches(artefacts: Sequence[Artefact], engines: Mapping[str, Engine]) -> list[Launch]:
    """The launches of all artefacts, not yet put together."""
    return [launch for launch in _launches(artefacts, engines, _world(artefacts, engines)) if launch is not None]


def find_missing(artefacts: Sequence[Artefact], engines: Mapping[str, Engine]) -> tuple[str, ...]:
    """Files that the artefacts name and that are not among them, in the order in which they were asked for."""
    world = _world(artefacts, engines)
    world.seeking = True
    _launches(artefacts, engines, world)
    return tuple(world.missing)


def _world(artefacts: Sequence[Artefact], engines: Mapping[str, Engine]) -> World:
    files = {
        one.path: ShellFile(one.kind, one.path, one.text) for one in artefacts if one.kind in ("script", "env_file")
    }
    world = World(
        files=files,
        is_launch=lambda sighting: recognise(sighting, engines) is not None,
        is_server=lambda argv: is_server(argv, engines),
    )
    compose_files = [one for one in artefacts if one.kind == "compose"]
    env_files = [one for one in artefacts if one.kind == "env_file"]
    world.read_compose = lambda up: sight_up(up, compose_files, world, env_files)
    world.read_unit = lambda path, text: sight_units(
        collect_units([Artefact(path=path, kind="unit", text=text)]), world, []
    )
    return world


def _launches(artefacts: Sequence[Artefact], engines: Mapping[str, Engine], world: World) -> list[Launch | None]:
    sightings = [*_sight_callers(artefacts, world), *_sight_scripts(artefacts, world)]
    for artefact in artefacts:
        if artefact.kind == "log":
            sightings.extend(sight_log(artefact, engines))
    return [recognise(sighting, engines) for sighting in without_plain(sightings)]


def _sight_callers(artefacts: Sequence[Artefact], world: World) -> list[Sighting]:
    """Everything that starts something: what they reach in scripts is theirs."""
    env_files = [one for one in artefacts if one.kind == "env_file"]
    processes = [one for one in artefacts if one.kind == "proc"]
    seen = {one.pid for one in processes}
    listed = [one for artefact in artefacts if artefact.kind == "ps" for one in read_ps(artefact)]
    running = filter(None, (unit_of_cgroup(one.cgroup) for one in processes))
    found = sight_processes([*processes, *(one for one in listed if one.pid not in seen)], world)
    found.extend(sight_units(collect_units(artefacts, running), world, env_files))
    found.extend(sight_compose([one for one in artefacts if one.kind == "compose"], world, env_files))
    names = [path.rpartition("/")[2] for path in world.files]
    for artefact in artefacts:
        match artefact.kind:
            case "inspect":
                found.extend(sight_inspect(artefact, world))
            case "cron":
                found.extend(sight_cron(artefact, world))
            case "procfile":
                found.extend(sight_procfile(artefact, world, env_files))
            case "supervisor":
                found.extend(sight_supervisor(artefact, world))
            case "tmux":
                found.extend(sight_terminals(artefact, world))
            case "history":
                found.extend(sight_history(artefact, world, names))
    return found


def _sight_scripts(artefacts: Sequence[Artefact], world: World) -> list[Sighting]:
    """Scripts that nothing else runs, each on its own."""
    reached = set(world.used)
    by_script: dict[str, list[Sighting]] = {}
    for artefact in artefacts:
        if artefact.kind != "script" or artefact.path in reached or _OTHER_LANGUAGE.match(artefact.text):
            continue
        world.used = set()
        by_script[artefact.path] = _sight_script(artefact, world)
        reached |= world.used - {artefact.path}
    return [one for path, found in by_script.items() if path not in reached for one in found]


def _sight_script(artefact: Artefact, world: World) -> list[Sighting]:
    user = artefact.user or user_of_path(artefact.path)
    scope = Scope(home=home_of_path(artefact.path) or (f"/home/{user}" if user else None), user=artefact.user)
    shell = Interpreter(world, scope, where=f"script {artefact.path}")
    world.written.clear()
    with contextlib.suppress(Leave):
        run_script(shell, Call(argv=(artefact.path,), home=scope.home), "script", artefact.path, artefact.text, ())
    return [replace(one, seen_at=artefact.changed_at) for one in shell.launches]


# candidates


def _learn_secrets(launch: Launch, masker: Masker) -> None:
    for name, variable in launch.sighting.env.items():
        text = render(variable.text)
        masker.learn_from(text)
        if is_secret_name(name) and not has_unknown(variable.text):
            masker.learn(text)
    for position, word in enumerate(launch.argv):
        masker.learn_from(word)
        if position in _secret_positions(launch):
            masker.learn(word.partition("=")[2] if word.startswith("-") else word)


def _secret_positions(launch: Launch) -> set[int]:
    """Positions of words that are the value of a secret flag, or hold one behind `=`."""
    found: set[int] = set()
    words = launch.argv
    collecting = False
    for position, word in enumerate(words):
        if word.startswith("-") and len(word) > 1 and not re.fullmatch(r"-\d+(\.\d+)?", word):
            name, equals, _ = word.partition("=")
            canonical = launch.engine.canonical(name) or name.lstrip("-")
            secret = is_secret_name(canonical) or is_secret_name(name.lstrip("-"))
            collecting = secret and not equals
            if secret and equals:
                found.add(position)
        elif collecting:
            found.add(position)
            collecting = isinstance(launch.flags.get(launch.engine.canonical(words[position - 1]) or ""), list)
    return found


def _candidate(group: Group, masker: Masker, now: datetime | None) -> Candidate:
    primary = group.primary
    declared = _declared(group)
    shown = declared if declared is not None and _same_command(primary, declared) else primary
    sighting = primary.sighting
    # a PATH that extends the login's own is not known whole, and half of it would hide every program
    env = {name: one for name, one in merged_environment(group).items() if name != "PATH" or render(one[0]) == one[0]}
    container = next((one.sighting.container for one in group.members if one.sighting.container), None)
    evidence = _evidence(group, now)
    fields: dict[str, Seen] = {}

    def first(name: str) -> str | None:
        for member in group.members:
            value = getattr(member.sighting, name)
            if value is not None:
                fields[name] = _seen(member, now)
                return masker.text(render(str(value)))
        return None

    argv = _argv(shown, masker, env)
    fields["argv"] = fields["model"] = _seen(shown, now)
    words = tuple((name, _env_word(name, value, origin, masker)) for name, (value, origin) in sorted(env.items()))
    for name, (_, origin) in env.items():
        fields[f"env.{name}"] = Seen(source=masker.text(origin), last_seen=_seen(primary, now).last_seen)
    port = _port(group, fields, now)
    executable = executable_of(shown, lambda program: program.startswith("python"))
    cwd, user = first("cwd"), first("user")
    running = any(one.sighting.running for one in group.members)
    return Candidate(
        engine=primary.engine.name,
        model=masker.text(shown.model),
        argv=argv,
        env=words,
        cwd=cwd,
        user=user,
        runner=_runner(group),
        unit=next((one.sighting.unit for one in group.members if one.sighting.unit), None),
        container=next((c.name for m in group.members if (c := m.sighting.container) and c.name), None)
        or (container.id[:12] if container and container.id else None),
        image=next((render(c.image) for m in group.members if (c := m.sighting.container) and c.image), None),
        run=_run(group, shown, masker),
        executable=masker.text(executable) if executable else None,
        wrappers=_wrappers(group, masker),
        port=port,
        gpus=_gpus(group, env),
        status="running" if running else None,
        evidence=evidence,
        contradictions=_contradictions(group, masker),
        provenance=fields,
        pid=sighting.pid,
        last_seen=now if running and now else max((e.seen_at for e in evidence if e.seen_at), default=None),
    )


def _declared(group: Group) -> Launch | None:
    """What would start it again: the unit, compose file or script rather than the process that came of it; the words
    that a container was given rather than the process inside."""
    found = [one for one in group.members if kind_of(one) not in _TRACES]
    return next(iter([*found, *(one for one in group.members if kind_of(one) == "inspect")]), None)


def _run(group: Group, shown: Launch, masker: Masker) -> Container | None:
    """How to run the container again, in which the launch was seen: of the member that the command is of, else of the
    first that knows the image."""
    known = [one for one in (shown, *group.members) if one.sighting.container and one.sighting.container.image]
    given = known[0].sighting.container if known else None
    if given is None or not given.image:
        return None
    words, argv = tuple(map(render, given.command)), shown.argv[shown.hidden :]
    leads = len(words) >= len(argv) and words[len(words) - len(argv) :] == argv
    ids = [one.sighting.container.image_id for one in group.members if one.sighting.container]
    return Container(
        image=masker.text(render(given.image)),
        image_id=next(filter(None, ids), None),
        tool=given.tool,
        options=tuple(masker.text(render(option)) for option in given.options),
        lead=tuple(masker.text(word) for word in words[: len(words) - len(argv)]) if leads else (),
        image_entrypoint=given.image_entrypoint,
    )


def _same_command(primary: Launch, declared: Launch) -> bool:
    if not primary.sighting.running or primary.model != declared.model:
        return not primary.sighting.running
    if dict(primary.flags) == dict(declared.flags):
        return True
    split = [" ".join(one.argv[len(one.line.program) :]).split() for one in (primary, declared)]
    return kind_of(primary) == "ps" and split[0] == split[1]


def _runner(group: Group) -> str:
    runners = [one.sighting.runner for one in group.members]
    return next((runner for runner in ("systemd", "compose", "docker") if runner in runners), "process")


def _wrappers(group: Group, masker: Masker) -> tuple[str, ...]:
    for member in group.members:
        if member.sighting.wrappers:
            shown = (shlex.join(render(word) for word in wrapper) for wrapper in member.sighting.wrappers)
            return tuple(masker.text(text) for text in shown)
    return ()


def _argv(launch: Launch, masker: Masker, env: Mapping[str, tuple[str, str]]) -> tuple[Word, ...]:
    secret = _secret_positions(launch)
    origin = _origin(launch)
    # a flag that was filled in from a variable: the secret lives where that is set
    places = {render(value): place for value, place in env.values() if len(value) > 3 and value != MARK}
    words: list[Word] = []
    for position, word in enumerate(launch.argv):
        if position < launch.hidden:
            continue
        if position in secret and word.startswith("-"):
            name, _, value = word.partition("=")
            words.extend([name, SecretRef(places.get(value, f"{origin}, {name}"))])
        elif position in secret or masker.is_known(word):
            flag = next((one for one in reversed(launch.argv[:position]) if one.startswith("-")), "")
            words.append(SecretRef(places.get(word, f"{origin}, {flag}")))
        else:
            words.append(masker.text(word))
    return tuple(words)


def _origin(launch: Launch) -> str:
    evidence = launch.sighting.evidence
    return str(evidence[-1]) if evidence else launch.engine.name


def _env_word(name: str, value: str, origin: str, masker: Masker) -> Word:
    text = render(value)
    if is_secret_name(name) or masker.is_known(text):
        return SecretRef(origin if name in origin else f"{origin}, {name}")
    return masker.text(text)


def _port(group: Group, fields: dict[str, Seen], now: datetime | None) -> str | None:
    """The port on the host: of whoever publishes it, else as the winner states it, else anybody."""
    publishing = [one for one in group.members if one.sighting.container and one.sighting.container.ports]
    contained = any(one.sighting.container for one in group.members)
    for member in [*publishing, *group.members]:
        port = outer_port(member)
        inside_only = contained and member.sighting.container is None and bool(publishing)
        if port is not None and not inside_only and not has_unknown(port) and not is_unset(port):
            fields["port"] = _seen(member, now)
            return render(port)
    return None


def _gpus(group: Group, env: Mapping[str, tuple[str, str]]) -> tuple[str, ...]:
    for member in group.members:
        if member.sighting.container and member.sighting.container.gpus:
            return member.sighting.container.gpus
    contained = any(one.sighting.container for one in group.members)
    names = (*_GPU_VARIABLES, _CONTAINER_GPU_VARIABLE) if contained else _GPU_VARIABLES
    for name in names:
        value = env.get(name, ("", ""))[0]
        if value not in _NO_GPU and render(value) == value:
            return tuple(part.strip() for part in value.split(",") if part.strip())
    return ()


def _evidence(group: Group, now: datetime | None) -> tuple[Evidence, ...]:
    found: dict[tuple[str, str], Evidence] = {}
    for member in group.members:
        for one in member.sighting.evidence:
            seen_at = now if one.kind in ("proc", "ps") and now else one.seen_at
            found.setdefault((one.kind, one.path), replace(one, seen_at=seen_at))
    return tuple(found.values())


def _seen(launch: Launch, now: datetime | None) -> Seen:
    sighting = launch.sighting
    moment = now if sighting.running and now else sighting.seen_at
    return Seen(source=_origin(launch), last_seen=moment)


def _contradictions(group: Group, masker: Masker) -> tuple[Contradiction, ...]:
    found: list[Contradiction] = []
    for one in differences(group):
        secret = is_secret_name(one.name.removeprefix("env."))
        kept, other = (_shown(value, masker, secret=secret) for value in (one.kept, one.other))
        found.append(Contradiction(field=one.name, kept=kept, other=other, source=_origin(one.member)))
    return tuple(found)


def _shown(value: object, masker: Masker, *, secret: bool) -> str | None:
    if value is None:
        return None
    if secret:
        return MARK
    texts: Iterable[object] = value if isinstance(value, list) else (value,)
    return masker.text(render(" ".join("on" if one is True else "off" if one is False else str(one) for one in texts)))
