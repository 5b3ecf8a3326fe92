"""Launch configs, their immutable revisions, and what is known of how well they ran."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime

from bot.core.domain.container import Container


@dataclass(frozen=True, slots=True)
class SecretRef:
    """Stands where a secret stands in argv or env. The value stays on the host; `source` says where it lives there
    ("env file /etc/llm/hf.env", "unit qwen.service, Environment=HF_TOKEN")."""

    source: str

    def __str__(self) -> str:
        return "<secret>"


Word = str | SecretRef
#: sources of revisions that a request made of another one for once
ONE_OFF_SOURCES = frozenset({"request", "change in thread"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """One immutable way to launch: the exact command. Its id is the hash of its content."""

    engine: str
    model: str
    argv: tuple[Word, ...]
    env: tuple[tuple[str, Word], ...] = ()
    cwd: str | None = None
    #: account the server runs as; None: the login user
    user: str | None = None
    #: outermost first, e.g. ("numactl -N 0 -m 0",)
    wrappers: tuple[str, ...] = ()
    #: it runs in a container; env, cwd, user and argv are then those inside
    container: Container | None = None
    #: id of the revision this one was made from
    parent: str | None = None
    #: where it came from: "catalog file", "scan: unit qwen.service", "slack: U123", "change in thread"
    source: str = ""
    author: str = ""
    note: str = ""
    created_at: datetime | None = None
    #: field ("port", "env.HF_HOME", "argv") -> where it was seen ("unit", "proc", "history line 812")
    provenance: Mapping[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """12 hex digits over engine, model, argv, env, cwd, user, wrappers, and the container where there is one."""
        content: dict[str, object] = {
            "engine": self.engine,
            "model": self.model,
            "argv": [_word(w) for w in self.argv],
            "env": sorted((k, _word(v)) for k, v in self.env),
            "cwd": self.cwd,
            "user": self.user,
            "wrappers": list(self.wrappers),
        }
        if self.container is not None:
            content["container"] = asdict(self.container)
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]


def _word(word: Word) -> object:
    return {"secret": True, "source": word.source} if isinstance(word, SecretRef) else word


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Speed that a revision is known for, as a person wrote it or as measured here."""

    decode_tok_s: float | None = None
    accept_length: float | None = None
    ttft_ms: float | None = None
    measured_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchRecord:
    """One earlier launch, as the resolver and `history` see it."""

    id: str
    number: int
    config: str
    revision: str
    host: str
    #: "ready", "failed", "stopped", …: see domain.launch.LaunchState
    state: str
    started_at: datetime
    ended_at: datetime | None = None
    ready_after_s: float | None = None
    engine_version: str | None = None
    decode_tok_s: float | None = None
    accept_length: float | None = None
    requested_by: str = ""
    note: str = ""
    #: why it ended
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchConfig:
    """A named recipe with its revisions, newest last."""

    name: str
    revisions: tuple[Revision, ...]
    #: host it normally runs on
    host: str | None = None
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    #: revision id that "the" config means; None: the best proven one, else the newest
    pinned: str | None = None
    archived: bool = False
    measured: Measured | None = None

    @property
    def saved(self) -> tuple[Revision, ...]:
        """Revisions that the name may mean: the pinned one alone, else all but one-off variations of others of them.

        A variation stays one, however well it ran, until somebody pins it or saves it under a name."""
        known = {revision.id: revision for revision in self.revisions}
        if self.pinned in known:
            return (known[self.pinned],)
        kept = [one for one in self.revisions if one.source not in ONE_OFF_SOURCES or one.parent not in known]
        return tuple(kept) or self.revisions

    def revision(self, revision_id: str | None) -> Revision | None:
        """The revision with this id, or None."""
        return next((one for one in self.revisions if one.id == revision_id), None)

    @property
    def latest(self) -> Revision:
        """The pinned revision, else the newest saved one."""
        return self.saved[-1]

    @property
    def model(self) -> str:
        """Model of the latest revision."""
        return self.latest.model

    @property
    def engine(self) -> str:
        """Engine of the latest revision."""
        return self.latest.engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """All launch configs by name, and the launches made from them, oldest first."""

    configs: dict[str, LaunchConfig] = field(default_factory=dict)
    launches: tuple[LaunchRecord, ...] = ()
