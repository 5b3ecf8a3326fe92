"""Look for launches that others made on a host, read-only, and save those that a person picks."""

import hashlib
import re
from dataclasses import dataclass
from typing import Any

from bot.core.catalog.diff import diff
from bot.core.discovery.artefact import Artefact
from bot.core.discovery.candidate import Candidate, candidate_to_revision
from bot.core.discovery.discover import discover
from bot.core.discovery.scan import SCAN_TEMPLATE, follow_ups, is_complete, parse_scan, scan_command, scan_context
from bot.core.domain.button import ButtonValue
from bot.core.domain.catalog import Catalog, LaunchConfig, Revision
from bot.core.domain.host import Host
from bot.core.domain.message import Message
from bot.core.domain.operation import Actor, AuditEvent
from bot.errors import BadInputError
from bot.workflows.propose import known_host
from bot.workflows.services import Services

_MOST_ROUNDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a scan found, and what it could not look at."""

    candidates: tuple[Candidate, ...]
    unread: tuple[str, ...] = ()


def scan_host(services: Services, host: Host) -> Found:
    """Everything that runs or ran there, as far as units, processes, containers, histories and scripts show it.

    Read-only: one round trip, and at most two more for files that the first ones name."""
    artefacts: tuple[Artefact, ...] = ()
    unread: list[str] = []
    paths: tuple[str, ...] = ()
    for number in range(_MOST_ROUNDS):
        script = services.script(SCAN_TEMPLATE, **scan_context(paths=paths))
        result = services.remote.run(host, scan_command(script))
        if not is_complete(result.stdout):
            unread.append(result.stderr.strip()[-300:] or "the scan was cut short")
        seen = {one.path for one in artefacts}
        artefacts += tuple(one for one in parse_scan(result.stdout) if one.path not in seen)
        paths = tuple(path for path in follow_ups(artefacts, services.engines) if path not in seen)
        if not paths or number == _MOST_ROUNDS - 1:
            break
    found = discover(artefacts, services.clock.now(), engines=services.engines)
    return Found(candidates=found, unread=tuple(unread))


def scan_message(services: Services, name: str, request_id: str) -> Message:
    """Scan a host and say what is new against the catalog."""
    host = known_host(services, name)
    began = services.clock.monotonic_s()
    scanned = scan_host(services, host)
    found = scanned.candidates
    catalog = services.catalog.catalog()
    known = {revision.id for config in catalog.configs.values() for revision in config.revisions}
    rows, same = [], 0
    for candidate in found:
        revision = candidate_to_revision(candidate)
        if revision.id in known:
            same += 1
            continue
        rows.append(_row(services, catalog, name, candidate, revision))
    return Message(
        template="scan",
        context={
            "host": name,
            "took_s": services.clock.monotonic_s() - began,
            "operation": f"scan:{name}",
            "found": rows,
            "known": same,
            "unread": [{"what": "part of the host", "reason": reason} for reason in scanned.unread],
        },
    )


def _row(services: Services, catalog: Catalog, host: str, candidate: Candidate, revision: Revision) -> dict[str, Any]:
    near = nearest_config(catalog, host, candidate)
    lines = diff(near.latest, revision, services.engines) if near else ()
    return {
        "name": proposed_name(candidate, near),
        "engine": candidate.engine,
        "model": candidate.model,
        "port": int(candidate.port) if candidate.port and candidate.port.isdigit() else None,
        "user": candidate.user,
        "running": candidate.status == "running" if candidate.status else None,
        "where": [str(one) for one in candidate.evidence],
        "last_seen_at": candidate.last_seen.isoformat() if candidate.last_seen else None,
        "new": near is None,
        "differences": [{"name": line.name, "old": line.old, "new": line.new} for line in lines],
        "contradictions": [
            f"{one.field}: {one.kept or 'absent'}, but {one.source} says {one.other or 'absent'}"
            for one in candidate.contradictions
        ],
        "extra": {"host": host, "revision": revision.id},
    }


def nearest_config(catalog: Catalog, host: str, candidate: Candidate) -> LaunchConfig | None:
    """A config of the same model on this host, whose difference to the find is worth showing."""
    for config in catalog.configs.values():
        same_model = config.model.rsplit("/", 1)[-1].lower() == candidate.model.rsplit("/", 1)[-1].lower()
        if same_model and config.host == host and config.engine == candidate.engine:
            return config
    return None


def proposed_name(candidate: Candidate, near: LaunchConfig | None) -> str:
    """A name for the find: its unit's or container's, else its model's."""
    if near is not None:
        return near.name
    source = candidate.unit or candidate.container or candidate.model.rstrip("/").rsplit("/", 1)[-1]
    slug = re.sub(r"[^a-z0-9.]+", "-", source.removesuffix(".service").lower()).strip("-.")
    return slug[:60] or "found"


def save_found(services: Services, value: ButtonValue, actor: Actor) -> Message:
    """Save one find, or all of a host ("scan:<host>"), after scanning again: nothing unseen is saved."""
    name = str(value.extra.get("host") or value.operation.removeprefix("scan:"))
    wanted = value.extra.get("revision") if value.action == "save" else None
    host = known_host(services, name)
    saved: list[str] = []
    for candidate in scan_host(services, host).candidates:
        revision = candidate_to_revision(candidate, author=actor.id, created_at=services.clock.now())
        if wanted is not None and revision.id != wanted:
            continue
        if config := save_candidate(services, name, candidate, revision):
            saved.append(config)
    if not saved and wanted is not None:
        raise BadInputError(
            "that launch is not there any more, or was saved already", remedy=f"say “scan {name}” again"
        )
    services.audit.add(
        AuditEvent(
            at=services.clock.now(), actor=actor.id, action="save", host=name, outcome=f"saved {', '.join(saved)}"
        )
    )
    single = len(saved) == 1
    return Message(
        template="saved",
        context={
            "what": "config" if single else "configs",
            "name": saved[0] if single else name,
            "names": [] if single else saved,
            "value": None,
            "already": not saved,
        },
    )


def save_candidate(services: Services, host: str, candidate: Candidate, revision: Revision) -> str | None:
    """Put a find into the catalog; gives the config's name, None when it was there."""
    catalog = services.catalog.catalog()
    if any(one.id == revision.id for config in catalog.configs.values() for one in config.revisions):
        return None
    near = nearest_config(catalog, host, candidate)
    if near is not None:
        services.catalog.add_revision(near.name, revision)
        return near.name
    name = proposed_name(candidate, None)
    if name in catalog.configs:
        name = f"{name}-{hashlib.sha256(revision.id.encode()).hexdigest()[:4]}"
    services.catalog.save(LaunchConfig(name=name, revisions=(revision,), host=host))
    return name
