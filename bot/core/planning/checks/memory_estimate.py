"""Memory estimate with its arithmetic. It warns and never refuses."""

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Unknown
from bot.core.engines._memory import MemoryEstimate, estimate, kv_value_bytes, model_shape
from bot.core.facts import model_files
from bot.core.planning.situation import Check, Situation, finding, unknown

_CHECK = "memory_estimate"
#: requests at a time that a state is held for, where the launch does not say
_REQUESTS = 16


def judge(situation: Situation) -> tuple[Finding, ...]:
    wanted, files = situation.wanted_gpus(), situation.facts.reading(model_files.FACT)
    if isinstance(wanted, Unknown):
        return unknown(_CHECK, "whether the model fits", wanted.reason)
    if isinstance(files, Unknown):
        return unknown(_CHECK, "whether the model fits", files.reason)
    if not files.value.exists or not wanted.value:
        return ()
    shape = model_shape(files.value.config or {})
    if isinstance(shape, Unknown):
        return unknown(_CHECK, "whether the model fits", shape.reason)
    smallest = min(wanted.value, key=lambda gpu: gpu.memory_total_mib or 0)
    if smallest.memory_total_mib is None:
        return unknown(_CHECK, "whether the model fits", "nvidia-smi gives no memory size")
    settings = situation.engine.flags_to_overrides(situation.line.flags)
    requests = settings.get("max_running_requests")
    budget, said = situation.engine.memory_budget(situation.line, smallest.memory_total_mib, smallest.memory_total_mib)
    result = estimate(
        shape.value,
        weights_bytes=files.value.bytes,
        ranks=len(wanted.value),
        tensor_parallel=int(settings.get("tensor_parallel") or 1),
        kv_value_bytes=kv_value_bytes(settings.get("kv_cache_dtype"), settings.get("dtype")),
        budget_mib=budget,
        budget_said=said,
        requests=min(requests, 256) if isinstance(requests, int) and requests > 0 else _REQUESTS,
    )
    return (_judge_result(result, settings.get("context_length")),)


def _judge_result(result: MemoryEstimate, context: object) -> Finding:
    if result.tokens < 0:
        return finding(
            _CHECK,
            Judgement.WARN,
            "by estimate the weights alone do not fit",
            *result.arithmetic,
            remedy="use more GPUs, a smaller quantization, or a higher memory fraction",
        )
    if isinstance(context, int) and result.kv_bytes_per_token and result.tokens < context:
        return finding(
            _CHECK,
            Judgement.WARN,
            f"by estimate there is room for {result.tokens} tokens, less than one context of {context}",
            *result.arithmetic,
            remedy="lower the context length, or raise the memory fraction",
        )
    return finding(_CHECK, Judgement.OK, f"by estimate there is room for {result.tokens} tokens", *result.arithmetic)


CHECK: Check = Check(judge=judge, needs=("gpus", "model_files"))
