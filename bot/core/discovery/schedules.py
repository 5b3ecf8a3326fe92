"""Crontabs, Procfiles, supervisor programs and terminal sessions to sightings."""

import configparser
import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.core.discovery.artefact import Artefact, home_of_path, user_of_path
from bot.core.discovery.compose import parse_dotenv
from bot.core.discovery.launch_call import Call, Evidence, Sighting
from bot.core.discovery.shell_run import Interpreter
from bot.core.discovery.shell_state import Leave, Scope, Variable, clean, directory
from bot.core.discovery.shell_world import Surroundings, World

_CRON_SETTING = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*(.*?)\s*$")
_CRON_TIME = re.compile(r"\s*(@\w+|(?:[\d*/,\-A-Za-z~]+\s+){4}[\d*/,\-A-Za-z~]+)\s+(.*)$")
#: settings of cron itself, not of the command
_CRON_OWN = frozenset(("SHELL", "MAILTO", "MAILFROM", "CRON_TZ", "PATH", "HOME", "LOGNAME", "RANDOM_DELAY"))


def sight_cron(artefact: Artefact, world: World) -> list[Sighting]:
    """A user's crontab, or a system one with a user in its sixth column."""
    system = re.search(r"/etc/(cron\.d/|crontab)", artefact.path) is not None
    env: dict[str, Variable] = {}
    found: list[Sighting] = []
    for number, line in enumerate(artefact.text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        timed = _CRON_TIME.match(line)
        setting = _CRON_SETTING.fullmatch(line)
        if setting and not (timed and not line.lstrip()[0].isalpha()):
            if setting[1] not in _CRON_OWN:
                env[setting[1]] = Variable(
                    clean(setting[2].strip("\"'")), True, f"crontab {artefact.path} line {number}"
                )
            continue
        if timed:
            found.extend(_cron_job(artefact, number, timed[2], env, world, system=system))
    return found


def _cron_job(
    artefact: Artefact, number: int, text: str, env: dict[str, Variable], world: World, *, system: bool
) -> list[Sighting]:
    user = artefact.user or user_of_path(artefact.path)
    if system:
        user, text = text.split(None, 1) if len(text.split(None, 1)) == 2 else (None, text)
    # an unescaped % ends the command; what follows is its input
    command = re.sub(r"\\%", "%", re.split(r"(?<!\\)%", text, maxsplit=1)[0])
    return run_line(artefact, command, world, env=env, user=user, cwd=None, detail=f"line {number}")


def sight_procfile(artefact: Artefact, world: World, env_files: Sequence[Artefact]) -> list[Sighting]:
    """`name: command` lines; a .env beside it is read by foreman and its like."""
    folder = directory(artefact.path)
    dotenv = next((one for one in env_files if one.path == f"{folder.rstrip('/')}/.env"), None)
    env = parse_dotenv(dotenv.text, f"env file {dotenv.path}") if dotenv else {}
    found: list[Sighting] = []
    for number, line in enumerate(artefact.text.splitlines(), start=1):
        match = re.match(r"([A-Za-z0-9_-]+):\s*(.+)$", line)
        if match is None:
            continue
        cwd = folder if folder.startswith("/") else None
        for one in run_line(artefact, match[2], world, env=env, user=None, cwd=cwd, detail=f"line {number}"):
            more = (Evidence(kind=dotenv.kind, path=dotenv.path),) if dotenv else ()
            found.append(replace(one, evidence=(*one.evidence, *more)))
    return found


def sight_supervisor(artefact: Artefact, world: World) -> list[Sighting]:
    """[program:x] sections of supervisord."""
    parser = configparser.RawConfigParser(strict=False, inline_comment_prefixes=(" ;",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # keep the case of names
    try:
        parser.read_string(clean(artefact.text))
    except configparser.Error:
        return []
    found: list[Sighting] = []
    for section in parser.sections():
        if not section.startswith("program:") or not parser.has_option(section, "command"):
            continue
        for values in _supervisor_processes(section, dict(parser.items(section)), directory(artefact.path)):
            found.extend(_supervisor_process(artefact, section, values, world))
    return found


def _supervisor_processes(section: str, values: Mapping[str, str], here: str) -> list[dict[str, str]]:
    """The settings of each of `numprocs` processes, with %(process_num)02d and the like filled in."""
    program = section.partition(":")[2]
    count = values.get("numprocs", "1")
    start = values.get("numprocs_start", "0")
    processes = []
    for number in range(min(int(count), 32) if count.isdigit() else 1):
        known: dict[str, str | int] = {
            "program_name": program,
            "group_name": program,
            "process_num": number + (int(start) if start.isdigit() else 0),
            "numprocs": count,
            "here": here,
        }
        processes.append({key: _supervisor_text(value, known) for key, value in values.items()})
    return processes


def _supervisor_text(text: str, known: Mapping[str, str | int]) -> str:
    def filled(match: re.Match[str]) -> str:
        if match[0] == "%%":
            return "%"
        value = known.get(match[1])
        if isinstance(value, int) and match[3] == "d":
            return str(value).rjust(min(int(match[2].lstrip("0") or 0), 20), "0" if match[2][:1] == "0" else " ")
        if match[1].startswith("ENV_"):
            return f"${{{match[1][4:]}}}"
        return match[0] if value is None else str(value)

    return re.sub(r"%%|%\((\w+)\)(\d*)([sd])", filled, text)


def _supervisor_process(artefact: Artefact, section: str, values: Mapping[str, str], world: World) -> list[Sighting]:
    env = {
        match[1]: Variable(match[2].strip().strip("\"'"), True, f"{section} of {artefact.path}, {match[1]}")
        for match in re.finditer(r"([A-Za-z_]\w*)=(\"[^\"]*\"|'[^']*'|[^,]*)", values.get("environment", ""))
    }
    return run_line(
        artefact,
        values["command"].replace("\n", " "),
        world,
        env=env,
        user=values.get("user"),
        cwd=values.get("directory"),
        detail=section,
    )


def sight_terminals(artefact: Artefact, world: World) -> list[Sighting]:
    """`tmux list-panes` rows: SESSION, PID, FOLDER and start command, separated by tabs."""
    found: list[Sighting] = []
    for line in artefact.text.splitlines():
        columns = line.split("\t")
        if len(columns) < 4 or not columns[3].strip():
            continue
        text = columns[3].strip()
        # tmux prints the start command in quotes
        if len(text) > 1 and text[0] == text[-1] == '"':
            text = re.sub(r"\\(.)", r"\1", text[1:-1])
        found.extend(
            run_line(
                artefact,
                text,
                world,
                env={},
                user=artefact.user,
                cwd=columns[2] or None,
                detail=f"session {columns[0]}",
            )
        )
    return found


def run_line(
    artefact: Artefact,
    command: str,
    world: World,
    *,
    env: dict[str, Variable],
    user: str | None,
    cwd: str | None,
    detail: str,
) -> list[Sighting]:
    """Follow one line of shell that something else runs."""
    home = home_of_path(artefact.path) or (("/root" if user == "root" else f"/home/{user}") if user else None)
    evidence = Evidence(kind=artefact.kind, path=artefact.path, detail=detail, seen_at=artefact.changed_at)
    where = f"{artefact.kind} {artefact.path} {detail}"
    scope = Scope(variables=dict(env), user=user, home=home, cwd=cwd)
    shell = Interpreter(world, scope, where=where, surroundings=Surroundings(evidence=(evidence,)))
    call = Call(argv=("sh", "-c", clean(command)), env=env, cwd=cwd, home=home)
    with contextlib.suppress(Leave):
        shell.dispatch(call)
    return shell.launches
