"""What a server counts: requests, tokens, drafts. Counters grow for ever; gauges keep what was last logged."""

from __future__ import annotations

import threading


class Counters:
    """Counters and gauges of one server. Thread-safe."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.prompt_tokens = 0
        self.cached_tokens = 0
        self.generated_tokens = 0
        #: tokens of finished requests only, as llama.cpp counts them
        self.finished_tokens = 0
        self.finished_seconds = 0.0
        self.prompt_seconds = 0.0
        self.requests = 0
        self.drafts = 0
        self.draft_tokens = 0
        self.accepted = 0
        self.accepted_at: list[int] = [0] * 8
        self.running = 0
        self.waiting = 0
        self.ttft_sum = 0.0
        self.latency_sum = 0.0
        #: gauges as of the last logged batch: an idle server keeps showing them
        self.logged: dict[str, float] = {"running": 0.0, "throughput": 0.0, "accept": 0.0}

    def began(self, prompt: int, cached: int) -> None:
        """A request was let in."""
        with self.lock:
            self.requests += 1
            self.running += 1
            self.prompt_tokens += prompt
            self.cached_tokens += cached

    def stepped(self, tokens: int, drafts: int) -> None:
        """One forward pass gave so many tokens, having drafted `drafts`."""
        with self.lock:
            self.generated_tokens += tokens
            if drafts:
                self.drafts += 1
                self.draft_tokens += drafts
                accepted = min(tokens - 1, drafts)
                self.accepted += accepted
                for position in range(accepted):
                    self.accepted_at[position] += 1

    def ended(self, tokens: int, ttft: float, seconds: float) -> None:
        """A request is over."""
        with self.lock:
            self.running -= 1
            self.finished_tokens += tokens
            self.finished_seconds += max(0.0, seconds - ttft)
            self.prompt_seconds += ttft
            self.ttft_sum += ttft
            self.latency_sum += seconds
