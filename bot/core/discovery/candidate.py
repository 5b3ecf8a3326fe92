"""Launch candidates: what was found, where each piece of it was seen, and what the sources disagree on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.core.discovery.launch_call import Evidence
from bot.core.domain.catalog import Revision, SecretRef, Word
from bot.core.domain.container import Container

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Where a field was seen last: "unit /etc/systemd/system/qwen.service"."""

    source: str
    last_seen: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """A field that the sources disagree on; `kept` is what runs or what is newest, `other` what else was seen.
    Values of secrets are never among them."""

    field: str
    kept: str | None
    other: str | None
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One launch, out of all artefacts that show it."""

    engine: str
    model: str
    argv: tuple[Word, ...]
    env: tuple[tuple[str, Word], ...] = ()
    cwd: str | None = None
    user: str | None = None
    #: "systemd", "compose", "docker" or "process"
    runner: str = "process"
    unit: str | None = None
    container: str | None = None
    image: str | None = None
    #: how to run that container again; None where its image is not known
    run: Container | None = None
    executable: str | None = None
    #: outermost first, each with its own arguments
    wrappers: tuple[str, ...] = ()
    #: on the host; None where nothing states it
    port: str | None = None
    gpus: tuple[str, ...] = ()
    #: "running" where a live process or container is among the evidence
    status: str | None = None
    evidence: tuple[Evidence, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    #: field ("argv", "port", "env.HF_HOME") -> where it was seen
    provenance: Mapping[str, Seen] = field(default_factory=dict)
    pid: int | None = None
    last_seen: datetime | None = None


def answer(candidates: Sequence[Candidate]) -> dict[str, Json]:
    """The JSON shape of `relaunch discover --json`: secrets as {"secret": true}."""
    return {"candidates": [_as_json(candidate) for candidate in candidates]}


def _as_json(candidate: Candidate) -> Json:
    return {
        "engine": candidate.engine,
        "model": candidate.model,
        "argv": [_word(word) for word in candidate.argv],
        "env": {name: _word(value) for name, value in candidate.env},
        "cwd": candidate.cwd,
        "user": candidate.user,
        "runner": candidate.runner,
        "unit": candidate.unit,
        "container": candidate.container,
        "image": candidate.image,
        "executable": candidate.executable,
        "wrappers": list(candidate.wrappers),
        "port": candidate.port,
        "gpus": list(candidate.gpus),
        "status": candidate.status,
        "evidence": [
            {"kind": one.kind, "path": one.path, "detail": one.detail or None, "seen_at": _time(one.seen_at)}
            for one in candidate.evidence
        ],
        "contradictions": [
            {"field": one.field, "kept": one.kept, "other": one.other, "source": one.source}
            for one in candidate.contradictions
        ],
        "provenance": {
            name: {"source": seen.source, "last_seen": _time(seen.last_seen)}
            for name, seen in candidate.provenance.items()
        },
        "last_seen": _time(candidate.last_seen),
    }


def _word(word: Word) -> Json:
    return {"secret": True} if isinstance(word, SecretRef) else word


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


def candidate_to_revision(
    candidate: Candidate, *, author: str = "", note: str = "", created_at: datetime | None = None
) -> Revision:
    """The revision that launches what was found, with where each part was seen."""
    first = candidate.evidence[0] if candidate.evidence else None
    provenance = {name: _sentence(seen) for name, seen in candidate.provenance.items()}
    if candidate.unit is not None:
        files = (
            one.path for one in candidate.evidence if one.kind == "unit" and one.path.endswith(f"/{candidate.unit}")
        )
        provenance.setdefault("unit", f"unit {next(files, candidate.unit)}")
    if candidate.run is not None and candidate.container is not None:
        provenance.setdefault("container", f"container {candidate.container}")
    return Revision(
        engine=candidate.engine,
        model=candidate.model,
        argv=candidate.argv,
        env=candidate.env,
        cwd=candidate.cwd,
        user=candidate.user,
        wrappers=candidate.wrappers,
        container=candidate.run,
        source=f"scan: {first}" if first else "scan",
        author=author,
        note=note,
        created_at=created_at,
        provenance=provenance,
    )


def _sentence(seen: Seen) -> str:
    return seen.source if seen.last_seen is None else f"{seen.source}, last seen {_time(seen.last_seen)}"
