"""One module per engine, ending in ENGINE: its flags, readiness, log lines, metrics and memory. Pure.

Modules with an underscore hold what they share and their flag tables. No other layer names an engine in an `if`.
`follow` reads a growing log with an engine's line patterns.
"""

import re
import sys
from dataclasses import dataclass, replace
from typing import cast

from bot import plugins
from bot.core.domain.engine import Engine
from bot.core.domain.launch import Milestone, Phase
from bot.core.engines._log_lines import TWICE

EVERY_MODULE_IS_A_PLUGIN = True

#: a partial line longer than this is dropped; progress bars are split at carriage returns before
_LONGEST_TAIL = 20_000


def engines_by_name() -> dict[str, Engine]:
    """All engines, by their own names."""
    found = cast(dict[str, Engine], plugins.load(sys.modules[__name__], "ENGINE"))
    return {engine.name: engine for engine in found.values()}


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPosition:
    """What must be kept between two pieces of one log."""

    #: last line, not ended yet
    tail: str = ""
    #: weights were loaded once: what comes next of weights, KV cache and graphs belongs to the draft model
    weights_loaded: bool = False
    draft: bool = False
    last: str = ""


def follow(engine: Engine, piece: str, position: LogPosition) -> tuple[tuple[Milestone, ...], LogPosition]:
    """Milestones in the next piece of a log, in order, without repeats; progress bars are split at carriage returns."""
    *lines, tail = re.split(r"[\r\n]+", position.tail + piece)
    found: list[Milestone] = []
    for line in lines:
        milestone = engine.milestone(line)
        if milestone is None:
            continue
        draft = position.draft
        if milestone.phase in (Phase.DISTRIBUTED, Phase.WEIGHTS) and position.weights_loaded and _begins(milestone):
            draft = True
        milestone = replace(milestone, draft=milestone.draft or (draft and milestone.phase in TWICE))
        key = f"{milestone.phase}{milestone.draft}{milestone.text}"
        if key != position.last:
            found.append(milestone)
        loaded = position.weights_loaded or (milestone.phase is Phase.KV_CACHE)
        position = replace(position, draft=draft, weights_loaded=loaded, last=key)
    return tuple(found), replace(position, tail=tail[-_LONGEST_TAIL:])


def _begins(milestone: Milestone) -> bool:
    return milestone.fraction is None or milestone.fraction < 1
