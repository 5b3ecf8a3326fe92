"""llama.cpp's start as milestones (b11434 measured at verbosity 3 and 4; older builds print the same words without the
time prefix).

Its port is open long before the model is loaded; `listening on http` comes with the first 200 of /health.
"""

import re

from bot.core.domain.launch import Milestone, Phase
from bot.core.engines._log_lines import first_milestone, rule

_DONE = re.compile(r"model loaded|n_slots = ")
_DRAFT = re.compile(r"draft", re.IGNORECASE)
_RULES = (
    rule(r"llama_server: initializing|^build: \d+", Phase.ARGUMENTS, "arguments read"),
    rule(r"HTTP server (?:is )?listening, hostname", Phase.LISTENING, "port open, model not loaded yet"),
    rule(r"creating \w+ draft context|loading draft model", Phase.WEIGHTS, "loading the draft model"),
    rule(r"load_model: loading model", Phase.WEIGHTS, "loading weights"),
    rule(r"load_tensors: +(\S+) model buffer size = +([\d.]+ MiB)", Phase.WEIGHTS, "{2} of weights on {1}"),
    rule(r"llama_kv_cache\w*: size = +([\d.]+ MiB) \( *(\d+) cells", Phase.KV_CACHE, "KV cache {2} tokens, {1}"),
    rule(r"n_slots = (\d+), n_ctx_slot = (\d+)", Phase.KV_CACHE, "{1} slots of {2} tokens"),
    rule(r"warming up the model", Phase.WARMUP, "warming up"),
    rule(r"model loaded$", Phase.WARMUP, "model loaded"),
    rule(r"listening on (http\S+)", Phase.READY, "ready"),
)


def milestone(line: str) -> Milestone | None:
    """Milestone of one log line."""
    return first_milestone(line.rstrip(), _RULES, done=_DONE, draft=_DRAFT)
