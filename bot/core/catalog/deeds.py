"""What was done, one row for each operation: from audit events and launches; and which of them answers a question."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.core.catalog.edits import EditKind
from bot.core.catalog.past import Window
from bot.core.domain.catalog import LaunchRecord
from bot.core.domain.launch import LaunchState
from bot.core.domain.operation import AuditEvent, OperationState
from bot.core.domain.waiting import WaitState

EDITS = frozenset(kind.value for kind in EditKind)
_VERBS = frozenset({"start", "stop", "restart", "change"})
#: events that tell what became of an operation that somebody else's event began
_ENDS = frozenset({"cancel", "wait"})
_FAILED = frozenset({LaunchState.FAILED.value, LaunchState.LOST.value})
#: an action that is asked for -> actions that are, or have, one
_COVERS = {
    "start": frozenset({"start", "restart", "change"}),
    "stop": frozenset({"stop", "restart", "change"}),
    "restart": frozenset({"restart", "change"}),
    "change": frozenset({"change"}) | EDITS,
}
_ALWAYS = Window(start=None, end=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """One operation, one request that came to nothing, or one change of the catalog.

    `state`: "open" (nothing is known of its end), "done", "failed", "cancelled", "refused", "queued" (waits for GPUs)
    from the events; "planned" of a wait: it went on as another operation. An operation may know more of an open one:
    "waiting" (for approval), "running", "rejected", "expired".
    `detail`: why it was refused, or the value of a change of the catalog."""

    action: str
    by: str
    asked_at: datetime
    operation: str | None = None
    host: str | None = None
    config: str | None = None
    ended_at: datetime | None = None
    state: str = "open"
    detail: str = ""
    cancelled_by: str | None = None
    launch: LaunchRecord | None = None
    #: what a restart took down, where that is another config
    replaced: str | None = None

    @property
    def at(self) -> datetime:
        """When it was done: a start when it began, all else when it was over."""
        if self.action == "start":
            return self.launch.started_at if self.launch else self.asked_at
        return self.ended_at or self.asked_at

    @property
    def failed_at(self) -> datetime | None:
        """When it failed, or what it started was found gone."""
        if self.launch is not None and self.launch.state in _FAILED:
            return self.launch.ended_at or self.ended_at or self.launch.started_at
        return (self.ended_at or self.asked_at) if self.state == "failed" else None

    @property
    def done(self) -> bool:
        """Whether something happened on a host, or to the catalog."""
        return self.state in ("done", "failed", "running") or self.launch is not None


def deeds(events: Sequence[AuditEvent], launches: Iterable[LaunchRecord]) -> tuple[Deed, ...]:
    """One deed for each operation, newest first. `events`: newest first, with all renames since; configs have the
    names of now."""
    of_launch = {one.id: one for one in launches}
    groups: dict[str, list[AuditEvent]] = {}
    renames = [one for one in events if one.action == EditKind.RENAME]
    for number, event in enumerate(reversed(events)):
        if event.action in _VERBS | _ENDS | EDITS:
            alone = event.operation is None or event.action in EDITS
            groups.setdefault(f"#{number}" if alone else str(event.operation), []).append(event)
    # of two at one moment the one that was told of last is the newer
    found = [made for group in reversed(groups.values()) if (made := _deed(group, renames, of_launch)) is not None]
    told = {one.operation for one in found}
    found += [_of_launch(one) for one in of_launch.values() if one.id not in told]
    return tuple(sorted(found, key=lambda one: one.at, reverse=True))


def _deed(group: list[AuditEvent], renames: Sequence[AuditEvent], launches: dict[str, LaunchRecord]) -> Deed | None:
    """`group`: events of one operation, oldest first."""
    asked = next((one for one in group if one.action not in _ENDS), None)
    if asked is None:
        return None
    launch = launches.get(asked.operation or "")
    deed = Deed(
        action=asked.action,
        by=asked.actor,
        asked_at=asked.at,
        operation=asked.operation,
        host=asked.host,
        config=launch.config if launch else _name_now(asked, renames),
        launch=launch,
    )
    if asked.action in EDITS:
        return replace(deed, state="done", detail=asked.outcome)
    for event in group:
        deed = _told(deed, event)
    return deed


def _told(deed: Deed, event: AuditEvent) -> Deed:
    """What one more event says."""
    if event.action == "cancel":
        return replace(deed, cancelled_by=event.actor, state="cancelled", ended_at=event.at)
    if event.action == "wait" and event.outcome == WaitState.CANCELLED:
        return replace(deed, cancelled_by=event.detail or event.actor, state="cancelled", ended_at=event.at)
    if event.action == "wait":
        return replace(deed, state=event.outcome, ended_at=event.at, detail=event.detail)
    if event.outcome.startswith("refused: "):
        return replace(deed, state="refused", detail=event.outcome.removeprefix("refused: "), ended_at=event.at)
    if event.outcome == "waits for its GPUs":
        return replace(deed, state="queued")
    if event.outcome in list(OperationState):
        state = "done" if event.outcome == OperationState.SUCCEEDED else event.outcome
        return replace(deed, state=state, ended_at=event.at)
    return deed


def _name_now(event: AuditEvent, renames: Sequence[AuditEvent]) -> str | None:
    """The config's name after all renames since the event."""
    name = event.config
    for rename in reversed(renames):
        if rename.at >= event.at and rename.outcome == f"from {name}":
            name = rename.config
    return name


def _of_launch(launch: LaunchRecord) -> Deed:
    """A launch that no event tells of."""
    return Deed(
        action="start",
        by=launch.requested_by,
        asked_at=launch.started_at,
        operation=launch.id,
        host=launch.host,
        config=launch.config,
        ended_at=launch.ended_at,
        state="failed" if launch.state == LaunchState.FAILED else "done",
        launch=launch,
    )


def about(deed: Deed, action: str | None, *, hosts: Sequence[str], configs: frozenset[str] | None) -> bool:
    """Whether a deed is of these hosts (none: all) and configs (None: all); a restart that replaced one config by
    another stopped the one and started the other."""
    if hosts and deed.host not in hosts:
        return False
    if configs is None:
        return True
    if action == "stop" and deed.replaced is not None:
        return deed.replaced in configs
    return deed.config in configs or (action != "start" and deed.replaced in configs)


def matching(found: Iterable[Deed], action: str | None, window: Window | None) -> tuple[Deed, ...]:
    """The deeds that a question is about, newest first. `action`: None for all of them, "fail" for failures."""
    when = window or _ALWAYS
    if action == "fail":
        failed = [(at, one) for one in found if (at := one.failed_at) is not None and when.has(at)]
        return tuple(one for _, one in sorted(failed, key=lambda pair: pair[0], reverse=True))
    if action is None:
        return tuple(one for one in found if _touches(one, when))
    wanted = [one for one in found if one.action in _COVERS[action]]
    return tuple(one for one in wanted if when.has(one.at) or (action == "start" and _ran(one, when)))


def _touches(deed: Deed, window: Window) -> bool:
    ended = deed.launch.ended_at if deed.launch else None
    return any(window.has(moment) for moment in (deed.at, deed.asked_at, deed.ended_at, ended))


def _ran(deed: Deed, window: Window) -> bool:
    """Whether what was started ran within the window."""
    launch = deed.launch
    if launch is None or (window.end is not None and launch.started_at >= window.end):
        return False
    return launch.ended_at is None or window.start is None or launch.ended_at >= window.start


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the first line says. kind: "did" (that one was it), "asked" (it was only asked for), "befell" (nobody did:
    a server failed or was gone), "ran" (the last run), "failed", "nothing" (then `deed` is the last one before, if
    any), "latest" (no question). `count`: how many there are."""

    kind: str
    deed: Deed | None = None
    count: int = 0


def answer(found: Sequence[Deed], action: str | None, window: Window | None, *, who: bool, named: bool) -> Answer:
    """The sentence for a question about `found`, all that is of its hosts and configs."""
    fitting = matching(found, action, window)
    done = [one for one in fitting if one.done]
    if action == "fail":
        return Answer(kind="failed", deed=fitting[0], count=len(fitting)) if fitting else _nothing(found, action)
    if action == "start" and named and not who:
        launched = [one for one in fitting if one.launch is not None]
        ready = [one for one in launched if one.launch and one.launch.ready_after_s is not None]
        if launched:
            return Answer(kind="ran", deed=(ready or launched)[0], count=len(launched))
    if done:
        exact = [one for one in done if one.action == action]
        return Answer(kind="did" if action or who else "latest", deed=(exact or done)[0], count=len(done))
    if fitting:
        return Answer(kind="asked" if action or who else "latest", deed=fitting[0], count=len(fitting))
    befell = matching(found, "fail", window) if action == "stop" else ()
    return Answer(kind="befell", deed=befell[0], count=len(befell)) if befell else _nothing(found, action)


def _nothing(found: Sequence[Deed], action: str | None) -> Answer:
    before = [one for one in matching(found, action, None) if one.done]
    return Answer(kind="nothing", deed=before[0] if before else None)
