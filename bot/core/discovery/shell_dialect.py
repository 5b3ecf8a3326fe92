"""Where zsh and fish differ from sh in what a variable stands for: `$A` of a list is all of its elements, what is not
quoted is not split, `$A[2]` needs no braces and counts from 1."""

from bot.core.discovery.shell_syntax import Parameter, Part, Text, Word

SH, ZSH, FISH = "sh", "zsh", "fish"


def subscripted(word: Word) -> tuple[Part, ...]:
    """The parts of a word with `$A[i]` as one parameter."""
    parts = list(word.parts)
    out: list[Part] = []
    while parts:
        part = parts.pop(0)
        following = parts[0] if parts else None
        plain = isinstance(part, Parameter) and not part.operator and part.index is None and "{" not in part.source
        if not (plain and isinstance(following, Text) and following.text.startswith("[")):
            out.append(part)
            continue
        end = next((n for n, one in enumerate(parts) if isinstance(one, Text) and "]" in one.text), None)
        last = parts[end] if end is not None else None
        if end is None or not isinstance(last, Text) or not isinstance(part, Parameter):
            out.append(part)
            continue
        inner: list[Part] = [*parts[:end], Text(last.text.partition("]")[0], last.quoted)]
        inner[0] = Text(inner[0].text[1:] if isinstance(inner[0], Text) else "", following.quoted)
        out.append(Parameter(part.name, part.source, part.quoted, index=Word(tuple(inner))))
        rest = Text(last.text.partition("]")[2], last.quoted)
        parts[: end + 1] = [rest] if rest.text else []
    return tuple(out)
