"""SGLang's start as milestones (lines of 0.5.11 on an H200; the same words stand in 0.5.5 to 0.5.23).

With speculation weights, KV pool and graphs come a second time for the draft model; `Milestone.draft` is set where the
line itself says so, `follow` adds it for the rest of the second pass.
"""

import re

from bot.core.domain.launch import Milestone, Phase
from bot.core.engines._log_lines import first_milestone, progress, rule

#: "[2026-12-02 06:40:53 DP0 TP1] "
_PREFIX = re.compile(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d((?: [A-Z]+\d+)*)\]\s*")
_OTHER_RANK = re.compile(r" [A-Z]+[1-9]")
_DONE = re.compile(r"Load weight end|KV Cache is allocated|graph end|distributed ends")
_DRAFT = re.compile(r"draft|type=\w*(?:MTP|NextN|NEXTN|Eagle|EAGLE|DFlash)\w*", re.IGNORECASE)
_RULES = (
    rule(r"server_args=ServerArgs\(", Phase.ARGUMENTS, "arguments read"),
    rule(r"Init torch distributed begin", Phase.DISTRIBUTED, "connecting the ranks"),
    rule(r"Init torch distributed ends\. elapsed=([\d.]+) s", Phase.DISTRIBUTED, "ranks connected in {1} s"),
    rule(r"Load weight begin\. avail mem=([\d.]+ GB)", Phase.WEIGHTS, "loading weights, {1} free"),
    rule(r"Load weight end\..*?mem usage=([\d.]+ GB)", Phase.WEIGHTS, "weights loaded, {1}"),
    rule(r"Load weight end\.", Phase.WEIGHTS, "weights loaded"),
    rule(r"KV Cache is allocated\..*?#tokens: (\d+)", Phase.KV_CACHE, "KV cache {1} tokens"),
    rule(r"Mamba Cache is allocated", Phase.KV_CACHE, "state cache allocated"),
    rule(r"(?i)capture ((?:\w+ )*?)(?:cuda|cpu)? ?graph begin", Phase.GRAPHS, "capturing {1}graphs"),
    rule(r"(?i)capture ((?:\w+ )*?)(?:cuda|cpu)? ?graph end\. Time elapsed: ([\d.]+) s", Phase.GRAPHS,
         "{1}graphs captured in {2} s"),
    rule(r"max_total_num_tokens=(\d+).*?max_running_requests=(\d+)", Phase.WARMUP,
         "room for {1} tokens, {2} requests at a time"),
    rule(r"Uvicorn running on (\S+)", Phase.LISTENING, "listening on {1}"),
    rule(r"The server is fired up and ready to roll", Phase.READY, "ready"),
)  # fmt: skip


def milestone(line: str) -> Milestone | None:
    """Milestone of one log line (a tqdm line split at its carriage returns); other ranks than 0 are silent."""
    prefix = _PREFIX.match(line)
    if prefix and _OTHER_RANK.search(prefix[1]):
        return None
    if "shards:" in line:
        counted = progress(line)
        if counted:
            return _counted(Phase.WEIGHTS, "weights", counted)
    if re.match(r"\s*(Capturing|Compiling) (batches|num tokens)", line):
        counted = progress(line)
        return _counted(Phase.GRAPHS, "graphs" if "Capturing" in line else "compiling", counted) if counted else None
    return first_milestone(line, _RULES, done=_DONE, draft=_DRAFT)


def _counted(phase: Phase, what: str, counted: tuple[int, int]) -> Milestone:
    done, of = counted
    return Milestone(phase=phase, text=f"{what} {done}/{of}", fraction=done / of if of else None)
