"""What is known of a process by its pid, from /proc, on any Linux."""

import re
from dataclasses import dataclass

#: sh function: `describe PID` prints one paragraph about a process, or nothing where it cannot be seen
DESCRIBE_SH = r"""
describe() {
  [ -d "/proc/$1" ] || return 0
  printf 'pid %s\n' "$1"
  printf 'owner %s\n' "$(stat -c %U "/proc/$1" 2>/dev/null)"
  age=$(ps -o etimes= -p "$1" 2>/dev/null | tr -d ' ')
  [ -n "$age" ] || age=$(($(date +%s) - $(stat -c %Y "/proc/$1" 2>/dev/null || date +%s)))
  printf 'age %s\n' "$age"
  printf 'command %s\n' "$(tr '\000\n' '  ' <"/proc/$1/cmdline" 2>/dev/null | head -c 2000)"
  parent=$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$1/status" 2>/dev/null)
  printf 'parent %s %s\n' "$parent" "$(tr '\000\n' '  ' <"/proc/${parent:-0}/cmdline" 2>/dev/null | head -c 2000)"
  sed 's/^/cgroup /' "/proc/$1/cgroup" 2>/dev/null
  printf '\n'
}
"""

_UNIT = re.compile(r"/([^/]+\.service)(?:/|$)")
#: docker, podman, containerd and Kubernetes name cgroups by 64 hex digits
_CONTAINER = re.compile(
    r"(?:docker|libpod|cri-containerd|crio|containerd)[-/:]([0-9a-f]{12})[0-9a-f]*|/([0-9a-f]{12})[0-9a-f]{52}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One process; None where it may not be seen."""

    pid: int
    owner: str | None = None
    age_s: int | None = None
    command: str | None = None
    parent_pid: int | None = None
    parent_command: str | None = None
    #: systemd unit ("relaunch-qwen.service"), by its cgroup
    unit: str | None = None
    #: first 12 digits of the container's id, by its cgroup
    container: str | None = None


#: processes of docker and podman that hold a container's published port
_FORWARDERS = frozenset(("docker-proxy", "conmon", "rootlessport", "slirp4netns", "pasta", "pasta.avx2"))


def is_forwarder(process: Process) -> bool:
    """Whether a process only holds a port for a container."""
    return (process.command or "").split(" ", 1)[0].rsplit("/", 1)[-1] in _FORWARDERS


def parse_processes(text: str) -> dict[int, Process]:
    """Paragraphs of `describe`, by pid."""
    found = {}
    for paragraph in re.split(r"\n\s*\n", text):
        values: dict[str, str] = {}
        groups = []
        for line in paragraph.strip().splitlines():
            name, _, value = line.partition(" ")
            if name == "cgroup":
                groups.append(value)
            else:
                values[name] = value.strip()
        if values.get("pid", "").isdigit():
            found[int(values["pid"])] = _process(values, groups)
    return found


def _process(values: dict[str, str], groups: list[str]) -> Process:
    parent, _, parent_command = values.get("parent", "").partition(" ")
    container = next((match for group in groups if (match := _CONTAINER.search(group))), None)
    units = [named[-1] for group in groups if (named := _UNIT.findall(group))]
    return Process(
        pid=int(values["pid"]),
        owner=values.get("owner") or None,
        age_s=int(values["age"]) if values.get("age", "").isdigit() else None,
        command=values.get("command") or None,
        parent_pid=int(parent) if parent.isdigit() else None,
        parent_command=parent_command.strip() or None,
        unit=units[0] if units else None,
        container=(container[1] or container[2]) if container else None,
    )
