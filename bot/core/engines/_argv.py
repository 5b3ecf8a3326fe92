"""Reading and editing an engine's command line, driven by its flag table and its parser's rules.

argparse (SGLang, vLLM): `--a=b`, unique prefixes, `_` for `-`, several words after a list flag, words that look like
negative numbers are values. vLLM besides: `--no-x`, dotted JSON options (`--speculative-config.method mtp`).
llama.cpp: exact names only, the next word is always the value.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.core.domain.catalog import Word
from bot.core.domain.engine import Flag, TypedFlag

Value = str | bool | list[str]

_NUMBER = re.compile(r"-\d+(\.\d*)?|-\.\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Syntax:
    """An engine's flags and how its parser reads words."""

    flags: tuple[Flag, ...]
    #: unique prefixes of long names are taken
    prefixes: bool = True
    #: `--a=b` is taken
    equals: bool = True
    #: `--no-x` is the other half of `--x`
    negation: bool = False
    #: `--x.y v` sets a key inside the JSON option x
    dotted: bool = False
    #: flags whose value may be left out, with the words that count as a value
    maybe: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def index(self) -> "FlagIndex":
        """Look-up tables over the flags."""
        by_name = {flag.name: flag for flag in self.flags}
        spellings = {"--" + flag.name: flag.name for flag in self.flags}
        for flag in self.flags:
            spellings.update(dict.fromkeys(flag.aliases, flag.name))
        return FlagIndex(syntax=self, by_name=by_name, spellings=spellings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """One flag as it stands in a command line; words[start:end] are its own."""

    name: str
    #: False for a spelling that no table knows
    known: bool
    #: as typed, without "=value"
    spelling: str
    negated: bool
    start: int
    end: int
    values: tuple[str, ...]
    #: "--a=b" in one word
    joined: bool

    @property
    def value(self) -> Value:
        """Text, True or False for a switch, a list for several words."""
        if not self.values:
            return not self.negated
        return self.values[0] if len(self.values) == 1 else list(self.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagIndex:
    """Look-ups in one engine's flags."""

    syntax: Syntax
    by_name: Mapping[str, Flag]
    spellings: Mapping[str, str]

    def look_up(self, spelling: str) -> tuple[str, bool] | None:
        """(canonical name, whether it is the --no- half) of a flag as typed, or None when no flag is meant."""
        if spelling in self.spellings:
            return self.spellings[spelling], False
        if self.syntax.dotted and "." in spelling:
            head, tail = spelling.split(".", 1)
            found = self.look_up(head)
            return (f"{found[0]}.{tail}", False) if found and not found[1] else None
        if not spelling.startswith("--"):
            return None
        dashed = spelling.replace("_", "-")
        if dashed in self.spellings:
            return self.spellings[dashed], False
        if self.syntax.negation and dashed.startswith("--no-"):
            found = self.look_up("--" + dashed.removeprefix("--no-"))
            if found:
                return found[0], True
        return self._by_prefix(dashed)

    def _by_prefix(self, dashed: str) -> tuple[str, bool] | None:
        """Prefixes of fewer than four letters are left alone: which flag they meet changes with each version."""
        if not self.syntax.prefixes or len(dashed) < 6:
            return None
        names = {name for spelling, name in self.spellings.items() if spelling.startswith(dashed)}
        return (names.pop(), False) if len(names) == 1 else None

    def kind(self, name: str) -> str:
        """Kind of a canonical flag; unknown and dotted ones take a value."""
        flag = self.by_name.get(name)
        return flag.kind if flag else "value"

    def is_flag(self, word: str) -> bool:
        """Whether the parser takes this word for a flag rather than a value."""
        if len(word) < 2 or not word.startswith("-") or _NUMBER.fullmatch(word):
            return False
        if " " in word:
            return self.look_up(word.split("=", 1)[0]) is not None
        return True

    def read(self, words: Sequence[Word]) -> tuple[tuple[Occurrence, ...], tuple[int, ...]]:
        """The flags in `words`, in order, and the positions of the words that belong to none."""
        text = [str(word) for word in words]
        found: list[Occurrence] = []
        stray: list[int] = []
        position = 0
        while position < len(text):
            if text[position] == "--" and self.syntax.equals:
                stray.extend(range(position + 1, len(text)))
                break
            if isinstance(words[position], str) and self.is_flag(text[position]):
                found.append(self._occurrence(text, position))
                position = found[-1].end
            else:
                stray.append(position)
                position += 1
        return tuple(found), tuple(stray)

    def _occurrence(self, text: Sequence[str], start: int) -> Occurrence:
        word = text[start]
        spelling, joined_value = word, None
        if self.syntax.equals and "=" in word:
            spelling, joined_value = word.split("=", 1)
        elif self.syntax.dotted and re.fullmatch(r"-O\d", word):
            # vLLM: -O3 is -O 3
            spelling, joined_value = "-O", word[2:]
        looked_up = self.look_up(spelling)
        name, negated = looked_up or (spelling.lstrip("-").replace("_", "-"), False)
        if joined_value is not None:
            values: tuple[str, ...] = (joined_value,)
            end = start + 1
        else:
            values = () if negated else self._values(name, text, start + 1)
            end = start + 1 + len(values)
        return Occurrence(
            name=name,
            known=looked_up is not None,
            spelling=spelling,
            negated=negated,
            start=start,
            end=end,
            values=values,
            joined=joined_value is not None,
        )

    def _values(self, name: str, text: Sequence[str], start: int) -> tuple[str, ...]:
        kind = self.kind(name)
        if kind in ("switch", "pair") or start >= len(text):
            return ()
        if name in self.syntax.maybe:
            return (text[start],) if text[start] in self.syntax.maybe[name] else ()
        if not self.syntax.equals:
            return () if text[start] in self.spellings else (text[start],)
        end = start
        while end < len(text) and text[end] != "--" and not self.is_flag(text[end]):
            end += 1
            if kind != "list":
                break
        return tuple(text[start:end])

    def typed(self, words: Sequence[Word]) -> tuple[TypedFlag, ...]:
        """The flags as typed, in order."""
        return tuple(
            TypedFlag(spelling=one.spelling, name=one.name, known=one.known, value=one.value)
            for one in self.read(words)[0]
        )

    def flags(self, occurrences: Sequence[Occurrence]) -> dict[str, Value]:
        """Canonical name -> value; of a flag given twice the last counts, unless it collects."""
        flags: dict[str, Value] = {}
        for one in occurrences:
            before = flags.get(one.name)
            if self.kind(one.name) == "repeat" and before is not None and not isinstance(before, bool):
                flags[one.name] = [*([before] if isinstance(before, str) else before), *one.values]
            else:
                flags[one.name] = one.value
        return flags

    def edit(self, words: Sequence[Word], changes: Mapping[str, Value | None]) -> tuple[Word, ...]:
        """`words` with each flag of `changes` set (None: taken out). Nothing else is touched; a flag that is there
        keeps its place, its spelling and its "=", and stays as it is where its value is the same already."""
        result = list(words)
        for name, value in changes.items():
            there = [one for one in self.read(result)[0] if one.name == name]
            if value is None or (value is False and self.kind(name) != "pair"):
                for one in reversed(there):
                    del result[one.start : one.end]
            elif not there:
                result.extend(self._spelled("--" + name, value))
            elif there[-1].value != value:
                last = there[-1]
                result[last.start : last.end] = self._respelled(last, value)
        return tuple(result)

    def _spelled(self, spelling: str, value: Value) -> list[str]:
        if value is True:
            return [spelling]
        if value is False:
            return ["--no-" + spelling.removeprefix("--")]
        return [spelling, *([value] if isinstance(value, str) else value)]

    def _respelled(self, last: Occurrence, value: Value) -> list[str]:
        if last.negated or value is False:
            return self._spelled("--" + last.name, value)
        if last.joined and isinstance(value, str):
            return [f"{last.spelling}={value}"]
        return self._spelled(last.spelling, value)
