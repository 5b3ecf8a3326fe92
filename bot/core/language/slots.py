"""All slots of the words that belong to one request."""

import itertools
from dataclasses import dataclass, field

from bot.core.catalog.atoms import atoms
from bot.core.domain.command import Intent, Reference
from bot.core.language import counts, flags, hosts, names, overrides, phrases, relative, schedule
from bot.core.language import lexicon as lex
from bot.core.language.counts import Counts
from bot.core.language.flags import Pasted
from bot.core.language.hosts import Hosts
from bot.core.language.names import Names
from bot.core.language.overrides import Settings
from bot.core.language.schedule import Rhythm
from bot.core.language.tokens import Clause, Token
from bot.core.language.vocabulary import Vocabulary


@dataclass(slots=True)
class Slots:
    """What was found, and the words it was found in."""

    tokens: list[Token]
    settings: Settings = field(default_factory=Settings)
    pasted: Pasted = field(default_factory=Pasted)
    hosts: Hosts = field(default_factory=Hosts)
    names: Names = field(default_factory=Names)
    counts: Counts = field(default_factory=Counts)
    reference: Reference | None = None
    rhythm: Rhythm | None = None
    channel: str | None = None
    channel_id: str | None = None
    all: bool = False
    pronoun: bool = False

    @property
    def text(self) -> str:
        """All words, lower case."""
        return " ".join(t.text for t in self.tokens)

    @property
    def target(self) -> bool:
        """Whether a host, name or "everything" is said."""
        found = self.hosts.named or self.hosts.several or self.hosts.unknown or self.names.anything or self.all
        return bool(found) or self.reference is not None

    @property
    def set_anything(self) -> bool:
        """Whether any setting is said."""
        settings, pasted = self.settings, self.pasted
        return bool(settings.values or settings.faults or settings.relative or pasted.flags or pasted.faults)


_ALL = lex.words("everything all")
_PRONOUNS = lex.words("it this that them there one these here")


def read(tokens: list[Token], vocabulary: Vocabulary, *, kind: Intent | None = None) -> Slots:
    """Read every kind of slot. `kind` helps where one number may mean two things."""
    for token in tokens:
        token.role = ""
    slots = Slots(tokens)
    load = kind in (Intent.BENCH, Intent.COMPARE)
    if kind is Intent.SCHEDULE:
        slots.rhythm = schedule.read(tokens)
    if kind in (Intent.LOGS, None):
        counts.lines(tokens, slots.counts, logs=kind is Intent.LOGS)
    if load:
        counts.load(tokens, slots.counts)
    slots.pasted = flags.read(tokens, vocabulary.engines, slots.settings, logs=kind is Intent.LOGS)
    _whole_names(tokens, vocabulary)
    relative.read(tokens, slots.settings)
    overrides.read(tokens, slots.settings)
    relative.read_open(tokens, slots.settings)
    hosts.read(tokens, vocabulary, slots.hosts)
    for token in tokens:
        if token.role == "whole":
            token.role = ""
    slots.names = names.read(tokens, vocabulary)
    slots.reference = phrases.reference(tokens)
    _channels(tokens, slots)
    words = [t.text for t in tokens if not t.role]
    slots.all = bool(_ALL & set(words)) or _every_server(words)
    slots.pronoun = bool(_PRONOUNS & set(words))
    return slots


def _every_server(words: list[str]) -> bool:
    return any(
        a in ("every", "each") and b in lex.BOX_NOUNS | {"model", "instance", "process"}
        for a, b in itertools.pairwise(words)
    )


def _whole_names(tokens: list[Token], vocabulary: Vocabulary) -> None:
    """Keep whole config names out of the reach of settings: "launch step-3-port-8000"."""
    for token in tokens:
        if (
            not token.role
            and token.kind == "word"
            and "-" in token.text
            and vocabulary.index.phrases.get(atoms(token.text))
        ):
            token.role = "whole"


def _channels(tokens: list[Token], slots: Slots) -> None:
    for token in tokens:
        if token.kind == "channel":
            number, _, name = token.raw.strip("\ue000\ue001").partition("|")
            slots.channel, slots.channel_id = f"#{name}" if name else number, number
            token.role = "channel"
        elif token.kind == "word" and token.raw.startswith("#") and not token.raw[1:].isdigit() and not token.role:
            slots.channel = token.raw.lower()
            token.role = "channel"


def join(clauses: list[Clause]) -> list[Token]:
    """The tokens of several clauses with a comma between them."""
    joined: list[Token] = []
    for clause in clauses:
        if joined:
            joined.append(Token(",", ",", "mark", clause.tokens[0].start, clause.tokens[0].start))
        joined += clause.tokens
    return joined
