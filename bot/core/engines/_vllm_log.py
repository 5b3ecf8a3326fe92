"""vLLM's start as milestones (0.32 on the CPU measured; GPU lines as 0.10 to 0.33 print them, read in the source)."""

import re

from bot.core.domain.launch import Milestone, Phase
from bot.core.engines._log_lines import first_milestone, progress, rule

#: "(Worker_TP1 pid=4426) ", "(EngineCore_DP0 pid=12) "
_OTHER_RANK = re.compile(r"^\((?:Vllm)?Worker[_-]?(?:[A-Z]*\d+_)*(?:TP|PP)?[1-9]\d* pid=")
_DONE = re.compile(r"Loading weights took|Model loading took|KV cache size|Graph capturing finished|init engine")
_DRAFT = re.compile(r"drafter|draft model", re.IGNORECASE)
_RULES = (
    rule(r"non-default args: ", Phase.ARGUMENTS, "arguments read"),
    rule(r"world_size=(\d+) rank=0 ", Phase.DISTRIBUTED, "connecting {1} ranks"),
    rule(r"rank 0 in world size (\d+) is assigned", Phase.DISTRIBUTED, "{1} ranks connected"),
    rule(r"Loading drafter model", Phase.WEIGHTS, "loading the draft model"),
    rule(r"Starting to load model ", Phase.WEIGHTS, "loading weights"),
    rule(r"Loading weights took ([\d.]+) s", Phase.WEIGHTS, "weights read in {1} s"),
    rule(r"Model loading took ([\d.]+ Gi?B)", Phase.WEIGHTS, "weights loaded, {1}"),
    rule(r"torch\.compile takes ([\d.]+) s", Phase.GRAPHS, "compiled in {1} s"),
    rule(r"Available KV cache memory: ([\d.]+ GiB)", Phase.KV_CACHE, "{1} for the KV cache"),
    rule(r"KV cache size: ([\d,]+) tokens", Phase.KV_CACHE, "KV cache {1} tokens"),
    rule(r"Graph capturing finished in ([\d.]+) s", Phase.GRAPHS, "graphs captured in {1} s"),
    rule(r"init engine \(.*\) took ([\d.]+) s", Phase.WARMUP, "engine set up in {1} s"),
    rule(r"Starting vLLM (?:API )?server.* on (http\S+)", Phase.LISTENING, "listening on {1}"),
    rule(r"Application startup complete", Phase.READY, "ready"),
)


def milestone(line: str) -> Milestone | None:
    """Milestone of one log line (a tqdm line split at its carriage returns); other ranks than 0 are silent."""
    if _OTHER_RANK.match(line):
        return None
    if "shards:" in line or "Capturing CUDA graph" in line:
        counted = progress(line)
        if counted:
            done, of = counted
            phase, what = (Phase.WEIGHTS, "weights") if "shards:" in line else (Phase.GRAPHS, "graphs")
            return Milestone(phase=phase, text=f"{what} {done}/{of}", fraction=done / of if of else None)
    return first_milestone(line, _RULES, done=_DONE, draft=_DRAFT)
