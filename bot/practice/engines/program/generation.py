"""Make tokens at the pace that the flags give: the same for streamed and whole answers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from .counters import Counters
from .speed import Speed, tokens_of_step

_WORDS = [
    "the",
    "river",
    "runs",
    "past",
    "a",
    "quiet",
    "garden",
    "and",
    "nobody",
    "in",
    "the",
    "village",
    "remembers",
    "who",
    "planted",
    "the",
    "old",
    "tree",
    "beside",
    "the",
    "bridge",
    "where",
    "lanterns",
    "are",
    "lit",
    "each",
    "evening",
    "while",
    "boats",
    "come",
    "home",
    "with",
    "news",
    "of",
    "weather",
    "from",
    "the",
    "far",
    "harbour",
]
_TICKS_PER_LOG = 40


class Chunk(NamedTuple):
    """Tokens of one step."""

    text: str
    tokens: int


class Result(NamedTuple):
    """What one request took. Seconds."""

    tokens: int
    steps: int
    accepted: int
    first_s: float
    total_s: float


class Generator:
    """Makes answers for one server."""

    def __init__(self, speed: Speed, slots: int) -> None:
        self.speed = speed
        self.counters = Counters()
        self.slots = threading.Semaphore(slots)
        #: called with (running, tokens in flight, accept length, tok/s) every few steps of the busiest stream
        self.on_log: Callable[[int, int, float, float], None] = lambda *_: None
        self.stopping = threading.Event()
        self._number = 0
        self._steps = 0
        self._tokens = 0
        self._mark = time.monotonic()
        self._prompts = {}  # type: dict[str, int]

    def cached(self, prompt: str, tokens: int) -> int:
        """Tokens of this prompt that an earlier request left in the prefix cache."""
        seen = prompt in self._prompts
        self._prompts[prompt] = tokens
        return max(0, tokens - 1) if seen else 0

    def stream(self, prompt_tokens: int, cached: int, wanted: int, done: Callable[[Result], None]) -> Iterator[Chunk]:
        """Chunks of one answer, each when it is due; `done` gets the result at the end, also when the reader left."""
        counters, speed = self.counters, self.speed
        arrived = time.monotonic()
        with counters.lock:
            counters.waiting += 1
        with self.slots:
            with counters.lock:
                counters.waiting -= 1
                self._number += 1
                number = self._number
            counters.began(prompt_tokens, cached)
            first_s, made, steps, accepted = 0.0, 0, 0, 0
            try:
                due = time.monotonic() + speed.first_token_s + (prompt_tokens - cached) / speed.prefill_tok_s
                while made < wanted and not self.stopping.is_set():
                    _sleep_until(due)
                    count = min(wanted - made, 1 if not steps else tokens_of_step(speed, number * 7919 + steps))
                    steps += 1
                    accepted += max(0, count - 1)
                    counters.stepped(count, speed.drafts if made else 0)
                    text = "".join(" " + _WORDS[(made + k + number) % len(_WORDS)] for k in range(count))
                    made += count
                    first_s = first_s or time.monotonic() - arrived
                    yield Chunk(text, count)
                    due += speed.step_with(counters.running)
                    self._tick(prompt_tokens + made, count)
            finally:
                total = time.monotonic() - arrived
                counters.ended(made, first_s, total)
                done(Result(made, steps, accepted, first_s, total))

    def _tick(self, in_flight: int, count: int) -> None:
        """Count a step; log every so many of them, whichever requests they belong to."""
        counters = self.counters
        with counters.lock:
            self._steps += 1
            self._tokens += count
            if self._steps < _TICKS_PER_LOG:
                return
            spent = max(1e-6, time.monotonic() - self._mark)
            rate, accept, running = self._tokens / spent, self._tokens / self._steps, counters.running
            self._steps, self._tokens, self._mark = 0, 0, time.monotonic()
            counters.logged = {"running": float(running), "throughput": rate, "accept": accept}
        self.on_log(running, in_flight, accept, rate)


def count_tokens(text: str | None) -> int:
    """About as many tokens as a tokenizer would find."""
    return max(1, int(len((text or "").split()) * 1.3))


def _sleep_until(due: float) -> None:
    left = due - time.monotonic()
    if left > 0:
        time.sleep(left)
