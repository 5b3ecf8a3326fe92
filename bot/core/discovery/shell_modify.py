"""What `${NAME…}` does to a value: slices, trims, replaces, changes case; glob patterns as regular expressions."""

import re
from fnmatch import translate as glob_regex
from typing import TYPE_CHECKING

from bot.core.discovery.shell_dialect import SH
from bot.core.discovery.shell_state import (
    VALUE_LIMIT,
    basename,
    directory,
    has_unknown,
    is_unset,
    join_path,
    known,
    unknown,
)
from bot.core.discovery.shell_syntax import Parameter, Text, Word

if TYPE_CHECKING:
    from bot.core.discovery.shell_expand import Expander

#: longest value whose ends are matched
_TRIM_LIMIT = 5000


def modified(expander: "Expander", part: Parameter, values: list[str]) -> list[str]:
    if part.operator == "length":
        whole = is_list(part) or part.name in ("@", "*")
        return [str(len(values))] if whole else [str(len(known(values[0]) or "") if values else 0)]
    if part.operator == ":" and (is_list(part) or part.name == "*"):
        return _sliced(expander, part, values)
    changed: list[str] = []
    size = 0
    for value in values:
        changed.append(_modify(expander, part, value))
        size += len(changed[-1])
        if size > VALUE_LIMIT:
            break
    return changed


def _modify(expander: "Expander", part: Parameter, value: str) -> str:
    operator, argument = part.operator, part.argument or Word(())
    if operator in (":?", "?", "@"):
        return value
    if has_unknown(value):
        return unknown(part.source)
    if is_unset(value):
        return value
    value = known(value) or ""
    if operator in ("^", "^^", ",", ",,"):
        changed = value.upper() if operator[0] == "^" else value.lower()
        return changed if len(operator) == 2 else changed[:1] + value[1:]
    if operator == ":":
        return _slice(expander, part, value, argument)
    if operator in ("#", "##", "%", "%%"):
        return _trimmed(expander, part, value, operator, argument)
    return _replaced(expander, part, value, operator, argument)


def _sliced(expander: "Expander", part: Parameter, values: list[str]) -> list[str]:
    """`${A[@]:START:COUNT}`; the positional parameters count from 1, what stands at 0 is the script."""
    bounds = _bounds(expander, part)
    if bounds is None:
        return [unknown(part.source)] if values else []
    if part.name in ("@", "*") and expander.scope.dialect == SH:
        values = [expander.scope.script or "bash", *values]
    start, *rest = bounds
    if start < 0 and -start > len(values):
        return []
    tail = values[start:]
    return tail[: max(rest[0], 0)] if rest else tail


def _bounds(expander: "Expander", part: Parameter) -> list[int] | None:
    text = known(expander.text(part.argument or Word(())))
    if text is None:
        return None
    bounds = [expander.arithmetic(bound) if bound.strip() else 0 for bound in text.split(":", 1)]
    return None if None in bounds else [bound or 0 for bound in bounds]


def _slice(expander: "Expander", part: Parameter, value: str, argument: Word) -> str:
    text = known(expander.text(argument))
    if text is None:
        return unknown(part.source)
    if re.fullmatch(r"[aAPhtre](:[aAPhtre])*", text):
        return _zsh_modified(expander, value, text.split(":"))
    bounds = _bounds(expander, part)
    if bounds is None:
        return unknown(part.source)
    start, *rest = bounds
    tail = value[start:] if start >= 0 else value[max(len(value) + start, 0) :]
    if not rest:
        return tail
    return tail[: rest[0]] if rest[0] >= 0 else tail[: max(len(tail) + rest[0], 0)]


def _zsh_modified(expander: "Expander", value: str, modifiers: list[str]) -> str:
    for modifier in modifiers:
        if modifier in ("a", "A", "P"):
            value = join_path(expander.scope.cwd, value) or value
        elif modifier == "h":
            value = directory(value)
        elif modifier == "t":
            value = basename(value)
        elif modifier == "r":
            value = re.sub(r"\.[^./]*$", "", value)
        else:
            value = value.rpartition(".")[2]
    return value


def _trimmed(expander: "Expander", part: Parameter, value: str, operator: str, argument: Word) -> str:
    expression = expander.pattern(argument)
    if expression is None:
        return unknown(part.source)
    if len(value) > _TRIM_LIMIT:
        return unknown(part.source)
    pattern = re.compile(expression)
    positions = range(len(value) + 1)
    prefix = operator[0] == "#"
    longest = len(operator) == 2
    for position in positions if prefix != longest else reversed(positions):
        candidate = value[:position] if prefix else value[position:]
        if pattern.match(candidate):
            return value[position:] if prefix else value[:position]
    return value


def _replaced(expander: "Expander", part: Parameter, value: str, operator: str, argument: Word) -> str:
    old, new = _halves(argument)
    expression = expander.pattern(old)
    replacement = expander.text(new)
    if expression is None or len(value) > 5000 or len(value) * len(replacement) > VALUE_LIMIT:
        return unknown(part.source)
    core = _core(expression)
    if operator == "/#":
        core = r"\A" + core
    elif operator == "/%":
        core += r"\Z"
    return re.sub(core, lambda _: replacement, value, count=0 if operator == "//" else 1)


def extended_glob(pattern: str) -> str:
    """A glob as a regular expression, with @(a|b), ?(…), *(…) and +(…)."""
    alternatives = re.search(r"([@?*+])\(([^()]*)\)", pattern)
    if alternatives is None:
        return glob_regex(pattern)
    start, end = pattern[: alternatives.start()], pattern[alternatives.end() :]
    inner = "|".join(_core(glob_regex(one)) for one in alternatives[2].split("|"))
    # what repeats is not given back: such patterns end
    many = {"@": "", "?": "?"}.get(alternatives[1], alternatives[1] + "+")
    return rf"(?s:{_core(glob_regex(start))}(?:{inner}){many}{_core(extended_glob(end))})\Z"


def _core(expression: str) -> str:
    return re.sub(r"^\(\?s:(.*)\)\\[zZ]$", r"(?s:\1)", expression, flags=re.DOTALL)


def _halves(argument: Word) -> tuple[Word, Word]:
    """PATTERN/REPLACEMENT at the first slash that is not quoted."""
    for number, part in enumerate(argument.parts):
        if isinstance(part, Text) and "/" in part.text and not part.quoted:
            before, _, after = part.text.partition("/")
            head = (*argument.parts[:number], Text(before, part.quoted))
            return Word(head), Word((Text(after, part.quoted), *argument.parts[number + 1 :]))
        if isinstance(part, Text) and part.quoted and "/" in part.text and len(argument.parts) == 1:
            before, _, after = part.text.partition("/")
            return Word((Text(before),)), Word((Text(after, True),))
    return argument, Word(())


def is_list(part: Parameter) -> bool:
    """Whether a parameter stands for all elements, each a field of its own where quoted."""
    index = part.index.plain if part.index else None
    return part.name == "@" or index == "@"
