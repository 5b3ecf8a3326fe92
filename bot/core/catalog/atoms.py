"""Names as atoms: "Qwen3.6-27B" is ("qwen", "3.6", "27b"). Names and what people type are split alike."""

import re
from functools import lru_cache

_ATOM = re.compile(r"\d+(?:\.\d+)*[a-z]*|[a-z]+")
_WIDE = re.compile(r"[^a-z0-9]+")
_PRECISIONS = frozenset({"q", "iq", "w"})
_SIZE = re.compile(r"(\d+(?:\.\d+)?)b")


@lru_cache(maxsize=65536)
def atoms(text: str) -> tuple[str, ...]:
    """Letters, and numbers with the unit behind them; everything else separates."""
    return tuple(_ATOM.findall(text.lower()))


def compact(text: str) -> str:
    """Letters and digits only, lower case: "gpu-lab-03" is "gpulab03"."""
    return _WIDE.sub("", text.lower())


def number_keys(atom: str) -> tuple[str, ...]:
    """Shorter ways to say a number atom: "27b" by "27", "3.6" by "3". Another number is never among them."""
    if not atom[0].isdigit():
        return ()
    if match := _SIZE.fullmatch(atom):
        return (match.group(1),)
    head, dot, _ = atom.partition(".")
    return (head,) if dot else ()


def word_keys(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Atoms by which a name is found: the 4 of "q4" or "w4a16" is a precision, never the 4 of "qwen 4"."""
    keys: list[str] = []
    for part in parts:
        if keys and keys[-1] in _PRECISIONS and part[0].isdigit():
            keys[-1] += part
        else:
            keys.append(part)
    return tuple(keys)


def parameters_b(model: str) -> float | None:
    """Billions of parameters in a model's name: its greatest number with a "b" behind it."""
    sizes = [float(m.group(1)) for a in atoms(model) if (m := _SIZE.fullmatch(a))]
    return max(sizes, default=None)
