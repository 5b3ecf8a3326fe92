"""Meaning groups of flags, for diffs. First match wins; a name that no rule knows is "other"."""

import re

_RULES: tuple[tuple[str, str], ...] = (
    ("speculative", r"^spec|speculative|draft|^mtp|^lookup-cache|decoupled-spec"),
    ("model", r"^(model|model-path|model-url|hf-|tokenizer|revision|code-revision|quantization|dtype|load-format|lora|"
              r"mmproj|chat-template|docker-repo|torchao|modelopt|trust-remote-code|served-model-name$)"),
    ("parallelism", r"^(tp|dp|pp|ep|attn-cp|attn-dp|dcp|moe-dp)-size$|parallel-size|-parallel(-|$)|^data-parallel|"
                    r"nnodes|node-rank|dist-init|tensor-split|split-mode|main-gpu|base-gpu-id|gpu-id-step|device|numa|nccl|"
                    r"all-reduce|allreduce|distributed|load-balance|dp-attention|master-(addr|port)|eplb"),
    ("memory", r"mem-|memory|kv-cache|cache-type|context-length|ctx-size|max-model-len|max-(total|running|num|prefill)|"
               r"chunked-prefill|offload|n-gpu-layers|gpu-layers|n-cpu-moe|cpu-moe|swap|block-size|page-size|"
               r"batch-size|mamba|radix|prefix-cach|hicache|hierarchical|kv-unified|cache-ram|parallel$|load-mode|mmap|"
               r"mlock|^fit|num-seqs|num-batched"),
    ("kernels", r"backend|cuda-?graph|enforce-eager|compil|torch-|flash-attn|attention|kernel|triton|"
                r"optimization-level|fused|overlap|gemm|nsa-|dsa-|piecewise"),
    ("serving", r"^(host|port|uds|api-key|alias|served|root-path|ssl|allowed|middleware|uvicorn|timeout|log|metrics|"
                r"enable-metrics|reasoning|tool|enable-auto-tool|grammar|guided|structured|jinja|slots|props|threads|"
                r"enable-request|disable-log|show|decode-log|stream|schedul|watchdog|max-log|h11|seed|warmup|skip-server)|"
                r"log-requests|tool-call|reasoning"),
)  # fmt: skip
_COMPILED = tuple((group, re.compile(pattern)) for group, pattern in _RULES)


def group_of(flag: str) -> str:
    """Group of a canonical flag name; a dotted one belongs where its head does."""
    name = flag.split(".", 1)[0]
    return next((group for group, pattern in _COMPILED if pattern.search(name)), "other")
