"""One message taken apart: its clauses with what they do, and the slots of each."""

from dataclasses import dataclass, field
from datetime import datetime

from bot.core.domain.command import ThreadContext
from bot.core.language import lexicon as lex
from bot.core.language import slots
from bot.core.language.normalise import Normalised
from bot.core.language.slots import Slots
from bot.core.language.speech import Act
from bot.core.language.vocabulary import Vocabulary

#: kinds of clauses that ask us for something
ASKING = frozenset({"request", "wish", "desire"})


@dataclass(slots=True)
class Message:
    """What reading a message needs to know about it."""

    text: str
    normal: Normalised
    acts: list[Act]
    vocabulary: Vocabulary
    context: ThreadContext | None
    now: datetime | None
    _read: dict[int, tuple[Slots, list[str]]] = field(default_factory=dict)

    def slots_of(self, place: int) -> Slots:
        """The slots of one clause; its tokens then bear the roles of this reading."""
        tokens = self.acts[place].clause.tokens
        if place in self._read:
            found, roles = self._read[place]
            for token, role in zip(tokens, roles, strict=True):
                token.role = role
            return found
        found = slots.read(tokens, self.vocabulary)
        self._read[place] = found, [t.role for t in tokens]
        return found

    def target_beside(self, place: int) -> bool:
        """Whether the phrases and statements beside a request name a target."""
        kinds = ("fragment", "statement", "question")
        return any(self.slots_of(i).target for i, a in enumerate(self.acts) if i != place and a.kind in kinds)

    def to_another(self, place: int) -> bool:
        """ "Bob, can you …": the request is to somebody else."""
        if self.normal.other_person:
            return True
        first = next((a for a in self.acts if a.kind != "social"), None)
        if first is None:
            return False
        if first.clause.tokens[0].kind == "person":
            return True
        names = [t for t in first.clause.tokens if t.kind != "mark" and t.text not in lex.OPENERS]
        if self.acts[place] is first or len(names) != 1:
            return False
        name = names[0]
        looks_like_one = name.text.isalpha() and name.raw[:1].isupper() and not name.raw.isupper()
        return looks_like_one and name.text not in self.vocabulary.known and not name.role
