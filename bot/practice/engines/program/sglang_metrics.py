"""SGLang's /metrics page, in the shape of 0.5.11. Gauges show the last logged batch, also when the server is idle."""

from __future__ import annotations

from .generation import Generator


def page(generator: Generator, model: str) -> str:
    """The page."""
    counters = generator.counters
    plain = f'engine_type="unified",model_name="{model}"'
    ranked = plain + ',moe_ep_rank="0",pp_rank="0",tp_rank="0"'
    lines: list[str] = []

    def metric(name: str, kind: str, help_: str, value: float, labels: str) -> None:
        lines.append(f"# HELP sglang:{name} {help_}")
        lines.append(f"# TYPE sglang:{name} {kind}")
        lines.append(f"sglang:{name}{{{labels}}} {float(value)}")

    lines.append("# HELP sglang:realtime_tokens_total Total number of tokens processed (updated on each log interval).")
    lines.append("# TYPE sglang:realtime_tokens_total counter")
    for mode, value in (
        ("prefill_compute", counters.prompt_tokens - counters.cached_tokens),
        ("decode", counters.generated_tokens),
    ):
        labels = ranked.replace("model_name=", f'mode="{mode}",model_name=')
        lines.append(f"sglang:realtime_tokens_total{{{labels}}} {float(value)}")
    metric("prompt_tokens_total", "counter", "Number of prefill tokens processed.", counters.prompt_tokens, plain)
    metric(
        "generation_tokens_total", "counter", "Number of generation tokens processed.", counters.generated_tokens, plain
    )
    metric("num_requests_total", "counter", "Number of requests processed.", counters.requests, plain)
    for name, total in (
        ("time_to_first_token_seconds", counters.ttft_sum),
        ("e2e_request_latency_seconds", counters.latency_sum),
    ):
        lines.append(f"# HELP sglang:{name} Histogram in seconds.")
        lines.append(f"# TYPE sglang:{name} histogram")
        lines.append(f"sglang:{name}_sum{{{plain}}} {total}")
        lines.append(f'sglang:{name}_bucket{{le="+Inf",{plain}}} {float(counters.requests)}')
        lines.append(f"sglang:{name}_count{{{plain}}} {float(counters.requests)}")
    logged = counters.logged
    metric("num_running_reqs", "gauge", "The number of running requests.", logged["running"], ranked)
    metric("num_queue_reqs", "gauge", "The number of requests in the waiting queue.", counters.waiting, ranked)
    metric("gen_throughput", "gauge", "The generation throughput (token/s).", logged["throughput"], ranked)
    metric("cache_hit_rate", "gauge", "The prefix cache hit rate.", 0.0, ranked)
    metric("token_usage", "gauge", "The token usage.", 0.01 if counters.running else 0.0, ranked)
    if generator.speed.drafts:
        metric(
            "spec_accept_length", "gauge", "Mean acceptance length of speculative decoding.", logged["accept"], ranked
        )
        rate = max(0.0, logged["accept"] - 1) / generator.speed.drafts
        metric("spec_accept_rate", "gauge", "Speculative acceptance rate.", rate, ranked)
    metric("utilization", "gauge", "The utilization.", 0.0, ranked)
    metric("is_cuda_graph", "gauge", "Whether the batch is using CUDA graph.", 1.0, ranked)
    return "\n".join(lines) + "\n"
