"""Slack's rate limits, per method and per channel."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

#: method -> calls per minute for the workspace, where it is stricter than the default tier 4
PER_MINUTE = {
    "apps.connections.open": 50,
    "chat.update": 50,
    "chat.delete": 50,
    "chat.scheduleMessage": 50,
    "chat.startStream": 20,
    "chat.stopStream": 20,
    "conversations.info": 50,
    "conversations.list": 20,
    "conversations.history": 50,
    "conversations.replies": 50,
    "conversations.open": 50,
    "conversations.join": 50,
    "users.list": 20,
    "users.lookupByEmail": 50,
    "usergroups.list": 20,
    "usergroups.users.list": 20,
    "reactions.add": 50,
    "reactions.remove": 20,
    "bots.info": 50,
    "team.info": 50,
    "pins.add": 20,
    "bookmarks.add": 20,
}
_TIER_4 = 100
#: posts per second into one channel, and how many may come at once
_POSTS_PER_SECOND = 1.0
_POST_BURST = 8.0
_POSTING = {"chat.postMessage"}


@dataclass
class _Bucket:
    rate: float
    size: float
    level: float
    seen: float

    def take(self, now: float) -> float:
        """Seconds to wait; 0 when one was free and is taken."""
        self.level = min(self.size, self.level + (now - self.seen) * self.rate)
        self.seen = now
        if self.level >= 1:
            self.level -= 1
            return 0.0
        return (1 - self.level) / self.rate


@dataclass
class RateLimits:
    """Token buckets. `on` switches them; `forced` makes the next n calls of a method fail, for tests and the page."""

    monotonic: Callable[[], float]
    on: bool = True
    forced: dict[str, int] = field(default_factory=dict)
    _buckets: dict[tuple[str, str], _Bucket] = field(default_factory=dict)

    def retry_after(self, method: str, channel: str) -> int | None:
        """Whole seconds for the Retry-After header, or None when the call may pass."""
        if self.forced.get(method, 0) > 0:
            self.forced[method] -= 1
            return 1
        if not self.on:
            return None
        now = self.monotonic()
        if method in _POSTING:
            key, rate, size = (method, channel), _POSTS_PER_SECOND, _POST_BURST
        else:
            per_minute = PER_MINUTE.get(method, _TIER_4)
            key, rate, size = (method, ""), per_minute / 60, float(per_minute)
        bucket = self._buckets.setdefault(key, _Bucket(rate=rate, size=size, level=size, seen=now))
        wait = bucket.take(now)
        return math.ceil(wait) if wait > 0 else None
