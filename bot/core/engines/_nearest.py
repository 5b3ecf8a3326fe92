"""Right spellings for a wrong flag."""

from collections.abc import Mapping

from rapidfuzz import fuzz, process
from rapidfuzz.distance import DamerauLevenshtein

from bot.core.engines._argv import FlagIndex
from bot.core.engines._versions import has

#: a spelling less alike than this is no offer
_ENOUGH = 72.0


def nearest_flags(
    index: FlagIndex, flag: str, *, version: str | None, renamed: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """At most three spellings with dashes, best first: what the flag was renamed to, then what looks like it."""
    typed = flag.split("=", 1)[0].lstrip("-").replace("_", "-")
    offered = ["--" + name for name in renamed.get(typed, ()) if has(index.by_name.get(name), version) is not False]
    candidates = {name: name for name, one in index.by_name.items() if name != typed and has(one, version) is not False}
    scored = process.extract(typed, candidates, scorer=_alike, limit=4, score_cutoff=_ENOUGH)
    offered += ["--" + name for name, _, _ in scored]
    return tuple(dict.fromkeys(offered))[:3]


def _alike(a: str, b: str, *, score_cutoff: float | None = None) -> float:
    """0 to 100: a slip of the fingers, or the same words in another order."""
    letters = 100 * DamerauLevenshtein.normalized_similarity(a, b)
    words = fuzz.token_sort_ratio(a.replace("-", " "), b.replace("-", " "))
    return max(letters, words)
