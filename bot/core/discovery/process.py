"""Running processes (/proc records, `ps` output) to sightings."""

import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.core.discovery.artefact import Artefact
from bot.core.discovery.launch_call import Call, ContainerRun, Evidence, Sighting
from bot.core.discovery.shell_run import Interpreter
from bot.core.discovery.shell_state import Leave, Scope, Variable, basename, clean
from bot.core.discovery.shell_world import Surroundings, World

#: variables of the login, the service manager and the terminal: not what the launch sets
_SESSION = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|PWD|OLDPWD|SHLVL|_|TERM|TERM_PROGRAM.*|COLORTERM|LANG|LANGUAGE|LC_.*|TZ|MAIL|HOSTNAME"
    r"|INVOCATION_ID|JOURNAL_STREAM|SYSTEMD_EXEC_PID|MEMORY_PRESSURE_.*|NOTIFY_SOCKET|MAINPID|MANAGERPID|WATCHDOG_.*"
    r"|LISTEN_.*|CREDENTIALS_DIRECTORY|RUNTIME_DIRECTORY|STATE_DIRECTORY|CACHE_DIRECTORY|LOGS_DIRECTORY"
    r"|CONFIGURATION_DIRECTORY|EXIT_CODE|EXIT_STATUS|SERVICE_RESULT|XDG_.*|DBUS_.*|SSH_.*|SUDO_.*|DISPLAY|WAYLAND_.*"
    r"|XAUTHORITY|LS_COLORS|LESS.*|PAGER|EDITOR|VISUAL|HIST.*|TMUX.*|STY|WINDOW|MOTD_.*|PS[1-4]|PROMPT.*|DEBUGINFOD_URLS"
    r"|VIRTUAL_ENV.*|CONDA_.*|_CE_.*|GSETTINGS_.*|GTK_.*|QT_.*|DESKTOP_.*|GDM.*|VSCODE_.*|GIT_ASKPASS|BROWSER|which_declare"
    r"|BASH_FUNC_.*|UV|UV_RUN_.*|PYTHON_.*_VERSION|MODULES.*|LMOD_.*|LOADEDMODULES|_LMFILES_|FPATH|MANPATH|INFOPATH"
)
#: services that start what is not theirs: their name in a cgroup says nothing
_CARRIERS = re.compile(
    r"(user@\d+|user-runtime-dir@.*|cron|crond|atd|ssh|sshd|ssh@.*|sshd@.*|docker|containerd|podman|supervisor|supervisord"
    r"|slurmd|slurmstepd.*|tmux.*|screen.*|getty@.*|gdm.*|session-.*|code-server.*|jupyter.*|vscode.*|anacron|rc-local"
    r"|dbus.*|kubelet)\.service"
)
#: the start time of `ps -o lstart`: five words in one column
_LONG_TIME = re.compile(r"\b[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}\b")
_PS_ROW_LIMIT = 20_000


def sight_processes(artefacts: Sequence[Artefact], world: World) -> list[Sighting]:
    """One sighting a server: helpers and wrappers belong to the process that they started or come from."""
    processes = {one.pid: one for one in artefacts if one.pid is not None}
    sightings: dict[int, Sighting] = {}
    for artefact in artefacts:
        sighting = _sight(artefact, world)
        if sighting is not None and artefact.pid is not None:
            sightings[artefact.pid] = sighting
    return _folded(sightings, processes)


def unit_of_cgroup(cgroup: str | None) -> str | None:
    """The service that a process belongs to, where that service started it."""
    for line in (cgroup or "").splitlines():
        parts = [part for part in line.rpartition(":")[2].split("/") if part]
        for part in reversed(parts):
            if part.endswith(".scope"):
                break
            if part.endswith(".service"):
                name = re.sub(r"\\x([0-9a-f]{2})", lambda match: chr(int(match[1], 16)), part)
                return None if _CARRIERS.fullmatch(name) else name
    return None


def container_of_cgroup(cgroup: str | None) -> str | None:
    """Id of the container that a process runs in."""
    match = re.search(r"(?:docker|libpod|cri-containerd|crio|nerdctl)[-/](?:[^/\n]*-)?([0-9a-f]{12,64})", cgroup or "")
    return match[1] if match else None


def _sight(artefact: Artefact, world: World) -> Sighting | None:
    if not artefact.cmdline:
        return None
    where = f"process {artefact.pid}"
    env = {
        name: Variable(clean(value), True, f"{where}, environ {name}")
        for name, value in artefact.environ.items()
        if not _SESSION.fullmatch(name)
    }
    inside = container_of_cgroup(artefact.cgroup)
    unit = unit_of_cgroup(artefact.cgroup)
    container = ContainerRun(id=inside, host_network=True) if inside else None
    evidence = Evidence(
        kind=artefact.kind, path=artefact.path, detail=f"process {artefact.pid}", seen_at=artefact.changed_at
    )
    around = Surroundings(
        runner="docker" if inside else "process", unit=unit, container=container, evidence=(evidence,)
    )
    scope = Scope(variables=env, cwd=artefact.cwd, user=artefact.user)
    shell = Interpreter(world, scope, where=f"process {artefact.pid}", surroundings=around)
    argv = _without_padding(artefact.cmdline)
    call = Call(argv=tuple(map(clean, argv)), env=env, cwd=artefact.cwd, venv=artefact.environ.get("VIRTUAL_ENV"))
    if basename(argv[0]).lstrip("-") in ("sh", "bash", "zsh", "dash", "fish", "tmux", "screen", "login", "sshd", "ssh"):
        return None
    with contextlib.suppress(Leave):
        shell.dispatch(call)
    if not shell.launches:
        return None
    return replace(
        shell.launches[0],
        running=True,
        pid=artefact.pid,
        cgroup=artefact.cgroup,
        user=artefact.user,
        cwd=artefact.cwd if artefact.kind == "proc" else None,
        whole_environment=bool(artefact.environ),
        may_have_failed=False,
    )


def _without_padding(cmdline: Sequence[str]) -> list[str]:
    """A process that renamed itself leaves blanks and empty words behind its name."""
    words = list(cmdline)
    while len(words) > 1 and words[-1] == "" and all(word == "" for word in words[1:]):
        words.pop()
    return words


def _folded(sightings: Mapping[int, Sighting], processes: Mapping[int, Artefact]) -> list[Sighting]:
    """Of processes above each other the server proper: a wrapper (sudo, uv run, docker run) gives its wrappers to the
    server below it; a worker that still shows the server's command line goes."""
    kept = dict(sightings)
    for pid in sightings:
        above = _ancestor(pid, sightings, processes)
        if above is None or pid not in kept or above not in kept:
            continue
        parent, child = kept[above], kept[pid]
        if parent.wrappers and not child.wrappers:
            kept[pid] = replace(child, wrappers=parent.wrappers)
            del kept[above]
        elif (parent.argv[-len(child.argv) :] == child.argv and parent.argv != child.argv) or _calls_on(
            processes[above]
        ):
            del kept[above]
        else:
            del kept[pid]
    return list(kept.values())


def _calls_on(process: Artefact) -> bool:
    return basename(process.cmdline[0]) in (
        "sudo",
        "su",
        "runuser",
        "doas",
        "docker",
        "podman",
        "nohup",
        "setsid",
        "env",
    )


def _ancestor(pid: int, sightings: Mapping[int, Sighting], processes: Mapping[int, Artefact]) -> int | None:
    seen = {pid}
    current = processes[pid].ppid if pid in processes else None
    while current is not None and current in processes and current not in seen:
        if current in sightings:
            return current
        seen.add(current)
        current = processes[current].ppid
    return None


def read_ps(artefact: Artefact) -> list[Artefact]:
    """The processes of a `ps` output with a header. Words are what blanks separate: ps does not show quotes."""
    lines = artefact.text.splitlines()
    header: list[str] = []
    found: list[Artefact] = []
    if not any("PID" in line.split() for line in lines[:50]):
        return _bare_rows(lines[:_PS_ROW_LIMIT], artefact)
    for line in lines[:_PS_ROW_LIMIT]:
        columns = line.split()
        if "PID" in columns and columns[-1] in ("COMMAND", "CMD", "ARGS"):
            header = columns
            continue
        process = _ps_row(line, header, artefact) if header else None
        if process is not None:
            found.append(process)
    return found


def _bare_rows(lines: Sequence[str], artefact: Artefact) -> list[Artefact]:
    """Rows of `pgrep -a` and the like: a pid and a command line."""
    rows = [match for line in lines if (match := re.match(r"\s*(\d+)\s+(\S.*)$", line))]
    return [
        Artefact(
            path=artefact.path,
            kind="ps",
            user=artefact.user,
            pid=int(match[1]),
            cmdline=tuple(_rejoined(match[2].split())),
            changed_at=artefact.changed_at,
        )
        for match in rows
    ]


def _ps_row(line: str, header: Sequence[str], artefact: Artefact) -> Artefact | None:
    line = _LONG_TIME.sub(lambda match: "_".join(match[0].split()), line, count=1)
    columns = line.split(None, len(header) - 1)
    if len(columns) < len(header):
        return None
    row = dict(zip(header, columns, strict=True))
    if not row["PID"].isdigit():
        return None
    command = re.sub(r"^(?:[|`\s]*\\?_\s+|[│├└─┬\s]+)", "", row[header[-1]])
    user = row.get("USER") or row.get("UID") or row.get("EUSER") or row.get("RUSER")
    parent = row.get("PPID", "")
    return Artefact(
        path=artefact.path,
        kind="ps",
        user=user,
        pid=int(row["PID"]),
        ppid=int(parent) if parent.isdigit() else None,
        cmdline=tuple(_rejoined(command.split())),
        changed_at=artefact.changed_at,
    )


def _rejoined(words: Sequence[str]) -> list[str]:
    """JSON that blanks cut into words made whole again."""
    out: list[str] = []
    depth = 0
    for word in words:
        opening = depth > 0 or word[:1] in "{["
        if depth > 0:
            out[-1] += " " + word
        else:
            out.append(word)
        if opening:
            depth = max(depth + sum(map(word.count, "{[")) - sum(map(word.count, "}]")), 0)
    return out
