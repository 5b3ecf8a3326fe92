"""What settings are called in words, as data: neutral name, nouns, range."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.core.language import lexicon as lex


def nouns(text: str) -> tuple[str, ...]:
    """Names between commas."""
    return tuple(text.split(", "))


@dataclass(frozen=True, slots=True)
class Number:
    """A setting with a number: nouns that may stand before or after it, and its range."""

    name: str
    nouns: tuple[str, ...]
    low: float
    high: float
    fraction: bool = False
    #: the number may stand before the noun ("3 steps"), after it ("tp 2")
    before: bool = True
    after: bool = True


NUMBERS = (
    Number(
        "speculative_draft_tokens",
        nouns(
            "speculative draft tokens, num draft tokens, draft tokens, draft token, drafts, draft_tokens, "
            "drafted tokens, speculative_num_draft_tokens, speculative_draft_tokens, spec tokens, "
            "speculative tokens, tokens drafted"
        ),
        1,
        256,
    ),
    Number(
        "speculative_steps",
        nouns(
            "speculative num steps, speculative steps, spec steps, mtp steps, draft steps, "
            "speculation steps, num steps, eagle steps, nextn steps, steps, step, speculative_steps, "
            "speculative_num_steps, num_steps"
        ),
        1,
        64,
    ),
    Number(
        "speculative_topk",
        nouns("eagle topk, eagle top k, speculative topk, topk, top k, top-k, speculative_topk, top_k"),
        1,
        64,
    ),
    Number(
        "max_running_requests",
        nouns(
            "max running requests, maximum running requests, max concurrent requests, running requests, "
            "max requests, max num seqs, max seqs, max running, max_running_requests, max_num_seqs, "
            "max batch size, batch size, max batch, concurrent requests, request limit, request slots, seqs max, "
            "slots, max sequences, concurrent sequences, parallel requests"
        ),
        1,
        65536,
    ),
    Number(
        "context_length",
        nouns(
            "tokens of context, token context, context length, context window, context size, context_length, "
            "ctx length, ctx len, ctx size, ctxlen, max context length, max context, max model len, "
            "max_model_len, max len, max length, context, ctx, seq len, sequence length, contexts, "
            "contextlength, con text"
        ),
        256,
        16 * 1024 * 1024,
    ),
    Number(
        "tensor_parallel",
        nouns(
            "tensor parallel size, tensor parallelism, tensor parallel, tensor_parallel, tensor-parallel, "
            "tp size, tp_size, tp, tensor-parallel-size"
        ),
        1,
        64,
    ),
    Number(
        "data_parallel",
        nouns("data parallel size, data parallelism, data parallel, data_parallel, data-parallel, dp size, dp"),
        1,
        64,
    ),
    Number("port", nouns("port number, port"), 1, 65535, before=False),
    Number(
        "memory_fraction",
        nouns(
            "mem fraction static, mem fraction, memory fraction, mem_fraction, mem-fraction, "
            "gpu memory utilization, gpu memory utilisation, gpu mem util, gpu memory, gpu mem, "
            "memory utilization, mem util, memory utilisation, of the memory, of gpu memory, "
            "of the gpu memory, of the vram, of vram, of memory, vram, memory, mem, gpu utilization, "
            "utilization, utilisation, util, "
            "mem_fraction_static, memory_fraction, of mem, of the gpu, mem frac"
        ),
        0.05,
        1.0,
        fraction=True,
    ),
)
KINDS: tuple[tuple[frozenset[str], frozenset[str], str, Mapping[str, str]], ...] = (
    (
        frozenset({"kv cache", "kv-cache", "kvcache", "kv dtype", "kv_cache_dtype", "kv"}),
        lex.KV_DTYPES,
        "kv_cache_dtype",
        {},
    ),
    (
        frozenset(
            {
                "attention backend",
                "attn backend",
                "attention",
                "attention-backend",
                "attention_backend",
                "backend",
                "kernels",
            }
        ),
        lex.ATTENTION_BACKENDS,
        "attention_backend",
        {"flashattention": "flash_attn"},
    ),
    (
        frozenset({"quantization", "quantisation", "quant", "quantized", "quantize"}),
        lex.QUANTIZATIONS,
        "quantization",
        {},
    ),
    (frozenset({"dtype", "precision", "data type"}), frozenset(lex.DTYPES), "dtype", lex.DTYPES),
)
