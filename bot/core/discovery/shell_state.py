"""What a shell knows at one point of a text: variables, folder, functions; and marks for what nobody can know.

A value that only running would tell (`$(hostname)`, `$RANDOM`) stays in the text between UNKNOWN marks, a variable that
nothing sets between UNSET marks; `render` takes the marks out at the end.
"""

import re
from dataclasses import dataclass, field, replace

from bot.core.discovery.shell_syntax import Node

UNKNOWN_START, UNKNOWN_END = "\ue000", "\ue001"
UNSET_START, UNSET_END = "\ue002", "\ue003"
_MARKS = re.compile("[\ue000-\ue003]")
_UNSET = re.compile("\ue002[^\ue003]*\ue003")
#: longest value that is followed; a doubling loop must not eat the memory
VALUE_LIMIT = 200_000


@dataclass(frozen=True, slots=True)
class Variable:
    """A shell variable: text, an indexed array, or a table. `origin` says where it was set."""

    value: str | tuple[str, ...] | dict[str, str]
    exported: bool = False
    origin: str = ""

    @property
    def text(self) -> str:
        """What `$NAME` gives: of an array its first element."""
        if isinstance(self.value, str):
            return self.value
        if isinstance(self.value, dict):
            return self.value.get("0", "")
        return self.value[0] if self.value else ""

    @property
    def values(self) -> tuple[str, ...]:
        """What `${NAME[@]}` gives."""
        if isinstance(self.value, str):
            return (self.value,)
        return tuple(self.value.values()) if isinstance(self.value, dict) else self.value


@dataclass(slots=True)
class Scope:
    """The state of one shell. `fork` gives a subshell's, `child` that of a program which the shell starts."""

    variables: dict[str, Variable] = field(default_factory=dict)
    positional: tuple[str, ...] = ()
    script: str | None = None
    functions: dict[str, Node] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    #: whose rules variables follow: "sh", "zsh" or "fish"
    dialect: str = "sh"
    cwd: str | None = None
    home: str | None = None
    user: str | None = None
    #: folder of the activated virtual environment, where known
    venv: str | None = None
    allexport: bool = False
    #: folders of pushd
    stack: tuple[str | None, ...] = ()
    #: artefacts (kind, path) that contributed so far
    sources: tuple[tuple[str, str], ...] = ()

    def fork(self) -> "Scope":
        """A copy that can go its own way."""
        return replace(self, variables=dict(self.variables), functions=dict(self.functions), aliases=dict(self.aliases))

    def child(self, script: str | None, positional: tuple[str, ...]) -> "Scope":
        """The state in which a script starts that this shell runs."""
        return Scope(
            variables=self.exports(),
            positional=positional,
            script=script,
            cwd=self.cwd,
            home=self.home,
            user=self.user,
            venv=self.venv,
            sources=self.sources,
        )

    def exports(self) -> dict[str, Variable]:
        """The exported variables."""
        return {name: variable for name, variable in self.variables.items() if variable.exported}

    def assign(self, name: str, value: str | tuple[str, ...] | dict[str, str], origin: str) -> None:
        """Set a variable; one that is exported stays so."""
        if isinstance(value, str) and len(value) > VALUE_LIMIT:
            value = value[:VALUE_LIMIT]
        before = self.variables.get(name)
        exported = self.allexport or (before is not None and before.exported)
        self.variables[name] = Variable(value, exported, origin)

    def add_source(self, kind: str, path: str) -> None:
        """Note that an artefact contributed."""
        if (kind, path) not in self.sources:
            self.sources = (*self.sources, (kind, path))


class Leave(Exception):  # noqa: N818 - a jump, no error
    """exit, return, break or continue on its way up."""

    def __init__(self, kind: str, levels: int = 1) -> None:
        super().__init__(kind)
        self.kind = kind
        self.levels = levels


@dataclass(slots=True)
class Sink:
    """Where output goes. `opaque`: part of it only running would tell."""

    parts: list[str] = field(default_factory=list)
    opaque: bool = False


def clean(text: str) -> str:
    """Text from outside, without characters that are marks here."""
    return _MARKS.sub("�", text)


def unknown(source: str) -> str:
    """`source` as a value that only running would tell."""
    return UNKNOWN_START + _MARKS.sub("", source) + UNKNOWN_END


def unset(source: str) -> str:
    """`source` as a variable that nothing sets."""
    return UNSET_START + _MARKS.sub("", source) + UNSET_END


def render(text: str) -> str:
    """Without marks: what is unknown shows as it was written."""
    return _MARKS.sub("", text)


def is_unknown(text: str) -> bool:
    """Whether only running would tell any of the text."""
    return text.startswith(UNKNOWN_START) and text.find(UNKNOWN_END) == len(text) - 1


def has_unknown(text: str) -> bool:
    """Whether a part of the text only running would tell."""
    return UNKNOWN_START in text


def is_unset(text: str) -> bool:
    """Whether the whole text is one variable that nothing sets."""
    return text.startswith(UNSET_START) and text.find(UNSET_END) == len(text) - 1


def known(text: str) -> str | None:
    """The text as a shell would see it, unset variables empty; None when part of it is unknown."""
    return None if UNKNOWN_START in text else _UNSET.sub("", text)


def join_path(folder: str | None, path: str) -> str | None:
    """`path` seen from `folder`, normalised; None when that is not known."""
    text = render(path)
    if UNKNOWN_START in path or UNSET_START in path or text.startswith("~"):
        return None
    if not text.startswith("/"):
        if folder is None:
            return None
        text = folder + "/" + text
    parts: list[str] = []
    for part in text.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


def place_of(folder: str | None, path: str) -> str | None:
    """Key of a file that a text writes and reads again: its path, or where the folder is not known its path from
    there ("./run.sh")."""
    full = join_path(folder, path)
    if full is not None or folder is not None or path.startswith("~"):
        return full
    inside = join_path("/", path)
    return None if inside is None else "." + inside


def directory(path: str) -> str:
    """dirname."""
    trimmed = path.rstrip("/")
    head, slash, _ = trimmed.rpartition("/")
    return (head or "/") if slash else "."


def basename(path: str) -> str:
    """The last component."""
    return path.rstrip("/").rpartition("/")[2]
