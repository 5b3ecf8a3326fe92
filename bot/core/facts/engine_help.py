"""Flags that the installed engine itself prints. Importing it takes 5 to 30 s: asked once for each environment and
version, and kept.

Forms seen: argparse as Python 3.11 to 3.13 prints it (vLLM 0.32 `--help=all`, SGLang 0.5.11), and llama.cpp's own
(b11434). A flag's paragraph begins with its spellings near the left edge; all that is further in is prose."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.core.domain.reading import Known, Reading, Unknown
from bot.core.domain.shell import quote
from bot.core.facts._fact import Fact, ProbeTarget
from bot.core.facts._python import find_python

#: a paragraph's first line; prose stands from column 24 (argparse) or 40 (llama.cpp) on
_HEAD = re.compile(r"(?:  )?-")
#: two spaces end the spellings, but for those that llama.cpp lines up in columns
_GAP = re.compile(r"\s{2,}(?![-\s])")
_FLAG = re.compile(r"(?<![\w-])--?[A-Za-z](?:[\w-]|\.(?=\w))*")
_VALUE = re.compile(r"\{[^{}]*\}|\[[^][]*\]|<[^<>]*>")
#: choices are closed unless more is taken: "{a,b} or name registered in …"
_CHOICES = re.compile(r"\{([^{}\s][^{}]*)\}(?!\s*or\b)")
_DEPRECATED = re.compile(r"\[?deprecated\b", re.IGNORECASE)
#: `sglang serve` goes on with the flags of a server for pictures
_OTHER_PROGRAM = "--- Help for Diffusion"
#: fewer are no flag list but an error, or a page of topics
_ENOUGH = 20
TIMEOUT_S = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineHelp:
    """Spellings with their dashes; for some what they take and nothing else, and what the help says of their end."""

    flags: frozenset[str]
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: spelling -> the help's own words
    deprecated: Mapping[str, str] = field(default_factory=dict)

    def spelling(self, typed: str, *, prefixes: bool = True) -> str | None:
        """The spelling that a typed flag stands for: itself, with dashes for underscores, the head of a dotted option,
        or, where the engine takes `prefixes`, the beginning of exactly one. None: it has none."""
        head = typed.split(".", 1)[0]
        dashed = head.replace("_", "-") if head.startswith("--") else head
        for form in (typed, head, dashed):
            if form in self.flags:
                return form
        begun = [flag for flag in self.flags if dashed.startswith("--") and flag.startswith(dashed)]
        return begun[0] if prefixes and len(begun) == 1 else None


def snippet(target: ProbeTarget) -> str:
    if not target.program or not target.help_words:
        return ""
    rest = " ".join(quote(word) for word in target.program[1:])
    tries = " || ".join(
        f'"$prog" {rest} {" ".join(quote(word) for word in words)} 2>/dev/null' for words in target.help_words
    )
    # nothing of it may slow down what serves there
    return find_python(target) + f"COLUMNS=200; export COLUMNS\nrenice -n 19 -p $$ >/dev/null 2>&1\n{tries}"


def parse(output: str) -> Reading[EngineHelp]:
    """Every paragraph's spellings; flags of which the help itself says that they have been removed are left out."""
    flags: set[str] = set()
    choices: dict[str, tuple[str, ...]] = {}
    deprecated: dict[str, str] = {}
    for names, listed, prose in _paragraphs(output):
        if "argument has been removed" in prose:
            continue
        flags |= set(names)
        choices.update(dict.fromkeys(names, listed) if listed else {})
        said = _deprecation(names, prose)
        deprecated.update(dict.fromkeys(names, said) if said else {})
    if len(flags) < _ENOUGH:
        return Unknown("--help printed no list of flags")
    return Known(EngineHelp(flags=frozenset(flags), choices=choices, deprecated=deprecated))


def _paragraphs(output: str) -> list[tuple[list[str], tuple[str, ...], str]]:
    """(spellings, choices, prose) of each flag."""
    found: list[tuple[list[str], tuple[str, ...], list[str]]] = []
    for line in output.splitlines():
        if line.startswith(_OTHER_PROGRAM):
            break
        head, *prose = _GAP.split(line.strip(), maxsplit=1)
        # an example has quotes, spellings have none
        if _HEAD.match(line) and not re.search("[\"']", head):
            listed = _CHOICES.search(head)
            values = tuple(word.strip() for word in listed[1].split(",")) if listed else ()
            found.append((_FLAG.findall(_VALUE.sub(" ", head)), values, prose))
        elif found and line.startswith(" "):
            found[-1][2].append(line.strip())
        elif found and line.strip():
            # the heading of a group ends a paragraph
            found.append(([], (), []))
    return [(names, values, " ".join(prose)) for names, values, prose in found if names]


def _deprecation(names: list[str], prose: str) -> str | None:
    """The sentence in which the help says that this very flag goes."""
    if _DEPRECATED.match(prose):
        return prose[:200]
    for sentence in re.split(r"(?<=\.)\s+", prose):
        if any(re.search(rf"{re.escape(name)} (?:is|has been|will be) deprecated", sentence) for name in names):
            return sentence[:200]
    return None


FACT: Fact[EngineHelp] = Fact(name="engine_help", snippet=snippet, parse=parse, timeout_s=TIMEOUT_S)
