"""How fast an engine is, from its flags: the shape of what was measured, at the scale of a 27B model on two cards.

Three steps about 70 tok/s with accept length 3.4, one step about 37 with 1.75, no speculation about 27.
"""

from __future__ import annotations

from typing import NamedTuple

#: drafted tokens per step -> mean accept length, the bonus token counted
ACCEPT = {0: 1.0, 1: 1.75, 2: 2.62, 3: 3.4, 4: 3.62, 5: 3.75, 6: 3.82}
#: a verify step costs this much more than a plain one, and each drafted token a little
_VERIFY = 1.26
_DRAFT = 0.0165
#: without CUDA graphs each step pays its launches
_EAGER = 1.9
#: what a further stream takes from the others
_SHARING = 0.035
_PREFILL_TOK_S = 4000.0


class Speed(NamedTuple):
    """Speed of one server. Times in seconds."""

    #: one forward pass of a single stream
    step_s: float
    accept_length: float
    drafts: int
    first_token_s: float
    prefill_tok_s: float

    @property
    def tok_s(self) -> float:
        """Single-stream decode speed."""
        return self.accept_length / self.step_s

    def step_with(self, streams: int) -> float:
        """Seconds of a step when so many streams decode together."""
        return self.step_s * (1 + _SHARING * max(0, streams - 1))


def speed_of(base_tok_s: float, drafts: int, graphs: bool, factor: float, accept: float = 0.0) -> Speed:
    """Speed for a model that decodes `base_tok_s` without speculation."""
    length = accept or ACCEPT.get(drafts, 3.85)
    plain = 1.0 / (base_tok_s * factor)
    step = plain * (_VERIFY + _DRAFT * drafts) if drafts else plain
    if not graphs:
        step *= _EAGER
    return Speed(step, length, drafts, 0.12 / factor, _PREFILL_TOK_S * factor)


def tokens_of_step(speed: Speed, seed: int) -> int:
    """Tokens of one step: whole numbers whose mean is the accept length, the same for the same seed."""
    whole = int(speed.accept_length)
    roll = ((seed * 2654435761) % 1000) / 1000.0
    return whole + 1 if roll < speed.accept_length - whole else whole
