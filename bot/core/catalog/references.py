"""Configs named by their past: "same as last time", "the 70 tok/s one", "launch 12"."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from bot.core.catalog.index import CatalogIndex
from bot.core.catalog.proven import decode_tok_s, speeds, was_ready
from bot.core.domain.catalog import LaunchRecord
from bot.core.domain.command import Reason, Reference

#: two speeds are the same when they differ by less than this, since people round
_SAME_SPEED = 0.03

Picked = tuple[frozenset[int], Reason]


def narrow(
    index: CatalogIndex, among: frozenset[int], reference: Reference, host: str | None, now: datetime | None
) -> Picked | None:
    """Configs among `among` that the reference means, with the reason; None when the history does not say.

    `now` is needed for "yesterday" only."""
    if reference.kind in ("speed", "fastest", "slowest"):
        return _by_speed(index, among, reference)
    if reference.kind == "baseline":
        pinned = frozenset(i for i in among if index.configs[i].pinned)
        return (pinned, _reason(reference, "pinned as baseline")) if pinned else None
    if reference.kind == "launch":
        record = launch_meant(reference, (r for c in index.launches.values() for r in c), now)
    else:
        record = launch_meant(reference, _records(index, among, host), now)
    number = index.numbers.get(record.config) if record else None
    if record is None or number is None:
        return None
    return frozenset({number}), _reason(reference, f"launch #{record.number} of {record.started_at:%Y-%m-%d %H:%M}")


def launch_meant(reference: Reference, records: Iterable[LaunchRecord], now: datetime | None) -> LaunchRecord | None:
    """The launch among `records` that a reference names: its number, or its place in time. None for other kinds."""
    ordered = sorted(records, key=lambda r: r.started_at)
    if reference.kind == "launch":
        ordered = [r for r in ordered if r.number == reference.value]
    elif reference.kind in _HISTORY:
        ordered = _HISTORY[reference.kind]([r for r in ordered if was_ready(r)], now)
    else:
        return None
    return ordered[-1] if ordered else None


def _records(index: CatalogIndex, among: Iterable[int], host: str | None) -> list[LaunchRecord]:
    found = [r for i in among for r in index.launches.get(index.configs[i].name, ())]
    here = [r for r in found if host is None or r.host == host]
    return here or found


def _reason(reference: Reference, how: str) -> Reason:
    return Reason(slot="config", value=how, how="reference", words=reference.words)


def _by_speed(index: CatalogIndex, among: frozenset[int], reference: Reference) -> Picked | None:
    known = {i: speeds(index.configs[i], index.launches.get(index.configs[i].name, ())) for i in among}
    known = {i: s for i, s in known.items() if s}
    if not known:
        return None
    if reference.kind == "speed" and reference.value:
        want = reference.value
        gap = {i: min(abs(s - want) / want for s in all_speeds) for i, all_speeds in known.items()}
        fit = frozenset(i for i, g in gap.items() if g <= _SAME_SPEED)
        return (fit, _reason(reference, f"measured {want:g} tok/s")) if fit else None
    now = {i: decode_tok_s(index.configs[i], index.launches.get(index.configs[i].name, ())) or 0.0 for i in known}
    best = (max if reference.kind == "fastest" else min)(now.values())
    fit = frozenset(i for i, s in now.items() if s == best)
    return fit, _reason(reference, f"{reference.kind}: {best:g} tok/s")


def _last(records: list[LaunchRecord], now: datetime | None) -> list[LaunchRecord]:
    return records


def _yesterday(records: list[LaunchRecord], now: datetime | None) -> list[LaunchRecord]:
    if now is None:
        return records
    day = (now - timedelta(days=1)).date()
    return [r for r in records if r.started_at.date() <= day and (r.ended_at is None or r.ended_at.date() >= day)]


def _previous(records: list[LaunchRecord], now: datetime | None) -> list[LaunchRecord]:
    """The newest launch of another revision than the newest one."""
    return [r for r in records if r.revision != records[-1].revision]


def _before_upgrade(records: list[LaunchRecord], now: datetime | None) -> list[LaunchRecord]:
    """The newest launch on another engine version than the newest one."""
    known = [r for r in records if r.engine_version]
    return [r for r in known if r.engine_version != known[-1].engine_version]


_HISTORY: dict[str, Callable[[list[LaunchRecord], datetime | None], list[LaunchRecord]]] = {
    "last": _last,
    "yesterday": _yesterday,
    "previous": _previous,
    "before_upgrade": _before_upgrade,
}
