"""Operating system, and what this login may do: the choice of a runner rests on it."""

from dataclasses import dataclass

from bot.core.domain.reading import Known, Reading, Unknown
from bot.core.facts._fact import Fact, ProbeTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One machine as this login sees it."""

    name: str
    kernel: str
    machine: str
    hostname: str
    user: str
    root: bool
    #: `sudo -n` works without a password
    sudo: bool
    #: systemd runs as pid 1
    systemd: bool
    #: a systemd manager of this user runs, and stays after log-out (lingering)
    user_manager: bool
    lingers: bool
    #: "docker", "podman", "lxc" …; None: not in a container
    container: str | None


def snippet(target: ProbeTarget) -> str:
    """`sudo -n -v` asks for nothing and runs nothing."""
    return r"""
( . /etc/os-release 2>/dev/null; printf 'name %s\n' "${PRETTY_NAME:-Linux}" )
printf 'kernel %s\n' "$(uname -r)"; printf 'machine %s\n' "$(uname -m)"; printf 'hostname %s\n' "$(uname -n)"
printf 'user %s\n' "$(id -un)"; printf 'uid %s\n' "$(id -u)"
sudo -n -v >/dev/null 2>&1 && printf 'sudo yes\n'
[ -d /run/systemd/system ] && printf 'systemd yes\n'
export XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-/run/user/$(id -u)}"
[ -S "$XDG_RUNTIME_DIR/systemd/private" ] && systemctl --user show --property=Version >/dev/null 2>&1 &&
  printf 'user_manager yes\n'
[ -e "/var/lib/systemd/linger/$(id -un)" ] && printf 'lingers yes\n'
if [ -e /.dockerenv ]; then printf 'container docker\n'
elif [ -e /run/.containerenv ]; then printf 'container podman\n'
else kind=$(systemd-detect-virt --container 2>/dev/null) && printf 'container %s\n' "$kind"; fi
exit 0
"""


def parse(output: str) -> Reading[System]:
    values = dict(line.split(" ", 1) for line in output.splitlines() if " " in line)
    if "uid" not in values or "kernel" not in values:
        return Unknown("neither id nor uname answered")
    return Known(
        System(
            name=values.get("name", "Linux"),
            kernel=values["kernel"],
            machine=values.get("machine", ""),
            hostname=values.get("hostname", ""),
            user=values.get("user", ""),
            root=values["uid"] == "0",
            sudo="sudo" in values,
            systemd="systemd" in values,
            user_manager="user_manager" in values,
            lingers="lingers" in values,
            container=values.get("container"),
        )
    )


FACT: Fact[System] = Fact(name="system", snippet=snippet, parse=parse)
