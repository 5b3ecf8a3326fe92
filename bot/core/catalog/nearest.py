"""Known names near an unknown one. Offered, never taken: another number is another name."""

from collections.abc import Callable, Mapping

from rapidfuzz import fuzz, process

from bot.core.catalog.index import CatalogIndex
from bot.core.domain.command import Command
from bot.core.domain.resolution import Candidate

_LEAST_LIKENESS = 45.0


def nearest_names(name: str, known: Mapping[str, str], limit: int = 3) -> tuple[str, ...]:
    """At most `limit` known names, most alike first. `known`: lower-case name -> name."""
    found = process.extract(name.lower(), known.keys(), scorer=fuzz.ratio, score_cutoff=_LEAST_LIKENESS, limit=limit)
    return tuple(known[match] for match, _, _ in found)


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
