"""Neutral overrides for a retry, computed from the numbers in the log and in the command line."""

import math
from collections.abc import Callable, Mapping

from bot.core.diagnosis.launch_settings import number

Groups = Mapping[str, str]
Settings = Mapping[str, str]
Overrides = dict[str, object]

#: context lengths are rounded down to a multiple of this
CONTEXT_STEP = 1024
_SGLANG_DEFAULT_FRACTION = 0.88
_VLLM_DEFAULT_FRACTION = 0.90


def _n(groups: Groups, name: str) -> float | None:
    try:
        return float(groups.get(name, "").replace(",", ""))
    except ValueError:
        return None


def _round_context(tokens: float) -> int:
    step = CONTEXT_STEP if tokens >= 2 * CONTEXT_STEP else 64
    return max(step, int(tokens) // step * step)


def _context_that_fits(groups: Groups, settings: Settings, engine: str | None) -> Overrides:
    """From the engine's own estimate, else in proportion to what is free, with 5 % kept back."""
    estimate = _n(groups, "estimate")
    if estimate:
        return {"context_length": _round_context(estimate)}
    asked = _n(groups, "asked") or number(settings, "context_length")
    needed, available = _n(groups, "needed"), _n(groups, "available")
    if asked and needed and available:
        return {"context_length": _round_context(asked * available / needed * 0.95)}
    pool = _n(groups, "pool")
    if pool:
        return {"context_length": _round_context(pool)}
    return _memory_up(groups, settings, engine)


def _context_derived(groups: Groups, settings: Settings, engine: str | None) -> Overrides:
    derived = _n(groups, "derived")
    return {"context_length": int(derived)} if derived else {}


def _context_half(groups: Groups, settings: Settings, engine: str | None) -> Overrides:
    asked = number(settings, "context_length")
    return {"context_length": _round_context(asked / 2)} if asked and asked > 2048 else {}


def _fraction(settings: Settings, engine: str | None) -> float:
    given = number(settings, "memory_fraction")
    return given if given is not None else (_VLLM_DEFAULT_FRACTION if engine == "vllm" else _SGLANG_DEFAULT_FRACTION)


def _memory_up(groups: Groups, settings: Settings, engine: str | None) -> Overrides:
    """A larger pool; only where the engine has such a setting."""
    if engine == "llama.cpp":
        return _context_half(groups, settings, engine)
    now = _fraction(settings, engine)
    return {"memory_fraction": round(min(0.95, now + 0.05), 2)} if now < 0.94 else {}


def _memory_down(groups: Groups, settings: Settings, engine: str | None) -> Overrides:
    """A smaller static share: by what was asked for and missing where the log says it, at least 5 points."""
    if engine == "llama.cpp":
        return _context_half(groups, settings, engine)
    now, total = _fraction(settings, engine), _n(groups, "total")
    step = 0.05
    wanted = _n(groups, "tried")
    if wanted and total:
        if groups.get("triedunit", "").lower() == "mib":
            wanted /= 1024
        step = max(step, math.ceil((wanted * 1.5 / total) * 100) / 100)
    return {"memory_fraction": round(max(0.3, now - step), 2)}


def _memory_to_free(groups: Groups, settings: Settings, engine: str | None) -> Overrides:
    """The share of the card that is free now, two points below."""
    free, total = _n(groups, "free"), _n(groups, "total")
    if not free or not total:
        return {}
    share = math.floor((free / total - 0.02) * 100) / 100
    return {"memory_fraction": share} if share >= 0.2 else {}


def _fewer_requests(groups: Groups, settings: Settings, engine: str | None) -> Overrides:
    now = number(settings, "max_running_requests")
    return {"max_running_requests": max(1, int(now) // 2)} if now and now > 1 else {}


def _speculative_triple(groups: Groups, settings: Settings, engine: str | None) -> Overrides:
    """All three or none; with topk 1 the drafts are steps + 1 (SGLang, server_args)."""
    steps = number(settings, "speculative_steps")
    drafts = number(settings, "speculative_draft_tokens")
    topk = number(settings, "speculative_topk")
    if engine not in (None, "sglang"):
        return {}
    if steps is None:
        steps = drafts - 1 if drafts and drafts > 1 and (topk or 1) == 1 else 3
    return {"speculative_steps": int(steps), "speculative_topk": 1, "speculative_draft_tokens": int(steps) + 1}


def _smaller_parallel(groups: Groups, settings: Settings, engine: str | None) -> Overrides:
    """Largest size below the present one that divides the number in the message."""
    whole, size = _n(groups, "whole"), _n(groups, "size") or number(settings, "tensor_parallel")
    if not whole or not size:
        return {}
    for candidate in range(int(size) - 1, 0, -1):
        if int(whole) % candidate == 0 and candidate & (candidate - 1) == 0:
            return {"tensor_parallel": candidate}
    return {}


def _all_gpus(groups: Groups, settings: Settings, engine: str | None) -> Overrides:
    gpus = _n(groups, "gpus")
    return {"tensor_parallel": int(gpus)} if gpus and gpus > 1 and "tensor_parallel" not in settings else {}


CONSTANTS: Mapping[str, Overrides] = {
    "attention_triton": {"attention_backend": "triton"},
    "attention_flashinfer": {"attention_backend": "flashinfer"},
    "float16": {"dtype": "float16"},
    "kv_dtype_auto": {"kv_cache_dtype": "auto"},
    "cuda_graphs_on": {"cuda_graphs": True},
    "no_p2p": {"env": {"NCCL_P2P_DISABLE": "1"}},
    "no_flashinfer_sampler": {"env": {"VLLM_USE_FLASHINFER_SAMPLER": "0"}},
    "no_balance_check": {"env": {"SGLANG_ENABLE_TP_MEMORY_INBALANCE_CHECK": "false"}},
}

COMPUTED: Mapping[str, Callable[[Groups, Settings, str | None], Overrides]] = {
    "context_that_fits": _context_that_fits,
    "context_derived": _context_derived,
    "context_half": _context_half,
    "memory_up": _memory_up,
    "memory_down": _memory_down,
    "memory_to_free": _memory_to_free,
    "fewer_requests": _fewer_requests,
    "speculative_triple": _speculative_triple,
    "smaller_parallel": _smaller_parallel,
    "all_gpus": _all_gpus,
}


def overrides_for(name: str, groups: Groups, settings: Settings, engine: str | None) -> Overrides:
    """Overrides that a rule names; empty when the numbers for them are not there."""
    if name in CONSTANTS:
        return dict(CONSTANTS[name])
    return COMPUTED[name](groups, settings, engine) if name else {}
