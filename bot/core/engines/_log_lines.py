"""Log patterns to milestones."""

import re
from collections.abc import Callable, Sequence

from bot.core.domain.launch import Milestone, Phase

#: tqdm: "Capturing batches (bs=16 …):   8%|▊  | 1/12 [00:55<10:11" and "… shards:  53% Completed | 8/15 ["
_PROGRESS = re.compile(r"(\d+)%\s*(?:Completed\s*)?\|.*?(\d+)/(\d+)\s*\[")

#: phases that come again for a draft model
TWICE = (Phase.DISTRIBUTED, Phase.WEIGHTS, Phase.KV_CACHE, Phase.GRAPHS)

Rule = tuple[re.Pattern[str], Phase, Callable[[re.Match[str]], str]]


def rule(pattern: str, phase: Phase, text: str) -> Rule:
    """A pattern that means a milestone; `{1}` in the text is the first group as the log has it."""
    return re.compile(pattern), phase, lambda match: text.format(match[0], *(group or "" for group in match.groups()))


def progress(line: str) -> tuple[int, int] | None:
    """(done, of) of the last progress bar in a line, or None."""
    found = None
    for match in _PROGRESS.finditer(line):
        found = (int(match[2]), int(match[3]))
    return found


def first_milestone(
    line: str, rules: Sequence[Rule], *, done: re.Pattern[str], draft: re.Pattern[str]
) -> Milestone | None:
    """The first rule that meets the line. `done` marks the end of a phase, `draft` the draft model's pass."""
    for pattern, phase, text in rules:
        match = pattern.search(line)
        if match:
            return Milestone(
                phase=phase,
                text=text(match),
                fraction=1.0 if done.search(line) else None,
                draft=phase in TWICE and draft.search(line) is not None,
            )
    return None
