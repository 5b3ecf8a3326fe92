"""Flags that the installed engine itself prints. Importing it can take 10 to 60 s: ask once per environment and version
and keep the answer."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.core.domain.reading import Known, Reading, Unknown
from bot.core.domain.shell import quote
from bot.core.facts._fact import Fact, ProbeTarget
from bot.core.facts._python import find_python

_FLAG = re.compile(r"(?<![\w-])(--?[A-Za-z][\w.-]*)")
_CHOICES = re.compile(r"(--[\w-]+)[ =]+\{([^}]+)\}")
#: fewer are no flag list but an error
_ENOUGH = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineHelp:
    """Spellings with their dashes, and choices where the help lists them."""

    flags: frozenset[str]
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def snippet(target: ProbeTarget) -> str:
    if not target.program or not target.help_words:
        return ""
    rest = " ".join(quote(word) for word in target.program[1:])
    tries = " || ".join(
        f'"$prog" {rest} {" ".join(quote(word) for word in words)} 2>/dev/null' for words in target.help_words
    )
    return find_python(target) + f"COLUMNS=200; export COLUMNS\n{tries}"


def parse(output: str) -> Reading[EngineHelp]:
    """Flags stand in the usage and at the start of their paragraph; prose is left out, and so are flags of which the
    help itself says that they have been removed."""
    flags: set[str] = set()
    choices: dict[str, tuple[str, ...]] = {}
    in_usage, paragraph = False, frozenset[str]()
    for line in output.splitlines():
        in_usage = line.startswith("usage:") or (in_usage and line.startswith(" "))
        if in_usage or re.match(r"\s*-", line):
            head = line if in_usage else re.split(r"\s{2,}(?![-\s])", line.strip(), maxsplit=1)[0]
            paragraph = frozenset(_FLAG.findall(head))
            flags |= paragraph
            choices.update(
                (name, tuple(word.strip() for word in listed.split(","))) for name, listed in _CHOICES.findall(line)
            )
        if "argument has been removed" in line:
            flags -= paragraph
    if len(flags) < _ENOUGH:
        return Unknown("--help printed no list of flags")
    return Known(EngineHelp(flags=frozenset(flags), choices=choices))


FACT: Fact[EngineHelp] = Fact(name="engine_help", snippet=snippet, parse=parse, timeout_s=90)
