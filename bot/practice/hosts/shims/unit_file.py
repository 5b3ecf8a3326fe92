"""Read a unit file with its drop-ins as systemd does: sections, lists, specifiers, word splitting."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from .view import root

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "s": " ", "\\": "\\", '"': '"', "'": "'"}


@dataclass
class Unit:
    """One unit: section -> name -> values in order."""

    name: str
    path: Path
    dropins: list[Path]
    values: dict[str, dict[str, list[str]]] = field(default_factory=dict)

    def all(self, name: str, section: str = "Service") -> list[str]:
        """All values; an empty assignment has reset the ones before it."""
        return self.values.get(section, {}).get(name, [])

    def last(self, name: str, default: str = "", section: str = "Service") -> str:
        """The last value."""
        values = self.all(name, section)
        return values[-1] if values else default


def folders(scope: str) -> list[Path]:
    """Where units lie, first match wins."""
    top = root().parent
    if scope == "user":
        runtime = Path(os.environ.get("XDG_RUNTIME_DIR", "/run/user/1000"))
        return [Path.home() / ".config/systemd/user", runtime / "systemd/transient", top / "etc/systemd/user"]
    return [top / "etc/systemd/system", top / "run/systemd/system", top / "lib/systemd/system"]


def load(scope: str, name: str) -> Unit | None:
    """The unit with this name (with ".service"), or None."""
    for folder in folders(scope):
        path = folder / name
        if path.is_file():
            return _read(scope, name, path)
    return None


def names(scope: str) -> list[str]:
    """All service units that have a file."""
    return sorted({p.name for folder in folders(scope) if folder.is_dir() for p in folder.glob("*.service")})


def _read(scope: str, name: str, path: Path) -> Unit:
    dropins = [p for f in folders(scope) for p in sorted((f / f"{name}.d").glob("*.conf"))]
    unit = Unit(name, path, dropins)
    for file in [path, *dropins]:
        section = ""
        for line in _logical(file.read_text(encoding="utf-8", errors="replace")):
            if line.startswith("["):
                section = line.strip("[]")
                continue
            key, _, value = line.partition("=")
            values = unit.values.setdefault(section, {}).setdefault(key.strip(), [])
            if value.strip():
                values.append(value.strip())
            else:
                values.clear()
    return unit


def _logical(text: str) -> list[str]:
    lines: list[str] = []
    held = ""
    for raw in text.split("\n"):
        line = raw.strip()
        if held and line[:1] in ("#", ";"):
            continue
        if line.endswith("\\"):
            held += line[:-1].rstrip() + " "
            continue
        whole = (held + line).strip()
        held = ""
        if whole and whole[0] not in "#;":
            lines.append(whole)
    return lines


def specifiers(text: str, name: str) -> str:
    """Replace %h, %u, %n, %i, %t and %%."""
    stem = name.removesuffix(".service")
    known = {
        "h": str(Path.home()),
        "u": os.environ.get("PRACTICE_USER", "serve"),
        "n": name,
        "N": stem,
        "p": stem.partition("@")[0],
        "i": stem.partition("@")[2],
        "t": os.environ.get("XDG_RUNTIME_DIR", "/run"),
        "H": os.uname().nodename,
        "%": "%",
    }
    out, place = "", 0
    while place < len(text):
        if text[place] == "%" and place + 1 < len(text):
            out += known.get(text[place + 1], text[place : place + 2])
            place += 2
        else:
            out += text[place]
            place += 1
    return out


def split(text: str) -> list[str]:
    """Split into words: quotes of both kinds, C escapes."""
    words: list[str] = []
    word, quote, inside, place = "", "", False, 0
    while place < len(text):
        letter = text[place]
        place += 1
        if letter == "\\" and place < len(text):
            word += _ESCAPES.get(text[place], "\\" + text[place])
            inside, place = True, place + 1
        elif quote:
            if letter == quote:
                quote = ""
            else:
                word += letter
        elif letter in "\"'" and not word:
            quote, inside = letter, True
        elif letter.isspace():
            if inside or word:
                words.append(word)
            word, inside = "", False
        else:
            word, inside = word + letter, True
    if inside or word:
        words.append(word)
    return words


def expand(words: list[str], variables: dict[str, str]) -> list[str]:
    """Expand $NAME words and ${NAME} inside words; $$ is a dollar."""
    out: list[str] = []
    for word in words:
        if word.startswith("$") and word[1:].isidentifier():
            out += variables.get(word[1:], "").split()
            continue
        text, place = "", 0
        while place < len(word):
            if word.startswith("$$", place):
                text, place = text + "$", place + 2
            elif word.startswith("${", place) and "}" in word[place:]:
                end = word.index("}", place)
                text, place = text + variables.get(word[place + 2 : end], ""), end + 1
            else:
                text, place = text + word[place], place + 1
        out.append(text)
    return out


def environment(unit: Unit) -> dict[str, str]:
    """Variables that the unit sets."""
    variables: dict[str, str] = {}
    for line in unit.all("Environment"):
        for word in split(specifiers(line, unit.name)):
            name, _, value = word.partition("=")
            variables[name] = value
    for line in unit.all("EnvironmentFile"):
        path = Path(specifiers(line.lstrip("-"), unit.name))
        if not path.exists() and line.startswith("-"):
            continue
        for row in path.read_text(encoding="utf-8").split("\n"):
            if "=" in row and row.strip()[:1] not in ("#", ";"):
                name, _, value = row.strip().partition("=")
                variables[name.strip()] = " ".join(split(value.strip())) if value.strip() else ""
    return variables
