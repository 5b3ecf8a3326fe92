"""Nodes of a parsed shell text (POSIX sh, bash, zsh; fish where it differs)."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Text:
    """Literal characters; `quoted` ones are neither split nor globbed nor brace-expanded."""

    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Parameter:
    """`$NAME`, `${NAME…}`. `operator` is "" or one of :- - := = :? ? :+ + # ## % %% / // : ^ ^^ , ,, @ length."""

    name: str
    source: str
    quoted: bool = False
    operator: str = ""
    argument: "Word | None" = None
    index: "Word | None" = None
    indirect: bool = False


@dataclass(frozen=True, slots=True)
class Substitution:
    """`$(…)`, backticks, fish's `(…)`; `process`: `<(…)`."""

    body: str
    source: str
    quoted: bool = False
    process: bool = False


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`$((…))`."""

    expression: str
    source: str
    quoted: bool = False


Part = Text | Parameter | Substitution | Arithmetic


@dataclass(frozen=True, slots=True)
class Word:
    """One word before expansion."""

    parts: tuple[Part, ...]

    @property
    def literal(self) -> str | None:
        """The text when nothing in it is quoted or expanded, else None."""
        if any(not isinstance(part, Text) or part.quoted for part in self.parts):
            return None
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def plain(self) -> str | None:
        """The text when nothing in it is expanded, quoted or not, else None."""
        if any(not isinstance(part, Text) for part in self.parts):
            return None
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def process(self) -> "Substitution | None":
        """The `<(…)` that the whole word is."""
        part = self.parts[0] if len(self.parts) == 1 else None
        return part if isinstance(part, Substitution) and part.process else None


@dataclass(frozen=True, slots=True)
class Assignment:
    """`NAME=value`, `NAME+=value`, `NAME[i]=value`, `NAME=(…)`; `value` None: a bare name after export or local."""

    name: str
    value: Word | None
    array: tuple[Word, ...] | None = None
    append: bool = False
    index: Word | None = None


@dataclass(slots=True)
class Redirect:
    """`operator` without the file descriptor; `heredoc` is the body of `<<`."""

    operator: str
    target: Word
    descriptor: str = ""
    heredoc: Word | None = None


@dataclass(slots=True)
class Simple:
    """A simple command. `declared`: the assignments among the arguments of export, local, declare …"""

    line: int
    assignments: list[Assignment] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    declared: list[Assignment] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class Pipeline:
    commands: "list[Node]"
    negated: bool = False


@dataclass(slots=True)
class AndOr:
    """`first` and then (`&&` or `||`, node) pairs."""

    first: "Node"
    rest: "list[tuple[str, Node]]"


@dataclass(slots=True)
class Sequence:
    """Commands one after another, each with whether it goes to the background."""

    items: "list[tuple[Node, bool]]"


@dataclass(slots=True)
class Group:
    """`{ …; }` or, as a `subshell`, `( … )`."""

    body: Sequence
    subshell: bool = False
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class If:
    branches: list[tuple[Sequence, Sequence]]
    otherwise: Sequence | None = None
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class While:
    condition: Sequence
    body: Sequence
    until: bool = False
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class For:
    """`words` None: over the positional parameters."""

    name: str
    words: list[Word] | None
    body: Sequence
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class ForArithmetic:
    start: str
    condition: str
    step: str
    body: Sequence
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class Case:
    word: Word
    branches: list[tuple[list[Word], Sequence]]
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class Function:
    name: str
    body: "Node"


@dataclass(slots=True)
class Test:
    """`[[ … ]]`; operators as plain text."""

    tokens: list[Word | str]


@dataclass(slots=True)
class ArithmeticCommand:
    """`(( … ))`."""

    expression: str


Node = (
    Simple
    | Pipeline
    | AndOr
    | Sequence
    | Group
    | If
    | While
    | For
    | ForArithmetic
    | Case
    | Function
    | Test
    | ArithmeticCommand
)


@dataclass(slots=True)
class Script:
    """What could be read. `complete` is False when some of the text was no shell. `awaited`: the delimiter of the
    here-document, or the quote, that the text ends in."""

    body: Sequence
    complete: bool = True
    awaited: str = ""
