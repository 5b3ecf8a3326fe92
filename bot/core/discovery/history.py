"""Shell histories (bash, zsh, fish) to entries, and the entries to sightings."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple

from bot.core.discovery.artefact import Artefact, home_of_path, user_of_path
from bot.core.discovery.launch_call import Evidence, Sighting, service_of
from bot.core.discovery.shell_dialect import FISH, SH, ZSH
from bot.core.discovery.shell_run import Interpreter, Surroundings, World
from bot.core.discovery.shell_state import Scope, clean

#: what a line must hold to be a launch
_HINTS = ("vllm", "sglang", "sgl", "llama", "serve", "docker", "podman", "nerdctl")
#: first words of lines that change what later ones see
_CONTEXT = frozenset(
    ("cd", "pushd", "popd", "export", "source", ".", "conda", "mamba", "micromamba", "deactivate", "alias", "unset",
     "set", "setenv", "exit", "logout", "tmux", "screen", "declare", "function")
)  # fmt: skip
#: the same behind the first command of a line
_CONTEXT_LATER = re.compile(rf"(?:&&|\|\||;|\bthen|\bdo)\s*(?:{'|'.join(map(re.escape, sorted(_CONTEXT)))})\s")
_ASSIGNING = re.compile(r"\s*(?:[A-Za-z_]\w*\+?=|\$)")
#: lines that call a script, of interest where the scripts are still to be fetched
_SCRIPT_CALL = re.compile(r"\S+\.(?:sh|bash|zsh|fish)(?:\s|$)|[~./]\S*/(?:run|start|serve|launch|up)[\w-]*(?:\s|$)")
_DEFINING = re.compile(r"\s*(?:alias\s+(?:-\w\s+)*([\w.-]+)[= ]|function\s+([\w.-]+)|([\w.-]+)\s*\(\))")
_BASH_TIME = re.compile(r"#(\d{9,11})\s*")
_NUMBERED = re.compile(r"\s*\d{1,6}\*?\s{2}(?:\[?\d{4}-\d\d-\d\d[ T][\d:]{8}\]?\s+)?")
_ZSH_ENTRY = re.compile(r": (\d+):\d+;(.*)", re.DOTALL)
#: longest entry that is read: the kernel takes no longer argument
_ENTRY_LIMIT = 140_000
#: entries that are followed, the last ones; older ones of a huge file are dropped
_ENTRIES_LIMIT = 20_000
#: how far back what a launch depends on is looked for, in entries that may matter
_REACH = 300
#: of longer files only what stands near a hit is read, this many characters before it
_LONG = 4_000_000
_WINDOW = 50_000


class Entry(NamedTuple):
    """One entered command. `line`: number of its first line in the file. It may hold secrets: it is never shown."""

    text: str
    line: int
    at: datetime | None = None


def entries(artefact: Artefact) -> Iterator[Entry]:
    """All entries, oldest first."""
    shell = artefact.shell or _shell_of(artefact)
    if shell == "fish":
        return _fish(artefact.text)
    if shell == "zsh":
        return _zsh(artefact.text)
    return _bash(_numbered(artefact.text))


def _shell_of(artefact: Artefact) -> str:
    if "fish_history" in artefact.path or artefact.text.startswith("- cmd: "):
        return "fish"
    if "zsh" in artefact.path or _ZSH_ENTRY.match(artefact.text[:200].partition("\n")[0]):
        return "zsh"
    return "bash"


def _moment(seconds: str) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (OverflowError, ValueError, OSError):
        return None


def _numbered(text: str) -> str:
    """What the command `history` prints has numbers, and times where they are kept."""
    head = [line for line in text[:5000].split("\n") if line.strip()][:-1][:20]
    if not head or not all(_NUMBERED.match(line) for line in head):
        return text
    return "\n".join(_NUMBERED.sub("", line, count=1) for line in text.split("\n"))


def _bash(text: str) -> Iterator[Entry]:
    """With time stamps (`#1763600001`) an entry may have several lines; without, a line is one unless it continues."""
    stamped = re.search(r"(?m)^#\d{9,11}\s*$", text[:20_000]) is not None
    at: datetime | None = None
    pending: list[str] = []
    started = 0
    for number, line in enumerate(text.split("\n"), start=1):
        stamp = _BASH_TIME.fullmatch(line) if line[:1] == "#" else None
        if stamp:
            if pending:
                yield Entry("\n".join(pending), started, at)
                pending = []
            at = _moment(stamp[1])
            continue
        if not pending:
            started = number
            if not stamped and line[-1:] not in ("\\", "\r"):
                yield Entry(line, number, at)
                continue
        pending.append(line.rstrip("\r"))
        if not stamped and not _continues(line):
            yield Entry("\n".join(pending), started, at)
            pending = []
    if pending:
        yield Entry("\n".join(pending), started, at)


def _continues(line: str) -> bool:
    stripped = line.rstrip("\r")
    return (len(stripped) - len(stripped.rstrip("\\"))) % 2 == 1


def _zsh(text: str) -> Iterator[Entry]:
    """Extended or plain; a newline inside an entry is written as backslash, newline."""
    pending: list[str] = []
    started = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if not pending:
            started = number
        if line.endswith("\\"):
            # zsh puts a blank behind a backslash that ends an entry
            pending.append(line[:-1])
            continue
        pending.append(line)
        whole = "\n".join(pending)
        pending = []
        match = _ZSH_ENTRY.fullmatch(whole)
        yield Entry(match[2], started, _moment(match[1])) if match else Entry(whole, started)
    if pending:
        yield Entry("\n".join(pending), started)


def _fish(text: str) -> Iterator[Entry]:
    """`- cmd: …` with `when:`; newlines and backslashes in the command are escaped."""
    command: str | None = None
    started = 0
    at: datetime | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith("- cmd: "):
            if command is not None:
                yield Entry(command, started, at)
            command, started, at = _unescape_fish(line[7:]), number, None
        elif (match := re.fullmatch(r"\s+when: (\d+)\s*", line)) and command is not None:
            at = _moment(match[1])
    if command is not None:
        yield Entry(command, started, at)


def _unescape_fish(text: str) -> str:
    return re.sub(r"\\(\\|n)", lambda match: "\n" if match[1] == "n" else "\\", text)


def _near_hits(text: str, script_names: Sequence[str]) -> str:
    """The parts of a very long file that name an engine or a known script, with what stands before them."""
    places: set[int] = set()
    for hint in (*_HINTS, *(name for name in script_names if len(name) > 2)):
        found = text.find(hint)
        while found >= 0 and len(places) < _ENTRIES_LIMIT:
            places.add(found)
            found = text.find(hint, found + _WINDOW // 10)
    parts: list[str] = []
    done = 0
    for place in sorted(places):
        start = max(done, text.find("\n", max(place - _WINDOW, 0)) + 1 if place > _WINDOW else 0)
        end = text.find("\n", place + _WINDOW // 5)
        end = len(text) if end < 0 else end + 1
        if end > done:
            parts.append(text[start:end])
            done = end
    return "".join(parts)


def sight_history(artefact: Artefact, world: World, script_names: Sequence[str]) -> list[Sighting]:
    """Launches of one history. Folder, exports, aliases and the active environment carry from line to line."""
    user = artefact.user or user_of_path(artefact.path)
    home = home_of_path(artefact.path) or (("/root" if user == "root" else f"/home/{user}") if user else None)
    kind = artefact.shell or _shell_of(artefact)
    fish = kind == FISH
    names = [re.escape(name) for name in script_names if len(name) > 2]
    scripts = re.compile("|".join(names)) if names else None
    fresh = Scope(user=user, home=home, dialect=kind if kind in (ZSH, FISH) else SH)
    scope = fresh.fork()
    found: list[Sighting] = []
    if len(artefact.text) > _LONG:
        artefact = replace(artefact, text=_near_hits(artefact.text, script_names), excerpt=True)
    kept = _worth_following(artefact, scripts, seeking=world.seeking)
    for entry in kept:
        if re.fullmatch(r"\s*(exit|logout)\s*", entry.text):
            aliases = scope.aliases
            scope = fresh.fork()
            scope.aliases = aliases
            continue
        detail = "" if artefact.excerpt else f"line {entry.line}"
        evidence = Evidence(kind="history", path=artefact.path, detail=detail, seen_at=entry.at)
        around = Surroundings(evidence=(evidence,))
        where = f"history {artefact.path}"
        scope.sources = ()
        shell = Interpreter(world, scope, where=where, surroundings=around, fish=fish)
        shell.run_text(clean(entry.text))
        scope = shell.scope
        found.extend(replace(one, seen_at=entry.at) for one in shell.launches)
    return _latest_services(found)


def _latest_services(found: Sequence[Sighting]) -> list[Sighting]:
    """Of a service that was brought up again only the last: it replaces the one before."""
    last = {service: number for number, one in enumerate(found) if (service := service_of(one))}
    return [one for number, one in enumerate(found) if last.get(service_of(one) or ("", ""), number) == number]


def _worth_following(artefact: Artefact, scripts: re.Pattern[str] | None, *, seeking: bool) -> list[Entry]:
    """Entries that may be launches, and those before them that they may depend on, oldest first."""
    kept: list[tuple[Entry, bool]] = []
    names: set[str] = set()
    for entry in entries(artefact):
        text = entry.text
        first = text.split(None, 1)[:1]
        if not first or len(text) > _ENTRY_LIMIT:
            continue
        low = text.lower()
        hit = any(hint in low for hint in _HINTS) or first[0] in names
        hit = hit or (scripts is not None and scripts.search(text) is not None)
        hit = hit or (seeking and _SCRIPT_CALL.search(text) is not None)
        if hit or first[0] in _CONTEXT or _ASSIGNING.match(text) or _CONTEXT_LATER.search(text):
            defined = _DEFINING.match(text)
            if defined:
                names.add(defined[1] or defined[2] or defined[3])
            kept.append((entry, hit))
            if len(kept) > 2 * _ENTRIES_LIMIT:
                del kept[:_ENTRIES_LIMIT]
    return _with_context(kept)


def _with_context(kept: list[tuple[Entry, bool]]) -> list[Entry]:
    wanted: list[Entry] = []
    near = 0
    for entry, hit in reversed(kept):
        near = _REACH if hit else near - 1
        if near > 0:
            wanted.append(entry)
    return wanted[:_ENTRIES_LIMIT][::-1]
