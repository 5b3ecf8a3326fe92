"""Values of settings that are said by what they were: "double the context" of a config that has 32768 is 65536."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.core.catalog.index import CatalogIndex
from bot.core.catalog.proven import best_revision
from bot.core.domain.catalog import Revision
from bot.core.domain.command import Command, Intent, Question, Relative, ThreadContext
from bot.core.domain.engine import Engine

#: neutral name -> least and greatest value
_RANGES: Mapping[str, tuple[float, float]] = {
    "context_length": (256, 2**24), "memory_fraction": (0.05, 1.0), "speculative_steps": (1, 64),
    "speculative_draft_tokens": (1, 256), "speculative_topk": (1, 64), "max_running_requests": (1, 65536),
    "tensor_parallel": (1, 64), "data_parallel": (1, 64),
}  # fmt: skip


def settle(
    command: Command, index: CatalogIndex, engines: Mapping[str, Engine], context: ThreadContext | None
) -> Command:
    """The command with the values of its relative settings, once its config is known; else unchanged. A value that
    cannot be told becomes a question: "no_base" where the config does not set it, "bad_value" out of its range."""
    number = index.numbers.get(command.config or "")
    if not command.relative or number is None:
        return command
    revision = base_revision(command, index, number, context)
    engine = engines.get(revision.engine)
    if engine is None:
        return _asking(command, command.relative[0], "no_base")
    words = tuple(w if isinstance(w, str) else "secret" for w in revision.argv)
    known = engine.flags_to_overrides(engine.parse(words).flags)
    values: dict[str, Any] = {}
    for change in command.relative:
        base = known.get(change.name)
        if not isinstance(base, int | float) or isinstance(base, bool):
            return _asking(command, change, "no_base")
        value = _value(change, base)
        if value is None:
            return _asking(command, change, "bad_value")
        values[change.name] = value
    return replace(command, overrides={**command.overrides, **values})


def base_revision(command: Command, index: CatalogIndex, number: int, context: ThreadContext | None) -> Revision:
    """The revision that a change starts from: of the thread's launch, else of the one that runs, else the one that a
    start would take."""
    config = index.configs[number]
    launches = index.launches.get(config.name, ())
    known = {revision.id: revision for revision in config.revisions}
    own = [r for r in launches if context is not None and r.number == context.launch_number]
    running = [r for r in launches if r.ended_at is None and command.host in (None, r.host)]
    if command.intent is Intent.START:
        running = []
    for record in (*own, *running[-1:]):
        if record.revision in known:
            return known[record.revision]
    return best_revision(config, launches)


def _value(change: Relative, base: int | float) -> int | float | None:
    value = round(base * change.factor + change.add, 6)
    low, high = _RANGES.get(change.name, (0, float("inf")))
    if not low <= value <= high:
        return None
    if isinstance(base, float):
        return value
    return int(value) if float(value).is_integer() else None


def _asking(command: Command, change: Relative, code: str) -> Command:
    if command.ask:
        return command
    values = {"name": change.name.replace("_", " "), "words": change.words}
    return replace(command, ask=True, question=Question(code=code, values=values))
