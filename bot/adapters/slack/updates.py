"""Edits of messages: merged and paced, since Slack allows about 50 a minute for the whole workspace."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from bot.core.domain.message import Message, Posted
from bot.errors import RateLimitedError, RelaunchError

_log = structlog.get_logger()

#: one message is edited at most this often
MESSAGE_INTERVAL_S = 1.0
#: edits per second over all messages, and how many may go at once after a quiet time
RATE_PER_S, BURST = 0.7, 3.0

Place = tuple[str, str]


@dataclass
class UpdateQueue:
    """Which edit goes next, and when. No threads, no clock: `now` is monotonic seconds."""

    #: newest content per message, in the order in which messages first asked
    _waiting: dict[Place, tuple[Posted, Message]] = field(default_factory=dict)
    _sent_at: dict[Place, float] = field(default_factory=dict)
    _tokens: float = BURST
    _counted_at: float = 0.0
    _paused_until: float = 0.0

    def offer(self, posted: Posted, message: Message) -> None:
        """Ask for an edit; a waiting one of the same message is replaced and keeps its place."""
        self._waiting[_place(posted)] = (posted, message)

    def drop(self, posted: Posted) -> None:
        """Forget a waiting edit."""
        self._waiting.pop(_place(posted), None)

    def pause(self, until: float) -> None:
        """Nothing before this time (Slack's Retry-After)."""
        self._paused_until = max(self._paused_until, until)

    def take(self, now: float) -> tuple[Posted, Message] | None:
        """The next edit that may go now, counted as sent."""
        self._refill(now)
        if self._tokens < 1 or now < self._paused_until:
            return None
        for place, edit in self._waiting.items():
            if now >= self._free_at(place):
                del self._waiting[place]
                self.count(edit[0], now)
                return edit
        return None

    def count(self, posted: Posted, now: float) -> None:
        """Count an edit that was sent, also one that did not wait here."""
        self._refill(now)
        # a final edit goes at once and may leave a debt that later ones wait for
        self._tokens = max(self._tokens - 1, -BURST)
        self._sent_at[_place(posted)] = now
        if len(self._sent_at) > 1000:
            self._sent_at = {place: at for place, at in self._sent_at.items() if now - at < MESSAGE_INTERVAL_S}

    def wait_s(self, now: float) -> float | None:
        """Seconds until the next edit may go; None: nothing waits."""
        if not self._waiting:
            return None
        self._refill(now)
        soonest = min(self._free_at(place) for place in self._waiting) - now
        return max(soonest, (1 - self._tokens) / RATE_PER_S, self._paused_until - now, 0.0)

    def _refill(self, now: float) -> None:
        self._tokens = min(BURST, self._tokens + max(now - self._counted_at, 0.0) * RATE_PER_S)
        self._counted_at = now

    def _free_at(self, place: Place) -> float:
        return self._sent_at.get(place, float("-inf")) + MESSAGE_INTERVAL_S


class Updater:
    """Sends edits on a thread of its own. Final ones are sent by the caller, after any that is under way."""

    def __init__(self, send: Callable[[Posted, Message], None], monotonic_s: Callable[[], float]) -> None:
        self._send = send
        self._monotonic_s = monotonic_s
        self._queue = UpdateQueue(_counted_at=monotonic_s())
        self._changed = threading.Condition()
        self._under_way: Place | None = None
        self._closed = False
        self._thread: threading.Thread | None = None

    def offer(self, posted: Posted, message: Message) -> None:
        """Edit soon. Returns at once; only the newest content of a message is sent."""
        with self._changed:
            self._queue.offer(posted, message)
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._work, name="slack-updates", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def final(self, posted: Posted, message: Message) -> None:
        """Edit now, and nothing older after it. Raises what the sending raises."""
        with self._changed:
            self._queue.drop(posted)
            self._queue.count(posted, self._monotonic_s())
            self._changed.wait_for(lambda: self._under_way != _place(posted))
        self._send(posted, message)

    def close(self) -> None:
        """Stop the thread; waiting edits are forgotten."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def _work(self) -> None:
        while True:
            with self._changed:
                edit = self._queue.take(self._monotonic_s())
                while edit is None:
                    if self._closed:
                        return
                    self._changed.wait(self._queue.wait_s(self._monotonic_s()))
                    edit = self._queue.take(self._monotonic_s())
                self._under_way = _place(edit[0])
            try:
                self._send(*edit)
            except RateLimitedError as error:
                with self._changed:
                    self._queue.pause(self._monotonic_s() + (error.retry_after_s or 10.0))
            except RelaunchError as error:
                _log.warning("message was not edited", channel=edit[0].channel, ts=edit[0].ts, error=error.message)
            except Exception:  # noqa: BLE001 - one bad edit must not end the thread
                _log.exception("message was not edited", channel=edit[0].channel, ts=edit[0].ts)
            finally:
                with self._changed:
                    self._under_way = None
                    self._changed.notify_all()


def _place(posted: Posted) -> Place:
    return posted.channel, posted.ts
