"""The configs of a comparison: each side is read by itself, the second may leave out what the first one said."""

from dataclasses import replace

from bot.core.catalog.index import CatalogIndex
from bot.core.catalog.resolve import by_names, narrowed
from bot.core.domain.command import Command, ThreadContext
from bot.core.language import lexicon as lex
from bot.core.language.slots import Slots
from bot.core.language.vocabulary import Vocabulary

Side = tuple[tuple[str, ...], ...]
Ids = frozenset[int]
_CUTS = lex.words("and vs versus with to against or than from between , &")
#: a name of so many atoms is a whole one: "diff a-b-c d-e-f" has two sides without a word between
_WHOLE = 3


def compared(command: Command, found: Slots, vocabulary: Vocabulary, context: ThreadContext | None) -> Command:
    """The command with the configs that its sides mean."""
    index = vocabulary.index
    sides = _sides(found)
    chosen = _choose(command, sides, index, context)
    if context and context.config and len(chosen) == 1 and found.pronoun and context.config not in chosen:
        chosen.insert(0, context.config)
    numbers = [index.numbers[c] for c in chosen if c in index.numbers]
    ids = frozenset(numbers) or by_names(command, index)
    models = tuple(dict.fromkeys(index.models[i] for i in sorted(ids)))
    hosts = {index.hosts[i] for i in ids}
    return replace(
        command,
        configs=tuple(dict.fromkeys(chosen)),
        models=models[:8],
        model=models[0] if len(models) == 1 else None,
        host=command.host or (next(iter(hosts)) if len(hosts) == 1 else None),
        config=chosen[0] if len(chosen) == 1 else None,
    )


def _choose(command: Command, sides: list[Side], index: CatalogIndex, context: ThreadContext | None) -> list[str]:
    chosen: list[str] = []
    previous: Ids = frozenset()
    for side in sides:
        probe = replace(command, names=side, without=(), reference=None, config=None)
        if not (ids := by_names(probe, index)):
            continue
        ids, _ = narrowed(probe, index, ids, context=context, now=None)
        ids = previous = _like(index, ids, previous)
        if len(ids) == 1:
            chosen.append(index.configs[min(ids)].name)
    if len(chosen) == 1 and len(sides) > 1:
        return _beside_clear(command, sides, chosen, index)
    return chosen


def _like(index: CatalogIndex, ids: Ids, others: Ids) -> Ids:
    """Those of the same models and hosts as `others`, where that leaves any."""
    if len(ids) < 2 or not others:
        return ids
    models, hosts = {index.models[i] for i in others}, {index.hosts[i] for i in others}
    ids = frozenset(i for i in ids if index.models[i] in models) or ids
    return frozenset(i for i in ids if index.hosts[i] in hosts) or ids


def _beside_clear(command: Command, sides: list[Side], chosen: list[str], index: CatalogIndex) -> list[str]:
    """A side that fitted several is read beside the one that is clear."""
    clear = index.numbers[chosen[0]]
    found: list[str] = []
    for side in sides:
        ids = by_names(replace(command, names=side, without=(), reference=None), index)
        near = _like(index, ids, frozenset({clear}))
        near = near - {clear} if len(near) > 1 else near
        if len(near) == 1:
            found.append(index.configs[min(near)].name)
    return list(dict.fromkeys(found)) if len(set(found)) > 1 else chosen


def _sides(found: Slots) -> list[Side]:
    """Names grouped between "and", "vs", "with", "to" and commas."""
    sides: list[list[tuple[str, ...]]] = [[]]
    last = 0
    for hit in found.names.positive:
        cut = {t.text for t in found.tokens[last : hit.start]} & _CUTS
        whole = hit.start == last and len(hit.words) >= _WHOLE
        if sides[-1] and (cut or whole):
            sides.append([])
        sides[-1].append(hit.words)
        last = hit.end
    return [tuple(s) for s in sides if s]
