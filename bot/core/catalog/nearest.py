"""Known names near an unknown one. Offered, never taken: another number is another name."""

from collections.abc import Callable, Iterable, Mapping

from rapidfuzz import fuzz, process

from bot.core.catalog.atoms import atoms
from bot.core.catalog.index import CatalogIndex
from bot.core.domain.command import Command
from bot.core.domain.resolution import Candidate

_LEAST_LIKENESS = 45.0


def spellings(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Names by what they may be told from: the whole name and its first word, in lower case."""
    found: dict[str, list[str]] = {}
    for name in names:
        for key in dict.fromkeys((name.lower(), *atoms(name)[:1])):
            found.setdefault(key, []).append(name)
    return {key: tuple(dict.fromkeys(several)) for key, several in found.items()}


def nearest_names(name: str, known: Mapping[str, tuple[str, ...]], limit: int = 3) -> tuple[str, ...]:
    """At most `limit` known names, most alike first. `known` as `spellings` gives it."""
    found = process.extract(name.lower(), known.keys(), scorer=fuzz.ratio, score_cutoff=_LEAST_LIKENESS, limit=limit)
    names = dict.fromkeys(one for match, _, _ in found for one in known[match][:limit])
    return tuple(names)[:limit]


def nearest_configs(
    index: CatalogIndex, command: Command, candidate: Callable[[CatalogIndex, int], Candidate], limit: int = 5
) -> tuple[Candidate, ...]:
    """Configs that have most of the command's words; those of its host first."""
    score: dict[int, float] = {}
    for words in command.names:
        for number in index.lookup(words):
            score[number] = score.get(number, 0.0) + len(words)
    if command.host:
        for number in index.by_host.get(command.host, ()):
            score[number] = score.get(number, 0.0) + 0.5
    best = sorted(score, key=lambda i: (-score[i], index.configs[i].name))[:limit]
    return tuple(candidate(index, i) for i in best)
