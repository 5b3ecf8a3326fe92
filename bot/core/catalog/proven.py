"""How well a config is proven by its launches, and where a revision comes from."""

from collections.abc import Sequence
from datetime import UTC, datetime

from bot.core.domain.catalog import LaunchConfig, LaunchRecord, Revision
from bot.core.domain.launch import LaunchState

_NEVER = datetime.min.replace(tzinfo=UTC)
#: reached ready at some time; a stop later takes nothing from that
_BAD = frozenset({LaunchState.FAILED, LaunchState.LOST, LaunchState.CANCELLED})


def was_ready(record: LaunchRecord) -> bool:
    """Whether this launch ever served."""
    return record.state == LaunchState.READY or record.ready_after_s is not None


def rank_key(config: LaunchConfig, launches: Sequence[LaunchRecord]) -> tuple[int, datetime, float]:
    """Greater is better proven: was ready more often than it failed, recent, measured."""
    ready = [r for r in launches if was_ready(r)]
    failed = sum(1 for r in launches if r.state in _BAD and not was_ready(r))
    level = 2 if ready and failed < len(ready) else 1 if ready else 0 if failed == 0 else -1
    recent = max((r.started_at for r in ready), default=_NEVER)
    return level, recent, decode_tok_s(config, launches) or 0.0


def best_revision(config: LaunchConfig, launches: Sequence[LaunchRecord]) -> Revision:
    """What the name means: the pinned revision; else of the saved ones the one that was ready last, else the newest."""
    saved = {r.id: r for r in config.saved}
    ready = [r for r in launches if was_ready(r) and r.revision in saved]
    newest = max(ready, key=lambda r: r.started_at, default=None)
    return saved[newest.revision] if newest else config.latest


def of_revision(revision: Revision, launches: Sequence[LaunchRecord]) -> tuple[LaunchRecord, ...]:
    """Launches of exactly this revision."""
    return tuple(r for r in launches if r.revision == revision.id)


def decode_tok_s(config: LaunchConfig, launches: Sequence[LaunchRecord]) -> float | None:
    """Measured speed: of the newest measured launch of what the name means, else what the catalog says."""
    measured = [r for r in launches if r.decode_tok_s is not None]
    if measured:  # a revision's id is a hash: not for thousands that were never measured
        measured = list(of_revision(best_revision(config, launches), measured))
    newest = max(measured, key=lambda r: r.started_at, default=None)
    if newest is not None:
        return newest.decode_tok_s
    return config.measured.decode_tok_s if config.measured else None


def speeds(config: LaunchConfig, launches: Sequence[LaunchRecord]) -> tuple[float, ...]:
    """Every speed that this config is known for, tok/s."""
    found = [r.decode_tok_s for r in launches if r.decode_tok_s is not None]
    if config.measured and config.measured.decode_tok_s is not None:
        found.append(config.measured.decode_tok_s)
    return tuple(found)


def lineage(config: LaunchConfig, revision: str) -> tuple[Revision, ...]:
    """A revision and its ancestors within the config, newest first; ends where a parent is missing or comes again."""
    known = {r.id: r for r in config.revisions}
    chain: list[Revision] = []
    at: str | None = revision
    while at in known and known[at] not in chain:
        chain.append(known[at])
        at = known[at].parent
    return tuple(chain)
