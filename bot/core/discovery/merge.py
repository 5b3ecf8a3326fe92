"""One candidate out of all sightings of one launch: what belongs together, what wins, what contradicts."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.core.discovery.container_run import host_port
from bot.core.discovery.logs import is_listed_default
from bot.core.discovery.recognise import Launch
from bot.core.discovery.secrets import MARK

Value = str | bool | list[str] | None

#: what says most about a launch comes first: what runs, then what would start it, then traces
_ORDER = (
    "proc",
    "inspect",
    "ps",
    "unit",
    "compose",
    "supervisor",
    "cron",
    "procfile",
    "tmux",
    "script",
    "history",
    "log",
)
_STRONG = 100


@dataclass(slots=True)
class Group:
    """Launches that are one; the first says what counts."""

    members: list[Launch] = field(default_factory=list)

    @property
    def primary(self) -> Launch:
        """The member that wins."""
        return self.members[0]


@dataclass(frozen=True, slots=True)
class Difference:
    """A field on which a member differs from the winner. Values are raw: they may be secrets."""

    name: str
    kept: Value
    other: Value
    member: Launch


def kind_of(launch: Launch) -> str:
    """The kind of artefact that a launch was found in first."""
    evidence = launch.sighting.evidence
    return evidence[0].kind if evidence else "script"


def group_launches(launches: Sequence[Launch]) -> list[Group]:
    """Launches put together, in the order in which the winners were found."""
    latest = _latest_of_histories(launches)
    position = {id(launch): number for number, launch in enumerate(launches)}
    ordered = sorted(latest, key=lambda one: (_rank(one), position[id(one)]))
    groups: list[Group] = []
    for launch in ordered:
        scored = [(_closeness(group, launch), -number, group) for number, group in enumerate(groups)]
        best = max(scored, key=lambda one: one[:2], default=None)
        if best is not None and best[0] > 0:
            best[2].members.append(launch)
        else:
            groups.append(Group([launch]))
    return sorted(groups, key=lambda group: min(position[id(one)] for one in group.members))


def _rank(launch: Launch) -> int:
    kind = kind_of(launch)
    rank = _ORDER.index(kind) if kind in _ORDER else _ORDER.index("script")
    if kind == "inspect" and not launch.sighting.running:
        rank = _ORDER.index("compose")
    return rank


def _latest_of_histories(launches: Sequence[Launch]) -> list[Launch]:
    """Of launches typed (or logged) again with the same engine, model and port only the last counts."""
    last: dict[tuple[str, str, str, str | None], Launch] = {}
    rest: list[Launch] = []
    for launch in launches:
        kind = kind_of(launch)
        if kind not in ("history", "log"):
            rest.append(launch)
            continue
        sighting = launch.sighting
        place = sighting.evidence[0].path if kind == "log" else ""
        key = (kind + place, launch.engine.name, launch.model, outer_port(launch) or str(launch.engine.default_port))
        before = last.get(key)
        if before is None or _later(sighting.seen_at, before.sighting.seen_at):
            last[key] = launch
    return [*rest, *last.values()]


def _later(new: datetime | None, old: datetime | None) -> bool:
    return new is None or old is None or new >= old


def outer_port(launch: Launch) -> str | None:
    """The port on the host, where something states it."""
    return host_port(launch.sighting.container, launch.port, str(launch.engine.default_port))


def _closeness(group: Group, launch: Launch) -> int:
    """0: another launch; more: the surer."""
    return max((_link(member, launch) for member in group.members), default=0) if _may_join(group, launch) else 0


def _may_join(group: Group, launch: Launch) -> bool:
    """Two units, two scripts or two containers are two launches unless they say the same."""
    kind = kind_of(launch)
    for member in group.members:
        a, b = member.sighting, launch.sighting
        if a.unit and b.unit and a.unit != b.unit:
            return False
        if _container_name(member) and _container_name(launch) and _container_name(member) != _container_name(launch):
            return False
        if kind_of(member) == kind and kind in ("proc", "ps") and a.pid != b.pid and a.container != b.container:
            return False
        if (
            kind_of(member) == kind
            and kind not in ("proc", "ps", "log", "history", "inspect")
            and not _same(member, launch)
        ):
            return False
    return True


def _container_name(launch: Launch) -> str | None:
    container = launch.sighting.container
    return container.name if container else None


def _same(a: Launch, b: Launch) -> bool:
    env_a = {name: one.text for name, one in a.sighting.env.items()}
    env_b = {name: one.text for name, one in b.sighting.env.items()}
    return (
        a.model == b.model and dict(a.flags) == dict(b.flags) and env_a == env_b and a.sighting.unit == b.sighting.unit
    )


def _link(a: Launch, b: Launch) -> int:
    if a.engine.name != b.engine.name:
        return 0
    alike = _alike(a, b)
    if _strongly_linked(a, b):
        return _STRONG + alike
    return 1 + alike if _same_identity(a, b) else 0


def _alike(a: Launch, b: Launch) -> int:
    common = sum(1 for name, value in a.flags.items() if b.flags.get(name) == value)
    return common + 20 * (a.model == b.model) + 20 * (a.port == b.port)


def _strongly_linked(a: Launch, b: Launch) -> bool:
    """The same process, service, container or log file."""
    x, y = a.sighting, b.sighting
    if x.pid is not None and x.pid == y.pid:
        return True
    if x.unit and x.unit == y.unit:
        return True
    if x.container and y.container:
        ids = x.container.id, y.container.id
        if all(ids) and (ids[0] or "").startswith((ids[1] or "")[:12]):
            return True
        if x.container.name and x.container.name == y.container.name:
            return True
        if x.container.service and x.container.service == y.container.service:
            return not (x.container.project and y.container.project) or x.container.project == y.container.project
    if kind_of(a) == kind_of(b) == "log":
        # one log may show several servers
        return False
    return bool({*x.logs} & {*y.logs})


def _same_identity(a: Launch, b: Launch) -> bool:
    """Same model, and a port that may be the same: the one on the host, or inside where one side only sees inside."""
    if a.model != b.model:
        return False
    default = str(a.engine.default_port)
    ports = [outer_port(one) or (default if one.sighting.container is None else None) for one in (a, b)]
    if ports[0] is not None and ports[0] == ports[1]:
        return True
    inside = [one.port or default for one in (a, b)]
    one_sided = (a.sighting.container is None) != (b.sighting.container is None)
    live = a.sighting.running or b.sighting.running or "log" in (kind_of(a), kind_of(b))
    return one_sided and live and inside[0] == inside[1]


# differences


def differences(group: Group) -> list[Difference]:
    """Where the members disagree with the winner, each field once."""
    found: dict[str, Difference] = {}
    primary = group.primary
    for member in group.members[1:]:
        for difference in [*_flag_differences(primary, member), *_other_differences(primary, member)]:
            found.setdefault(difference.name, difference)
    return list(found.values())


def _flag_differences(primary: Launch, member: Launch) -> list[Difference]:
    found: list[Difference] = []
    if primary.model != member.model:
        found.append(Difference("model", primary.model, member.model, member))
    if "ps" in (kind_of(primary), kind_of(member)) and _split(primary) == _split(member):
        return found
    for name in sorted({*primary.flags, *member.flags}):
        kept, other = primary.flags.get(name), member.flags.get(name)
        if not same_value(kept, other) and not _only_a_default(name, kept, other, primary, member):
            found.append(Difference(name, kept, other, member))
    return found


def _split(launch: Launch) -> list[str]:
    """Words as ps would show them."""
    return " ".join(launch.argv[len(launch.line.program) :]).split()


def _only_a_default(name: str, kept: Value, other: Value, primary: Launch, member: Launch) -> bool:
    """Whether a flag that one side lacks is no disagreement: a log lists what the engine filled in, or leaves out what
    is the default."""
    for log, seen, given in ((member, other, kept), (primary, kept, other)):
        values = log.sighting.log_values
        if values is None:
            continue
        if given is None:
            return log.sighting.lists_defaults and (name not in values or _printed_default(log, name, seen))
        if seen is None:
            return not log.sighting.lists_defaults or name not in values or same_value(values[name], given)
    return False


def _printed_default(log: Launch, name: str, seen: Value) -> bool:
    """A value that a log shows and nobody gave: the address and what stands for "not set"."""
    return is_listed_default(log.engine.name, name, seen, log.model)


def _other_differences(primary: Launch, member: Launch) -> list[Difference]:
    a, b = primary.sighting, member.sighting
    found: list[Difference] = []
    if a.cwd and b.cwd and a.cwd.rstrip("/") != b.cwd.rstrip("/"):
        found.append(Difference("cwd", a.cwd, b.cwd, member))
    inside = (a.container is None) == (b.container is None)
    if inside and a.user and b.user and not _same_user(a.user, b.user):
        found.append(Difference("user", a.user, b.user, member))
    if b.log_values is not None or a.log_values is not None or not inside:
        return found
    found.extend(_env_differences(primary, member))
    return found


def _same_user(a: str, b: str) -> bool:
    return a == b or (a.endswith("+") and b.startswith(a[:-1])) or (b.endswith("+") and a.startswith(b[:-1]))


def _env_differences(primary: Launch, member: Launch) -> list[Difference]:
    """Variables set differently, or set by one alone, unless that is a live process."""
    a, b = primary.sighting, member.sighting
    if kind_of(member) == "ps" or kind_of(primary) == "ps":
        return []
    if (kind_of(primary) == "proc" and not a.whole_environment) or (
        kind_of(member) == "proc" and not b.whole_environment
    ):
        return []
    found: list[Difference] = []
    for name in sorted({*a.env, *b.env}):
        kept, other = a.env.get(name), b.env.get(name)
        if (kept is None and b.whole_environment) or (other is None and a.whole_environment):
            continue
        left, right = kept.text if kept else None, other.text if other else None
        if MARK in (left, right) and kept and other:
            # one of them was hidden before it came here
            continue
        if left != right and not any(mark in (left or "") + (right or "") for mark in "\ue000\ue002"):
            found.append(Difference(f"env.{name}", left, right, member))
    return found


def same_value(a: Value, b: Value) -> bool:
    """Whether two values of a flag say the same: numbers as numbers, JSON as JSON, one word as a list of one. A value
    that was hidden on its way here says the same as any."""
    if a == b or (MARK in (a, b) and a is not None and b is not None):
        return True
    if a is None or b is None or isinstance(a, bool) or isinstance(b, bool):
        return False
    return _normal(a) == _normal(b)


def _normal(value: str | list[str]) -> object:
    if isinstance(value, list):
        return [_normal(one) for one in value] if len(value) != 1 else _normal(value[0])
    text = value.strip()
    if text[:1] in "{[":
        try:
            parsed: object = json.loads(text)
        except (ValueError, RecursionError):
            return text
        return [_normal(str(one)) for one in parsed] if isinstance(parsed, list) else parsed
    if re.fullmatch(r"-?\d+(\.\d+)?", text):
        return float(text)
    return text


def merged_environment(group: Group) -> Mapping[str, tuple[str, str]]:
    """Variables of the launch: name -> (value, where it was set). A live process decides, where its environment could
    be read; else all sources together, the winner's values first."""
    env: dict[str, tuple[str, str]] = {}
    # what a container was given is told by inspect; its process has the image's own and what the engine sets besides
    whole = [one for one in group.members if one.sighting.whole_environment]
    live = next((one for one in whole if kind_of(one) == "inspect"), next(iter(whole), None))
    for member in reversed(group.members):
        for name, variable in member.sighting.env.items():
            if live is None or name in live.sighting.env:
                env[name] = (variable.text, variable.origin)
    for member in group.members:
        # a file outlives the process that was started with it
        for name, variable in member.sighting.env.items():
            lasting = not member.sighting.whole_environment or kind_of(member) == "inspect"
            if name in env and lasting and env[name][0] in (variable.text, MARK):
                env[name] = (variable.text, variable.origin)
    return env
