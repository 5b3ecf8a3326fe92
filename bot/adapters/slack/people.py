"""Who people are: users.info and user groups, cached for minutes, never failing open."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar
from zoneinfo import ZoneInfo

import structlog
from slack_sdk.web import WebClient

from bot.adapters.slack import web_api
from bot.adapters.slack.web_api import SlackError
from bot.core.domain.operation import Actor
from bot.core.rendering import clean
from bot.errors import RelaunchError
from bot.workflows.ports import Clock

_log = structlog.get_logger()
T = TypeVar("T")

#: how long an answer is believed, and how long a failure to ask for a group
KEPT_S, FAILURE_KEPT_S = 300.0, 30.0


@dataclass(frozen=True, slots=True)
class _Kept(Generic[T]):
    value: T
    until: float


class SlackPeople:
    """The People port. `groups` are the user groups that access is given to; `team` is our workspace's id; `time_zone`:
    of people whose zone Slack does not tell."""

    def __init__(
        self,
        client: WebClient,
        clock: Clock,
        *,
        team: str,
        groups: frozenset[str] = frozenset(),
        time_zone: str = "UTC",
    ) -> None:
        self._client = client
        self._clock = clock
        self._team = team
        self._groups = groups
        self._time_zone = time_zone
        self._users: dict[str, _Kept[Actor]] = {}
        self._members: dict[str, _Kept[frozenset[str]]] = {}
        self._lock = threading.Lock()

    def actor(self, user_id: str, *, team: str | None = None) -> Actor:
        """The person as Slack knows them. Someone of another team is an outsider without asking."""
        if team is not None and team != self._team:
            return Actor(id=user_id, team=team, outsider=True)
        found = self._cached(self._users, user_id, lambda: self._ask(user_id))
        if found.outsider:
            return found
        return replace(found, groups=tuple(sorted(g for g in self._groups if user_id in self._group(g))))

    def _ask(self, user_id: str) -> tuple[Actor, float]:
        try:
            answer = web_api.call(self._client.users_info, self._clock, user=user_id)
        except SlackError as error:
            if error.code not in ("user_not_found", "user_not_visible"):
                raise
            return Actor(id=user_id, outsider=True), KEPT_S
        return to_actor(answer.get("user") or {}, user_id, self._team, self._time_zone), KEPT_S

    def _group(self, group: str) -> frozenset[str]:
        return self._cached(self._members, group, lambda: self._ask_group(group))

    def _ask_group(self, group: str) -> tuple[frozenset[str], float]:
        try:
            answer = web_api.call(self._client.usergroups_users_list, self._clock, usergroup=group)
        except RelaunchError as error:
            # fail closed: nobody is in a group that cannot be read
            _log.warning("user group cannot be read; nobody counts as its member", group=group, error=error.message)
            return frozenset(), FAILURE_KEPT_S
        return frozenset(map(str, answer.get("users") or ())), KEPT_S

    def _cached(self, kept: dict[str, _Kept[T]], key: str, ask: Callable[[], tuple[T, float]]) -> T:
        with self._lock:
            found = kept.get(key)
        if found is not None and found.until > self._clock.monotonic_s():
            return found.value
        value, keep_s = ask()
        with self._lock:
            kept[key] = _Kept(value, self._clock.monotonic_s() + keep_s)
        return value


def _zone(name: object) -> str | None:
    """The name of a time zone, where it is one."""
    try:
        return ZoneInfo(str(name)).key if name else None
    except (ValueError, KeyError, OSError):
        return None


def to_actor(user: Mapping[str, Any], user_id: str, team: str, time_zone: str = "UTC") -> Actor:
    """Read users.info. Guests, strangers, bots, deleted users and other teams' people are outsiders.

    `time_zone` is of those whose own is not told, or not known here."""
    profile = user.get("profile") or {}
    name = profile.get("display_name") or profile.get("real_name") or user.get("real_name") or user.get("name") or ""
    own = user.get("team_id") == team or team in ((user.get("enterprise_user") or {}).get("teams") or ())
    shut = ("deleted", "is_bot", "is_restricted", "is_ultra_restricted", "is_stranger", "is_workflow_bot")
    return Actor(
        id=user_id,
        name=clean.cut(clean.one_line(str(name)), 80),
        team=str(user.get("team_id") or "") or None,
        outsider=user.get("id") != user_id or not own or any(user.get(flag) for flag in shut),
        time_zone=_zone(user.get("tz")) or time_zone,
    )
