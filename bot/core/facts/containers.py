"""Containers of docker and podman, whether this account may use either, and the image of a launch. Their commands are
not printed: they may hold secrets. podman shows each account its own containers; root's are asked for through sudo."""

import json
from dataclasses import dataclass
from typing import Any

from bot.core.domain.container import OPERATION_LABEL
from bot.core.domain.reading import Known, Reading
from bot.core.domain.shell import quote
from bot.core.facts._fact import Fact, ProbeTarget
from bot.core.facts._processes import DESCRIBE_SH, Process, parse_processes

#: those looked at, running ones first
_MOST = 100
_FORMAT = (
    r"{{json .ID}} {{json .Name}} {{json .State.Status}} {{json .State.Pid}} {{json .Config.Image}} "
    rf'{{{{json (index .Config.Labels "{OPERATION_LABEL}")}}}} {{{{json .HostConfig.PortBindings}}}}'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """One container, running or not."""

    name: str
    id: str
    tool: str
    #: "running", "exited", "created" …
    state: str
    image: str = ""
    #: main process, as the host numbers it
    pid: int | None = None
    #: id of the operation that started it, where it is ours
    operation: str | None = None
    #: published ports of the host
    ports: tuple[int, ...] = ()
    #: the main process; None where it may not be seen
    process: Process | None = None

    @property
    def running(self) -> bool:
        """Whether it runs now."""
        return self.state in ("running", "paused", "restarting")

    @property
    def short_id(self) -> str:
        """As processes name their container."""
        return self.id[:12]


@dataclass(frozen=True, slots=True, kw_only=True)
class Containers:
    """What docker and podman show this account, with sudo where that is allowed."""

    boxes: tuple[Box, ...] = ()
    #: tools that answered -> ""; that are installed and did not -> why
    tools: dict[str, str]
    #: tool -> "sha256:…" of the launch's image, where it has it
    images: dict[str, str]


def snippet(target: ProbeTarget) -> str:
    image = quote(target.image or "")
    return (
        DESCRIBE_SH
        + rf"""
image={image}
ask() {{ $way "$tool" "$@"; }}
for tool in docker podman; do
  command -v "$tool" >/dev/null 2>&1 || continue
  answered=no why=
  for way in '' 'sudo -n'; do
    [ -z "$way" ] || [ "$(id -u)" != 0 ] || continue
    [ "$tool $answered" != 'docker yes' ] || continue
    if ids=$(timeout 8 $way "$tool" ps -aq --no-trunc 2>&1); then
      ids=$(printf '%s\n' "$ids" | head -n {_MOST})
      # one that was removed meanwhile leaves the others
      rows=$([ -z "$ids" ] || ask inspect --type container --format {quote(_FORMAT)} $ids 2>&1)
      printf '%s\n' "$rows" | sed -n "s/^\"/box $tool &/p"
      if [ -n "$rows" ] && ! printf '%s\n' "$rows" | grep -q '^"'; then
        why=$(printf '%s' "$rows" | tr '\n' ' ' | cut -c 1-300)
        continue
      fi
      answered=yes
      [ -z "$image" ] || id=$(ask image inspect --format '{{{{.Id}}}}' "$image" 2>/dev/null) && [ -n "$image" ] &&
        printf 'image %s %s\n' "$tool" "$id"
      pids="$pids $([ -z "$ids" ] || ask inspect --type container --format '{{{{.State.Pid}}}}' $ids 2>/dev/null)"
    else
      [ -n "$why" ] || why=$(printf '%s' "$ids" | tr '\n' ' ' | cut -c 1-300)
    fi
  done
  printf 'tool %s %s %s\n' "$tool" "$answered" "$why"
done
printf '%s\n' ---
for pid in $pids; do [ "$pid" -le 0 ] || describe "$pid"; done
exit 0
"""
    )


def parse(output: str) -> Reading[Containers]:
    rows, _, described = output.partition("---\n")
    processes = parse_processes(described)
    boxes: dict[str, Box] = {}
    tools: dict[str, str] = {}
    images: dict[str, str] = {}
    for line in rows.splitlines():
        kind, _, rest = line.partition(" ")
        tool, _, value = rest.partition(" ")
        if kind == "tool":
            answered, _, why = value.partition(" ")
            tools[tool] = "" if answered == "yes" else why or "it gives no answer"
        elif kind == "image":
            images.setdefault(tool, f"sha256:{value.removeprefix('sha256:')}")
        elif kind == "box" and (box := _box(tool, value, processes)):
            boxes.setdefault(box.id, box)
    return Known(Containers(boxes=tuple(boxes.values()), tools=tools, images=images))


def _box(tool: str, text: str, processes: dict[int, Process]) -> Box | None:
    """Seven JSON values in a row."""
    decoder, values, place = json.JSONDecoder(), [], 0
    try:
        while place < len(text):
            value, place = decoder.raw_decode(text, place)
            values.append(value)
            place += 1
    except ValueError:
        return None
    if len(values) != 7:
        return None
    identity, name, state, pid, image, operation, bindings = values
    main = pid if isinstance(pid, int) and pid else None
    return Box(
        name=str(name).lstrip("/"),
        id=str(identity),
        tool=tool,
        state=str(state),
        image=str(image),
        pid=main,
        operation=str(operation) if operation else None,
        ports=_ports(bindings),
        process=processes.get(main) if main else None,
    )


def _ports(bindings: Any) -> tuple[int, ...]:
    places = [place for one in bindings.values() for place in one or ()] if isinstance(bindings, dict) else []
    ports = (str(place.get("HostPort")) for place in places if isinstance(place, dict))
    return tuple(int(port) for port in ports if port.isdigit())


FACT: Fact[Containers] = Fact(name="containers", snippet=snippet, parse=parse, timeout_s=20)
