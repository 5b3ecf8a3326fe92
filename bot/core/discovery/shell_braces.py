"""Brace expansion: a{b,c} and {0..3}."""

import re

from bot.core.discovery.shell_syntax import Part, Text, Word

_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)(?:\.\.(-?\d+))?|([A-Za-z])\.\.([A-Za-z])")


def braces(word: Word) -> list[Word]:
    """The words that a word with unquoted braces stands for."""
    if not any(isinstance(part, Text) and not part.quoted and "{" in part.text for part in word.parts):
        return [word]
    atoms: list[str | Part] = []
    for part in word.parts:
        atoms.extend(part.text) if isinstance(part, Text) and not part.quoted else atoms.append(part)
    done = [_word_of(expanded) for expanded in _expand_atoms(atoms, 0)]
    return done or [word]


def _expand_atoms(atoms: list[str | Part], depth: int) -> list[list[str | Part]]:
    for start, atom in enumerate(atoms):
        if atom != "{" or (start and atoms[start - 1] == "$"):
            continue
        found = _alternatives(atoms, start)
        if found is None or depth > 8:
            continue
        end, alternatives = found
        tails = _expand_atoms(atoms[end:], depth + 1)
        heads = [one for alternative in alternatives for one in _expand_atoms(alternative, depth + 1)]
        if len(heads) * len(tails) > 200:
            return [atoms]
        return [[*atoms[:start], *head, *tail] for head in heads for tail in tails]
    return [atoms]


def _alternatives(atoms: list[str | Part], start: int) -> tuple[int, list[list[str | Part]]] | None:
    """(position behind `}`, alternatives) of the braces that open at `start`, or None when they are plain text."""
    depth = 0
    pieces: list[list[str | Part]] = [[]]
    for position in range(start + 1, len(atoms)):
        atom = atoms[position]
        if atom == "}" and depth == 0:
            if len(pieces) > 1:
                return position + 1, pieces
            text = "".join(a for a in pieces[0] if isinstance(a, str))
            numbers = _range(text) if len(text) == len(pieces[0]) else None
            return (position + 1, [list(number) for number in numbers]) if numbers else None
        if atom == "," and depth == 0:
            pieces.append([])
            continue
        depth += (atom == "{") - (atom == "}")
        pieces[-1].append(atom)
    return None


def _range(text: str) -> list[str] | None:
    match = _RANGE.fullmatch(text)
    if match is None:
        return None
    if match[4]:
        first, last = ord(match[4]), ord(match[5])
    else:
        first, last = int(match[1][:9]), int(match[2][:9])
    step = abs(int(match[3][:9])) if match[3] else 1
    numbers = list(range(first, last + 1, step or 1) if first <= last else range(first, last - 1, -(step or 1)))[:200]
    width = len(match[1]) if match[1] and re.match(r"-?0\d", match[1]) else 0
    return [chr(n) if match[4] else str(n).zfill(width) for n in numbers]


def _word_of(atoms: list[str | Part]) -> Word:
    parts: list[Part] = []
    for atom in atoms:
        if not isinstance(atom, str):
            parts.append(atom)
        elif parts and isinstance(parts[-1], Text) and not parts[-1].quoted:
            parts[-1] = Text(parts[-1].text + atom)
        else:
            parts.append(Text(atom))
    return Word(tuple(parts))
