"""systemctl of a practice host: the system's manager may be looked at, the user's manager may be used."""

import contextlib
import fnmatch
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from . import journal, unit_file
from .supervisor import state_path
from .view import JsonObject, alive, complain, processes, read_json, root, write_json

_VERSION = "252 (252.39-1~deb12u1)"
_VALUES = {"-p": "--property", "-t": "--type", "-s": "--signal", "-n": "--lines", "-o": "--output"}
_WITH_VALUE = {
    "--property",
    "--type",
    "--state",
    "--signal",
    "--lines",
    "--output",
    "--kill-whom",
    "--kill-who",
    "--job-mode",
    "--timestamp",
    "--what",
}
_DENIED = "Failed to {} {}: Interactive authentication required."
_STATES_RUNNING = ("active", "activating", "deactivating", "reloading")
_START_S = 20.0
_STOP_S = 120.0


@dataclass
class Asked:
    """What was asked for."""

    verb: str = ""
    names: list[str] = field(default_factory=list)
    scope: str = "system"
    options: dict[str, str] = field(default_factory=dict)
    properties: list[str] = field(default_factory=list)

    def has(self, *names: str) -> bool:
        """Whether one of these options was given."""
        return any(n in self.options for n in names)


def main(arguments: list[str]) -> int:
    """Run with these arguments."""
    asked = _read(list(arguments))
    if asked.has("--version"):
        print(f"systemd {_VERSION}")
        return 0
    verbs: dict[str, Callable[[Asked], int]] = {
        "daemon-reload": _reload,
        "start": _start,
        "restart": _restart,
        "try-restart": _restart,
        "stop": _stop,
        "kill": _kill,
        "enable": _enable,
        "disable": _disable,
        "is-active": _is_active,
        "is-failed": _is_failed,
        "is-enabled": _is_enabled,
        "show": _show,
        "status": _status,
        "cat": _cat,
        "list-units": _list_units,
        "list-unit-files": _list_unit_files,
        "reset-failed": _reset_failed,
        "is-system-running": _is_system_running,
        "show-environment": _show_environment,
        "set-environment": lambda _: 0,
        "import-environment": lambda _: 0,
        "unset-environment": lambda _: 0,
    }
    verb = asked.verb or "list-units"
    if verb not in verbs:
        return complain(f"Unknown command verb {verb}.", 1)
    return verbs[verb](asked)


def _read(words: list[str]) -> Asked:
    asked = Asked()
    while words:
        word = words.pop(0)
        if word == "--":
            continue
        if not word.startswith("-"):
            if asked.verb:
                asked.names.append(word)
            else:
                asked.verb = word
            continue
        name, equals, value = word.partition("=")
        if not word.startswith("--") and word[:2] in _VALUES:
            name, value, equals = _VALUES[word[:2]], word[2:].lstrip("="), "=" if word[2:] else ""
        if name in _WITH_VALUE and not equals and words:
            value = words.pop(0)
        if name == "--user":
            asked.scope = "user"
        elif name == "--system":
            asked.scope = "system"
        elif name == "--property":
            asked.properties += value.split(",")
        elif name == "-P":
            asked.properties += (value or words.pop(0)).split(",")
            asked.options["--value"] = ""
        else:
            asked.options[name] = value
    return asked


def _full(name: str) -> str:
    return name if "." in name.rpartition("/")[2] else name + ".service"


def _state(scope: str, name: str) -> JsonObject:
    state = read_json(state_path(scope, name)) or {}
    if state.get("ActiveState") in _STATES_RUNNING and not alive(int(state.get("Supervisor", 0))):
        state |= {"ActiveState": "failed", "SubState": "failed", "MainPID": 0, "Result": "signal"}
    return state


def _denied(asked: Asked, action: str) -> int | None:
    if asked.scope == "user":
        return None
    for name in asked.names:
        print(_DENIED.format(action, _full(name)), file=sys.stderr)
    print("See system logs and 'systemctl status' for details.", file=sys.stderr)
    return 1


# --- acting


def _reload(asked: Asked) -> int:
    return 0 if asked.scope == "user" else complain("Failed to reload daemon: Interactive authentication required.", 1)


def _start(asked: Asked) -> int:
    denied = _denied(asked, "start")
    return denied if denied is not None else max((_start_one(asked, _full(n)) for n in asked.names), default=0)


def _start_one(asked: Asked, name: str) -> int:
    if _state(asked.scope, name).get("ActiveState") in ("active", "activating"):
        return 0
    unit = unit_file.load(asked.scope, name)
    if unit is None:
        return complain(f"Failed to start {name}: Unit {name} not found.", 5)
    if not unit.last("ExecStart"):
        return complain(f"Failed to start {name}: Unit {name} has a bad unit file setting.", 1)
    state_path(asked.scope, name).unlink(missing_ok=True)
    program = str(Path(sys.argv[0]).absolute().with_name("practice-supervisor"))
    subprocess.Popen(
        [program, asked.scope, name],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
    )
    if asked.has("--no-block"):
        return 0
    until = time.monotonic() + _START_S
    while time.monotonic() < until:
        state = read_json(state_path(asked.scope, name)) or {}
        failed = state.get("ActiveState") == "failed" and state.get("ExecMainStatus") in (200, 203)
        if failed and unit.last("Type", "simple") in ("exec", "notify", "oneshot"):
            user = " --user" if asked.scope == "user" else ""
            text = f"Job for {name} failed because the control process exited with error code.\n"
            text += f'See "systemctl{user} status {name}" and "journalctl{user} -xeu {name}" for details.'
            return complain(text, 1)
        if unit.last("Type") == "oneshot" and state.get("ActiveState") in ("inactive", "failed"):
            return 0 if state["ActiveState"] == "inactive" else 1
        if unit.last("Type") != "oneshot" and state.get("ActiveState") in ("active", "failed", "inactive"):
            return 0
        time.sleep(0.02)
    return complain(f"Job for {name} timed out.", 1)


def _stop(asked: Asked) -> int:
    denied = _denied(asked, "stop")
    return denied if denied is not None else max((_stop_one(asked, _full(n)) for n in asked.names), default=0)


def _stop_one(asked: Asked, name: str) -> int:
    state = _state(asked.scope, name)
    if unit_file.load(asked.scope, name) is None and not state:
        return complain(f"Failed to stop {name}: Unit {name} not loaded.", 5)
    if state.get("ActiveState") not in _STATES_RUNNING:
        return 0
    with contextlib.suppress(ProcessLookupError):
        os.kill(state["Supervisor"], signal.SIGTERM)
    if asked.has("--no-block"):
        return 0
    until = time.monotonic() + _STOP_S
    while _state(asked.scope, name).get("ActiveState") in _STATES_RUNNING and time.monotonic() < until:
        time.sleep(0.03)
    return 0


def _restart(asked: Asked) -> int:
    return _stop(asked) or _start(asked)


def _kill(asked: Asked) -> int:
    denied = _denied(asked, "kill unit")
    if denied is not None:
        return denied
    text = asked.options.get("--signal", "SIGTERM")
    number = int(text) if text.isdigit() else signal.Signals["SIG" + text.removeprefix("SIG")]
    whom = asked.options.get("--kill-whom") or asked.options.get("--kill-who") or "all"
    for name in map(_full, asked.names):
        state = _state(asked.scope, name)
        if not state.get("MainPID"):
            return complain(f"Failed to kill unit {name}: Unit {name} not loaded.", 1)
        members = [p for p, v in processes().items() if v.get("INVOCATION_ID") == state.get("InvocationID")]
        for pid in [state["MainPID"]] if whom == "main" else members:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
    return 0


def _enable(asked: Asked) -> int:
    return _link(asked, "enable", True)


def _disable(asked: Asked) -> int:
    return _link(asked, "disable", False)


def _link(asked: Asked, action: str, on: bool) -> int:
    denied = _denied(asked, f"{action} unit")
    if denied is not None:
        return denied
    for name in map(_full, asked.names):
        unit = unit_file.load(asked.scope, name)
        if unit is None:
            return complain(f"Failed to {action} unit: Unit file {name} does not exist.", 1)
        mark = root() / "units" / f"{asked.scope}-{name}.enabled"
        if on:
            mark.touch()
        else:
            mark.unlink(missing_ok=True)
    if asked.has("--now"):
        return _start(asked) if on else _stop(asked)
    return 0


def _reset_failed(asked: Asked) -> int:
    names = [_full(n) for n in asked.names] or unit_file.names(asked.scope)
    for name in names:
        state = _state(asked.scope, name)
        if state.get("ActiveState") == "failed":
            write_json(
                state_path(asked.scope, name),
                state | {"ActiveState": "inactive", "SubState": "dead", "Result": "success"},
            )
        elif not state and asked.names:
            return complain(f"Failed to reset failed state of unit {name}: Unit {name} not loaded.", 1)
    return 0


# --- looking


def _is_active(asked: Asked) -> int:
    states = [str(_state(asked.scope, _full(n)).get("ActiveState", "inactive")) for n in asked.names]
    if not asked.has("-q", "--quiet"):
        print("\n".join(states))
    return 0 if "active" in states else 3


def _is_failed(asked: Asked) -> int:
    states = [str(_state(asked.scope, _full(n)).get("ActiveState", "inactive")) for n in asked.names]
    if not asked.has("-q", "--quiet"):
        print("\n".join(states))
    return 0 if "failed" in states else 1


def _is_enabled(asked: Asked) -> int:
    status = 1
    for name in map(_full, asked.names):
        if unit_file.load(asked.scope, name) is None:
            print(f"Failed to get unit file state for {name}: No such file or directory", file=sys.stderr)
            continue
        on = (root() / "units" / f"{asked.scope}-{name}.enabled").exists()
        print("enabled" if on else "static")
        status = 0 if on else status
    return status


def _is_system_running(_asked: Asked) -> int:
    print("running")
    return 0


def _show_environment(_asked: Asked) -> int:
    for name in ("HOME", "LANG", "PATH", "XDG_RUNTIME_DIR"):
        if name in os.environ:
            print(f"{name}={os.environ[name]}")
    return 0


def _when(micro: int) -> str:
    return time.strftime("%a %Y-%m-%d %H:%M:%S %Z", time.localtime(micro / 1e6)) if micro else ""


def properties(scope: str, name: str) -> dict[str, str]:
    """What `show` tells of a unit."""
    unit = unit_file.load(scope, name)
    state = _state(scope, name)
    words = state.get("ExecStart") or (
        unit_file.split(unit_file.specifiers(unit.last("ExecStart"), name)) if unit else []
    )
    shown = {
        "Type": unit.last("Type", "simple") if unit else "",
        "Restart": unit.last("Restart", "no") if unit else "no",
        "MainPID": str(state.get("MainPID", 0)),
        "ExecMainPID": str(state.get("ExecMainPID", 0)),
        "ExecMainCode": str(state.get("ExecMainCode", 0)),
        "ExecMainStatus": str(state.get("ExecMainStatus", 0)),
        "Result": str(state.get("Result", "success")),
        "NRestarts": str(state.get("NRestarts", 0)),
        "User": unit.last("User") if unit else "",
        "WorkingDirectory": unit.last("WorkingDirectory") if unit else "",
        "Environment": " ".join(unit.all("Environment")) if unit else "",
        "EnvironmentFiles": " ".join(f"{f} (ignore_errors=no)" for f in unit.all("EnvironmentFile")) if unit else "",
        "TimeoutStopUSec": unit.last("TimeoutStopSec", "1min 30s") if unit else "1min 30s",
        "KillMode": unit.last("KillMode", "control-group") if unit else "control-group",
        "InvocationID": str(state.get("InvocationID", "")),
        "ControlGroup": f"/user.slice/user-1000.slice/user@1000.service/app.slice/{name}"
        if state.get("MainPID")
        else "",
        "Id": name,
        "Names": name,
        "Description": unit.last("Description", name, "Unit") if unit else name,
        "LoadState": "loaded" if unit else "not-found",
        "ActiveState": str(state.get("ActiveState", "inactive")),
        "SubState": str(state.get("SubState", "dead")),
        "FragmentPath": str(unit.path) if unit else "",
        "DropInPaths": " ".join(map(str, unit.dropins)) if unit else "",
        "UnitFileState": "static" if unit else "",
        "StatusErrno": "0",
    }
    if words:
        text = " ".join(words)
        started = "start_time=[n/a] ; stop_time=[n/a]"
        shown["ExecStart"] = (
            f"{{ path={words[0]} ; argv[]={text} ; ignore_errors=no ; {started} ; "
            f"pid={shown['MainPID']} ; code=(null) ; status=0/0 }}"
        )
    for key in ("ExecMainStartTimestamp", "ExecMainExitTimestamp", "ActiveEnterTimestamp", "InactiveEnterTimestamp"):
        micro = int(state.get(key, 0))
        shown[key] = _when(micro)
        shown[key + "Monotonic"] = str(micro % 10**12)
    return shown


def _show(asked: Asked) -> int:
    if not asked.names:
        rows = {"Version": _VERSION.partition(" ")[2].strip("()"), "SystemState": "running", "Architecture": "x86-64"}
        _print_properties(asked, rows)
        return 0
    names: list[str] = []
    for name in asked.names:
        names += fnmatch.filter(unit_file.names(asked.scope), name) if any(c in name for c in "*?[") else [_full(name)]
    for number, name in enumerate(names):
        if number:
            print()
        _print_properties(asked, properties(asked.scope, name))
    return 0


def _print_properties(asked: Asked, rows: dict[str, str]) -> None:
    wanted = asked.properties or list(rows)
    for name in rows:
        if name in wanted:
            print(rows[name] if asked.has("--value") else f"{name}={rows[name]}")


def _status(asked: Asked) -> int:
    status = 0
    for name in map(_full, asked.names):
        rows = properties(asked.scope, name)
        if rows["LoadState"] == "not-found" and rows["ActiveState"] == "inactive":
            return complain(f"Unit {name} could not be found.", 4)
        dot = {"active": "●", "failed": "×"}.get(rows["ActiveState"], "○")
        print(f"{dot} {name} - {rows['Description']}")
        print(f"     Loaded: {rows['LoadState']} ({rows['FragmentPath']}; {rows['UnitFileState']})")
        since = rows["ActiveEnterTimestamp" if rows["ActiveState"] == "active" else "InactiveEnterTimestamp"]
        result = f" (Result: {rows['Result']})" if rows["ActiveState"] == "failed" else f" ({rows['SubState']})"
        print(f"     Active: {rows['ActiveState']}{result}{' since ' + since if since else ''}")
        if rows["MainPID"] != "0":
            print(f"   Main PID: {rows['MainPID']}")
        print()
        lines = int(asked.options.get("--lines") or 10)
        keys = ("_SYSTEMD_USER_UNIT", "USER_UNIT", "_SYSTEMD_UNIT", "UNIT")
        own = [e for e, _ in journal.entries(asked.scope) if any(e.fields.get(k) == name for k in keys)]
        for entry in own[-lines:] if lines else []:
            at = time.strftime("%b %d %H:%M:%S", time.localtime(entry.at_us / 1e6))
            who = f"{entry.fields.get('SYSLOG_IDENTIFIER')}[{entry.fields.get('_PID')}]"
            print(f"{at} {entry.as_json()['_HOSTNAME']} {who}: {entry.printable() or '[blob data]'}")
        status = max(status, 0 if rows["ActiveState"] == "active" else 3)
    return status


def _cat(asked: Asked) -> int:
    for name in map(_full, asked.names):
        unit = unit_file.load(asked.scope, name)
        if unit is None:
            return complain(f"No files found for {name}.", 1)
        for path in [unit.path, *unit.dropins]:
            print(f"# {path}\n{path.read_text(encoding='utf-8')}")
    return 0


def _list_units(asked: Asked) -> int:
    known = set(unit_file.names(asked.scope)) | {
        p.name.partition("-")[2].removesuffix(".json") for p in (root() / "units").glob(f"{asked.scope}-*.json")
    }
    states = asked.options.get("--state", "").split(",") if asked.options.get("--state") else []
    shown = 0
    if not asked.has("--no-legend", "--plain", "-q", "--quiet"):
        print("  UNIT LOAD ACTIVE SUB DESCRIPTION")
    for name in sorted(known):
        rows = properties(asked.scope, name)
        if asked.names and not any(fnmatch.fnmatch(name, p) for p in asked.names):
            continue
        if states and not {rows["ActiveState"], rows["SubState"]} & set(states):
            continue
        if rows["ActiveState"] == "inactive" and not asked.has("-a", "--all") and not states:
            continue
        lead = "" if asked.has("--plain") else "● " if rows["ActiveState"] == "failed" else "  "
        print(f"{lead}{name} {rows['LoadState']} {rows['ActiveState']} {rows['SubState']} {rows['Description']}")
        shown += 1
    if not asked.has("--no-legend", "--plain", "-q", "--quiet"):
        print(f"\n{shown} loaded units listed.")
    return 0


def _list_unit_files(asked: Asked) -> int:
    for name in unit_file.names(asked.scope):
        if not asked.names or any(fnmatch.fnmatch(name, p) for p in asked.names):
            print(f"{name} static -")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
