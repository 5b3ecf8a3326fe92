"""Entries of shell histories to sightings."""

import re
from collections.abc import Sequence
from dataclasses import replace

from bot.core.discovery.artefact import Artefact, home_of_path, user_of_path
from bot.core.discovery.history_entries import Entry, entries, shell_of
from bot.core.discovery.launch_call import Evidence, Sighting, service_of
from bot.core.discovery.shell_dialect import FISH, SH, ZSH
from bot.core.discovery.shell_run import Interpreter
from bot.core.discovery.shell_state import Scope, clean
from bot.core.discovery.shell_world import Surroundings, World

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
_WRITING = re.compile(r"(?:>>?\|?|\btee\s+(?:-a\s+)?)\s*[\"']?([^\s;&|<>\"']+)")
_DEFINING = re.compile(r"\s*(?:alias\s+(?:-\w\s+)*([\w.-]+)[= ]|function\s+([\w.-]+)|([\w.-]+)\s*\(\))")
#: longest entry that is read: the kernel takes no longer argument
_ENTRY_LIMIT = 140_000
#: entries that are followed, the last ones; older ones of a huge file are dropped
_ENTRIES_LIMIT = 20_000
#: how far back what a launch depends on is looked for, in entries that may matter
_REACH = 300
#: of longer files only what stands near a hit is read, this many characters before it
_LONG = 4_000_000
_WINDOW = 50_000


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
    kind = artefact.shell or shell_of(artefact)
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
    files: set[str] = set()
    for entry in entries(artefact):
        text = entry.text
        first = text.split(None, 1)[:1]
        if not first or len(text) > _ENTRY_LIMIT:
            continue
        low = text.lower()
        hit = any(hint in low for hint in _HINTS) or first[0] in names
        hit = hit or (scripts is not None and scripts.search(text) is not None)
        hit = hit or any(name in text for name in files)
        hit = hit or (seeking and _SCRIPT_CALL.search(text) is not None)
        written = _written(text) if "<<" in text and "\n" in text else set()
        files |= written
        if hit or written or first[0] in _CONTEXT or _ASSIGNING.match(text) or _CONTEXT_LATER.search(text):
            defined = _DEFINING.match(text)
            if defined:
                names.add(defined[1] or defined[2] or defined[3])
            kept.append((entry, hit))
            if len(kept) > 2 * _ENTRIES_LIMIT:
                del kept[:_ENTRIES_LIMIT]
    return _with_context(kept)


def _written(text: str) -> set[str]:
    """Names of files that a here-document goes to, units also by their short names."""
    names = {match[1].rpartition("/")[2] for match in _WRITING.finditer(text.partition("\n")[0])}
    return {one for name in names for one in (name, name.removesuffix(".service")) if len(one) > 2}


def _with_context(kept: list[tuple[Entry, bool]]) -> list[Entry]:
    wanted: list[Entry] = []
    near = 0
    for entry, hit in reversed(kept):
        near = _REACH if hit else near - 1
        if near > 0:
            wanted.append(entry)
    return wanted[:_ENTRIES_LIMIT][::-1]
