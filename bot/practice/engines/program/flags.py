"""Read a command line as the engine's own parser does, with its own words for what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import List, NamedTuple, Union  # noqa: UP035 - Python 3.8 evaluates the next line

Value = Union[str, bool, List[str]]  # noqa: UP006, UP007


class WrongUse(Exception):  # noqa: N818 - an outcome, not a fault of ours
    """The command line is refused: what is printed, and the exit status."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.text = text
        self.status = status


class Flag(NamedTuple):
    """One flag: canonical name without dashes, spellings, kind ("switch", "pair", "value", "list", "repeat"), type."""

    name: str
    spellings: tuple[str, ...]
    kind: str
    type: str
    choices: tuple[str, ...]


def load(engine: str) -> dict[str, Flag]:
    """Spelling -> flag, from flags.json beside this module."""
    rows = json.loads(Path(__file__).with_name("flags.json").read_text(encoding="utf-8"))[engine]
    table: dict[str, Flag] = {}
    for name, spellings, kind, type_, choices in rows:
        flag = Flag(name, tuple(spellings), kind, type_, tuple(choices))
        for spelling in spellings:
            table[spelling] = flag
    return table


class Parser:
    """A parser of one engine. `prefixes`: argparse's unambiguous abbreviations are accepted."""

    def __init__(self, engine: str, program: str, prefixes: bool, underscores: bool) -> None:
        self.table = load(engine)
        self.program = program
        self.prefixes = prefixes
        self.underscores = underscores

    def read(self, words: list[str]) -> tuple[dict[str, Value], list[str]]:
        """Flags by canonical name, and the words that belong to none. Raises WrongUse."""
        found: dict[str, Value] = {}
        stray: list[str] = []
        unknown: list[str] = []
        place = 0
        while place < len(words):
            word = words[place]
            place += 1
            if not word.startswith("-") or _is_number(word):
                (unknown if unknown else stray).append(word)
                continue
            spelling, given = self._split(word)
            flag = self._find(spelling)
            if flag is None:
                unknown.append(word)
                continue
            place = self._take(flag, spelling, given, words, place, found)
        if unknown:
            self.fail("unrecognized arguments: " + " ".join(unknown), short=True)
        return found, stray

    def _split(self, word: str) -> tuple[str, str | None]:
        spelling, equals, given = word.partition("=")
        if self.underscores and spelling.startswith("--"):
            spelling = "--" + spelling[2:].replace("_", "-")
        return spelling, given if equals else None

    def _find(self, spelling: str) -> Flag | None:
        if spelling in self.table:
            return self.table[spelling]
        if self.prefixes and spelling.startswith("--"):
            hits = {f.name: f for s, f in self.table.items() if s.startswith(spelling)}
            if len(hits) == 1:
                return next(iter(hits.values()))
            if hits:
                names = ", ".join(sorted(s for s in self.table if s.startswith(spelling)))
                self.fail(f"ambiguous option: {spelling} could match {names}")
        return None

    def _take(
        self, flag: Flag, spelling: str, given: str | None, words: list[str], place: int, found: dict[str, Value]
    ) -> int:
        if flag.kind in ("switch", "pair") and given is None:
            found[flag.name] = not spelling.startswith("--no-")
            return place
        if given is not None:
            found[flag.name] = self._checked(flag, given)
            return place
        if place >= len(words) or (words[place].startswith("--") and len(words[place]) > 2):
            names = "/".join(flag.spellings)
            self.fail(
                "argument {}: expected {} argument".format(names, "at least one" if flag.kind == "list" else "one")
            )
        if flag.kind == "list":
            values: list[str] = []
            while place < len(words) and not words[place].startswith("-"):
                values.append(words[place])
                place += 1
            found[flag.name] = values
            return place
        found[flag.name] = self._checked(flag, words[place])
        return place + 1

    def _checked(self, flag: Flag, value: str) -> str:
        names = "/".join(flag.spellings)
        try:
            if flag.type == "int":
                int(value)
            elif flag.type == "float":
                float(value)
        except ValueError:
            if not (self.underscores and value[-1:] in "kKmMgG" and value[:-1].isdigit()):
                self.fail(f"argument {names}: invalid {flag.type} value: {value!r}")
        if flag.choices and value not in flag.choices:
            listed = ", ".join(repr(c) for c in flag.choices)
            self.fail(f"argument {names}: invalid choice: {value!r} (choose from {listed})")
        return value

    def usage(self) -> str:
        """The usage text, one flag a line."""
        lines = [f"usage: {self.program} [-h]"]
        pad = " " * (len("usage: ") + len(self.program) + 1)
        for flag in sorted(set(self.table.values())):
            operand = "" if flag.kind in ("switch", "pair") else " " + flag.name.upper().replace("-", "_")
            lines.append(f"{pad}[{flag.spellings[0]}{operand}]")
        return "\n".join(lines)

    def help(self) -> str:
        """What --help prints: a paragraph for each flag, as argparse does."""
        lines = [
            f"usage: {self.program} [-h] ...",
            "",
            "options:",
            "  -h, --help            show this help message and exit",
        ]
        for flag in sorted(set(self.table.values())):
            operand = "" if flag.kind in ("switch", "pair") else " " + flag.name.upper().replace("-", "_")
            if flag.choices:
                operand = " {" + ",".join(flag.choices) + "}"
            lines.append("  " + ", ".join(spelling + operand for spelling in flag.spellings))
            lines.append(" " * 24 + f"Sets {flag.name}.")
        return "\n".join(lines)

    def fail(self, message: str, short: bool = False) -> None:
        """Raise WrongUse with argparse's text."""
        head = self.short_usage() if short and self.short_usage() else self.usage()
        raise WrongUse(
            "{}\n{}: error: {}\n".format(head, self.program.split(" ")[0] if short else self.program, message), 2
        )

    def short_usage(self) -> str:
        """The usage that is printed before an error about unknown words, where it is not the whole one."""
        return ""


class SglangParser(Parser):
    """SGLang 0.5.11: argparse, prints the whole usage."""

    def __init__(self) -> None:
        super().__init__("sglang", "sglang serve", prefixes=True, underscores=False)

    def fail(self, message: str, short: bool = False) -> None:
        raise WrongUse(f"{self.usage()}\n{self.program}: error: {message}\n", 2)


class VllmParser(Parser):
    """vLLM 0.32: argparse with sub-commands; a short usage for unknown words, underscores taken as dashes."""

    def __init__(self) -> None:
        super().__init__("vllm", "vllm serve", prefixes=False, underscores=True)

    def short_usage(self) -> str:
        return (
            "usage: vllm [-h] [-v]\n"
            "            {chat,complete,serve,launch,bench,collect-env,download-kernels,preload,run-batch,snapshot}\n"
            "            ..."
        )


class LlamaParser(Parser):
    """llama-server b11434: no `=`, no prefixes, exit 1."""

    def __init__(self) -> None:
        super().__init__("llama.cpp", "llama-server", prefixes=False, underscores=True)

    def _split(self, word: str) -> tuple[str, str | None]:
        spelling = "--" + word[2:].replace("_", "-") if word.startswith("--") and "=" not in word else word
        return spelling, None

    def read(self, words: list[str]) -> tuple[dict[str, Value], list[str]]:
        for word in words:
            if word.startswith("-") and not _is_number(word) and self._find(self._split(word)[0]) is None:
                raise WrongUse(f"error: invalid argument: {word}\n", 1)
        found, stray = super().read(words)
        if stray:
            raise WrongUse(f"error: invalid argument: {stray[0]}\n", 1)
        return found, stray

    def fail(self, message: str, short: bool = False) -> None:
        argument, _, what = message.partition(": ")
        name = argument.replace("argument ", "").split("/")[0]
        reason = "expected value for argument" if "expected" in what else "stoi"
        usage = f"\n\nusage:\n{name}\n\n\nto show complete usage, run with -h\n"
        raise WrongUse(f'error while handling argument "{name}": {reason}{usage}', 1)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
