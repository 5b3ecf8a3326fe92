"""vLLM's /metrics page, in the shape of 0.32."""

# ruff: noqa: UP031 - words of the engines are kept as they print them

from __future__ import annotations

from .generation import Generator


def page(generator: Generator, model: str) -> str:
    """The page."""
    counters = generator.counters
    labels = f'engine="0",model_name="{model}"'
    lines: list[str] = []

    def metric(name: str, kind: str, value: float, extra: str = "") -> None:
        if not extra:
            lines.append(f"# TYPE vllm:{name} {kind}")
        lines.append(f"vllm:{name}{{{labels}{extra}}} {float(value)}")

    metric("num_requests_running", "gauge", counters.running)
    metric("num_requests_waiting", "gauge", counters.waiting)
    metric("kv_cache_usage_perc", "gauge", 0.004 if counters.running else 0.0)
    metric("prefix_cache_queries_total", "counter", counters.prompt_tokens)
    metric("prefix_cache_hits_total", "counter", counters.cached_tokens)
    metric("num_preemptions_total", "counter", 0)
    metric("prompt_tokens_total", "counter", counters.prompt_tokens)
    metric("generation_tokens_total", "counter", counters.generated_tokens)
    lines.append("# TYPE vllm:request_success_total counter")
    for reason in ("stop", "length", "abort", "error"):
        done = counters.requests - counters.running if reason == "length" else 0
        lines.append(
            f'vllm:request_success_total{{engine="0",finished_reason="{reason}",model_name="{model}"}} {float(done)}'
        )
    if generator.speed.drafts:
        metric("spec_decode_num_drafts_total", "counter", counters.drafts)
        metric("spec_decode_num_draft_tokens_total", "counter", counters.draft_tokens)
        metric("spec_decode_num_accepted_tokens_total", "counter", counters.accepted)
        lines.append("# TYPE vllm:spec_decode_num_accepted_tokens_per_pos_total counter")
        for position in range(generator.speed.drafts):
            at = ',position="%d"' % position
            metric("spec_decode_num_accepted_tokens_per_pos_total", "counter", counters.accepted_at[position], at)
    for name, total in (
        ("time_to_first_token_seconds", counters.ttft_sum),
        ("e2e_request_latency_seconds", counters.latency_sum),
    ):
        lines.append(f"# TYPE vllm:{name} histogram")
        lines.append(f'vllm:{name}_bucket{{{labels},le="+Inf"}} {float(counters.requests)}')
        lines.append(f"vllm:{name}_count{{{labels}}} {float(counters.requests)}")
        lines.append(f"vllm:{name}_sum{{{labels}}} {total}")
    return "\n".join(lines) + "\n"
