"""Regular expressions of grep and sed (basic, extended) as Python's, and sed's simple programs."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

_CLASSES = {
    "space": r"\s", "blank": r" \t", "digit": "0-9", "alpha": "A-Za-z", "alnum": "A-Za-z0-9", "upper": "A-Z",
    "lower": "a-z", "punct": r"!-/:-@\[-`{-~",
}  # fmt: skip
_BRACKET = re.compile(r"\[(\^?)(\]?(?:\[:\w+:\]|[^\]\[]|\[(?!:))*)\]")
_COUNT = re.compile(r"\{\d{1,3}(?:,\d{0,3})?\\?\}")
#: work that a line may cost: its length to the power of what repeats
_WORK = 5_000_000


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled expression that knows what it costs."""

    compiled: re.Pattern[str]
    repeats: int

    def bearable(self, lines: Sequence[str]) -> bool:
        """Whether matching these lines takes no long time."""
        return all(len(line) ** (self.repeats + 1) < _WORK for line in lines)


def posix_pattern(text: str, *, extended: bool = False, ignore_case: bool = False) -> Pattern | None:
    """The pattern, or None where it holds more than is known here: back references, groups that repeat."""
    out: list[str] = []
    repeats = 0
    position = 0
    while position < len(text):
        taken = _token(text, position, extended=extended, first=not out or out[-1] in ("(", "|", "^"))
        if taken is None:
            return None
        piece, length = taken
        if piece in ("*", "+") or piece[:1] == "{":
            repeats += 1
            if out and out[-1] == ")":
                return None
        out.append(piece)
        position += length
    try:
        return Pattern(re.compile("".join(out), re.IGNORECASE if ignore_case else 0), repeats)
    except re.error:
        return None


def _token(text: str, position: int, *, extended: bool, first: bool) -> tuple[str, int] | None:
    """(what Python writes for it, length) of the next piece."""
    char = text[position]
    escaped = char == "\\"
    char = text[position + 1 : position + 2] if escaped else char
    length = 1 + escaped
    if char == "":
        return None
    if escaped and char in "swSWb":
        return "\\" + char, length
    if escaped and char.isalnum():
        return {"n": ("\\n", length), "t": ("\\t", length)}.get(char)
    if not escaped and char == "[":
        return _bracket(text, position)
    if char == "{" and escaped != extended:
        count = _COUNT.match(text, position + escaped)
        return (count[0].replace("\\", ""), len(count[0]) + escaped) if count else None
    if char in "+?()|" and escaped != extended:
        return char, length
    if not escaped and char == "*":
        return ("\\*" if first else "*"), length
    if not escaped and char in ".^$":
        return char, length
    return re.escape(char), length


def _bracket(text: str, position: int) -> tuple[str, int] | None:
    match = _BRACKET.match(text, position)
    if match is None:
        return None
    inner = match[2].replace("\\", "\\\\")
    inner = "\\]" + inner[1:] if inner.startswith("]") else inner
    inner = re.sub(r"(?<!\\)\[(?!:\w+:\])", r"\\[", inner)
    inner = re.sub(r"\[:(\w+):\]", lambda found: _CLASSES.get(found[1], ""), inner)
    return f"[{match[1]}{inner}]", len(match[0])


Step = Callable[[str], tuple[str, bool, bool]]
"""A line to (the line after, whether it is kept, whether it is printed by the step)."""


def sed_steps(program: str, *, extended: bool) -> Iterator[Step | None]:
    """The commands of a program: `s/A/B/g`, `/A/d`, `/A/!d`, `/A/p`, `Nd`. None for what is not known here."""
    rest = program.strip()
    while rest:
        substitute = re.match(
            r"s([/|,#:@!%])((?:\\.|\[[^\]]*\]|(?!\1).)*)\1((?:\\.|(?!\1).)*)\1([gpI]*)\s*(?:[;\n]\s*|$)", rest
        )
        address = re.match(r"/((?:\\.|\[[^\]]*\]|[^/])*)/\s*(!?)\s*([dp])\s*(?:[;\n]\s*|$)", rest)
        match = substitute or address
        if match is None:
            yield None
            return
        rest = rest[match.end() :]
        yield _substitution(match, extended=extended) if substitute else _addressed(match, extended=extended)


def _substitution(match: re.Match[str], *, extended: bool) -> Step | None:
    delimiter, flags = match[1], match[4]
    pattern = posix_pattern(match[2].replace("\\" + delimiter, delimiter), extended=extended, ignore_case="I" in flags)
    pieces = re.findall(r"\\.|&|[^\\&]+", match[3])
    if pattern is None or any(piece[0] == "\\" and piece[1].isalpha() and piece[1] not in "nt" for piece in pieces):
        return None

    def written(found: re.Match[str]) -> str:
        out = []
        for piece in pieces:
            if piece == "&" or (piece[0] == "\\" and piece[1].isdigit()):
                number = 0 if piece == "&" else int(piece[1])
                out.append(found[number] or "" if number <= found.re.groups else "")
            else:
                out.append({"\\n": "\n", "\\t": "\t"}.get(piece, piece.removeprefix("\\")))
        return "".join(out)

    def step(line: str) -> tuple[str, bool, bool]:
        if not pattern.bearable([line]):
            raise ValueError("a line that takes too long")
        after, count = pattern.compiled.subn(written, line, count=0 if "g" in flags else 1)
        return after, True, "p" in flags and count > 0

    return step


def _addressed(match: re.Match[str], *, extended: bool) -> Step | None:
    pattern = posix_pattern(match[1].replace("\\/", "/"), extended=extended)
    if pattern is None:
        return None
    negated, command = match[2] == "!", match[3]

    def step(line: str) -> tuple[str, bool, bool]:
        if not pattern.bearable([line]):
            raise ValueError("a line that takes too long")
        hit = (pattern.compiled.search(line) is not None) != negated
        return line, not (hit and command == "d"), hit and command == "p"

    return step


def run_sed(lines: Sequence[str], programs: Sequence[str], *, extended: bool, quiet: bool) -> list[str] | None:
    """What sed writes; None where a command is not known here."""
    steps = [step for program in programs for step in sed_steps(program, extended=extended)]
    if not steps or None in steps:
        return None
    out: list[str] = []
    try:
        for line in lines:
            kept = True
            for step in filter(None, steps):
                line, kept, printed = step(line)
                if printed:
                    out.append(line)
                if not kept:
                    break
            if kept and not quiet:
                out.append(line)
    except ValueError:
        return None
    return out
