"""Which config a command means. One clear winner is Resolved; two are Ambiguous, best proven first."""

import heapq
from collections.abc import Iterable
from datetime import datetime

from bot.core.catalog.atoms import parameters_b
from bot.core.catalog.index import CatalogIndex
from bot.core.catalog.nearest import nearest_configs
from bot.core.catalog.proven import best_revision, decode_tok_s
from bot.core.catalog.references import narrow
from bot.core.domain.catalog import Catalog
from bot.core.domain.command import Command, Intent, Reason, ThreadContext
from bot.core.domain.host import Inventory
from bot.core.domain.resolution import Ambiguous, Candidate, NotFound, Resolution, Resolved

Ids = frozenset[int]
#: candidates of an Ambiguous that are told in full; `count` says how many there are
MOST_SHOWN = 20


def resolve(
    command: Command,
    catalog: Catalog,
    inventory: Inventory,
    *,
    index: CatalogIndex | None = None,
    context: ThreadContext | None = None,
    now: datetime | None = None,
    limit: int = MOST_SHOWN,
) -> Resolution:
    """Match a command with the catalog. `index` spares building one; `now` is for "yesterday"; `limit`: how many
    candidates of an Ambiguous are told in full."""
    index = index or CatalogIndex.of(catalog)
    if command.config is not None:
        return _by_config(command, index)
    named = by_names(command, index)
    if not named:
        return NotFound(code="no_match", nearest=nearest_configs(index, command, candidate))
    ids, reasons = narrowed(command, index, named, context=context, now=now)
    if command.reference is not None and len(ids) > 1 and not _anchored(command, reasons):
        return NotFound(code="no_reference", nearest=ranked(index, ids)[:5], reasons=reasons)
    if len(ids) == 1:
        found = candidate(index, next(iter(ids)))
        return Resolved(candidate=found, host=command.host or found.host, reasons=reasons)
    return Ambiguous(candidates=ranked(index, ids, limit), count=len(ids), reasons=reasons)


def by_names(command: Command, index: CatalogIndex) -> Ids:
    """Configs that have every word of the command, and none of those it excludes."""
    ids = index.all()
    for words in command.names:
        ids &= index.lookup(words)
    if command.engine:
        ids = frozenset(i for i in ids if index.engine_of[i] == command.engine)
    for word in command.without:
        ids = _without(index, ids, word)
    if command.speculative is False:
        ids -= index.speculative
    elif command.speculative is True:
        ids &= index.speculative
    return ids


def _without(index: CatalogIndex, ids: Ids, word: str) -> Ids:
    """Configs tagged "no <word>" when there are any, else those that lack the word. A word for a way of speculating
    also leaves out every other way of it, when a config without speculation is there."""
    said = ids & index.negative.get(word, frozenset())
    if said:
        return said
    having = index.words.get(word, frozenset())
    ids -= having
    if having and having <= index.speculative and (plain := ids - index.speculative):
        return plain
    return ids


def narrowed(
    command: Command,
    index: CatalogIndex,
    ids: Ids,
    *,
    context: ThreadContext | None,
    now: datetime | None,
) -> tuple[Ids, tuple[Reason, ...]]:
    """Narrow by host, size, whole name, reference and thread; a filter that would leave none is skipped."""
    reasons: list[Reason] = []
    host = command.host
    if host is not None and (here := ids & index.by_host.get(host, frozenset())):
        ids = here
    if command.size:
        ids = _by_size(index, ids, command.size)
        reasons.append(Reason(slot="model", value=command.size, how="size"))
    if len(ids) > 1 and (whole := _whole_names(command, index, ids)):
        ids = whole
        reasons.append(Reason(slot="config", value=index.configs[min(ids)].name, how="whole name"))
    if command.reference is not None and (picked := narrow(index, ids, command.reference, host, now)):
        ids = picked[0]
        reasons.append(picked[1])
    if len(ids) > 1 and context is not None:
        ids = _by_thread(command, index, ids, context, reasons)
    if len(ids) == 1 and not reasons:
        reasons.append(Reason(slot="config", value=index.configs[min(ids)].name, how="only one"))
    return ids, tuple(reasons)


def _by_size(index: CatalogIndex, ids: Ids, size: str) -> Ids:
    sizes = {i: b for i in ids if (b := parameters_b(index.models[i])) is not None}
    if not sizes:
        return ids
    best = (min if size == "small" else max)(sizes.values())
    return frozenset(i for i, b in sizes.items() if b == best)


def _whole_names(command: Command, index: CatalogIndex, ids: Ids) -> Ids:
    """Configs whose whole name or alias was said, in one piece or as all the words together."""
    pieces = [*command.names, tuple(word for words in command.names for word in words)]
    found = [index.exact[p] & ids for p in pieces if p in index.exact]
    found = [f for f in found if f]
    return frozenset.intersection(*found) if found else frozenset()


def _by_thread(command: Command, index: CatalogIndex, ids: Ids, context: ThreadContext, reasons: list[Reason]) -> Ids:
    """Prefer the thread's own config, else its model and host, unless another host was said."""
    own = index.numbers.get(context.config or "")
    if own is None or (command.host is not None and command.host != context.host):
        return ids
    before = ids
    if own in ids and (command.intent is not Intent.START or not command.names):
        ids = frozenset({own})
    else:
        ids = ids & index.by_model.get(index.models[own], frozenset()) or ids
        if context.host and len(ids) > 1:
            ids = ids & index.by_host.get(context.host, frozenset()) or ids
    if ids != before:
        reasons.append(Reason(slot="config", value=context.config or "", how="thread"))
    return ids


def _anchored(command: Command, reasons: Iterable[Reason]) -> bool:
    return any(r.how == "reference" for r in reasons)


def _by_config(command: Command, index: CatalogIndex) -> Resolution:
    number = index.numbers.get(command.config or "")
    if number is None:
        return NotFound(code="no_match", nearest=nearest_configs(index, command, candidate))
    found = candidate(index, number)
    reason = Reason(slot="config", value=found.config, how="named")
    return Resolved(candidate=found, host=command.host or found.host, reasons=(reason,))


def candidate(index: CatalogIndex, number: int) -> Candidate:
    """A config as a candidate."""
    config = index.configs[number]
    launches = index.launches.get(config.name, ())
    newest = max(launches, key=lambda r: r.started_at, default=None)
    return Candidate(
        config=config.name,
        host=config.host,
        model=index.models[number],
        revision=best_revision(config, launches).id,
        decode_tok_s=decode_tok_s(config, launches),
        last_state=newest.state if newest else None,
        last_number=newest.number if newest else None,
        launches=len(launches),
    )


def ranked_names(index: CatalogIndex, ids: Iterable[int], limit: int = 5) -> tuple[str, ...]:
    """Names of the best proven configs, best first."""
    return tuple(index.configs[i].name for i in heapq.nsmallest(limit, ids, key=index.order.__getitem__))


def ranked(index: CatalogIndex, ids: Iterable[int], limit: int = MOST_SHOWN) -> tuple[Candidate, ...]:
    """At most `limit` candidates, best proven first, then by name."""
    best = heapq.nsmallest(limit, ids, key=index.order.__getitem__)
    return tuple(candidate(index, i) for i in best)
