"""Settings of a launch under neutral names, from its command line and from the arguments that the engine printed."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence

#: neutral name -> flags of the engines, and names in the engines' own argument lines
_FLAGS: Mapping[str, tuple[str, ...]] = {
    "tensor_parallel": ("--tensor-parallel-size", "--tp-size", "--tp", "-tp"),
    "data_parallel": ("--data-parallel-size", "--dp-size", "--dp", "-dp"),
    "context_length": ("--context-length", "--max-model-len", "--ctx-size", "-c"),
    "memory_fraction": ("--mem-fraction-static", "--gpu-memory-utilization"),
    "max_running_requests": ("--max-running-requests", "--max-num-seqs", "--parallel", "-np"),
    "port": ("--port",),
    "speculative_steps": ("--speculative-num-steps", "--spec-draft-n-max", "--draft-max"),
    "speculative_draft_tokens": ("--speculative-num-draft-tokens",),
    "speculative_topk": ("--speculative-eagle-topk",),
    "speculative_algorithm": ("--speculative-algorithm", "--speculative-algo"),
    "kv_cache_dtype": ("--kv-cache-dtype", "--cache-type-k", "-ctk"),
    "attention_backend": ("--attention-backend",),
    "quantization": ("--quantization", "-q"),
    "dtype": ("--dtype",),
    "ubatch": ("--ubatch-size", "-ub"),
    "cuda_graph_max_bs": ("--cuda-graph-max-bs",),
    "chunked_prefill_size": ("--chunked-prefill-size", "--max-num-batched-tokens"),
}
_PRINTED: Mapping[str, tuple[str, ...]] = {
    "tensor_parallel": ("tp_size", "tensor_parallel_size"),
    "data_parallel": ("dp_size", "data_parallel_size"),
    "context_length": ("context_length", "max_model_len"),
    "memory_fraction": ("mem_fraction_static", "gpu_memory_utilization"),
    "max_running_requests": ("max_running_requests", "max_num_seqs"),
    "port": ("port",),
    "speculative_steps": ("speculative_num_steps",),
    "speculative_draft_tokens": ("speculative_num_draft_tokens",),
    "speculative_topk": ("speculative_eagle_topk",),
    "speculative_algorithm": ("speculative_algorithm",),
    "kv_cache_dtype": ("kv_cache_dtype",),
    "attention_backend": ("attention_backend",),
    "quantization": ("quantization",),
    "cuda_graph_max_bs": ("cuda_graph_max_bs",),
}


def split_command(command: str | None) -> tuple[str, ...]:
    """Words of a command as a person wrote it down; never raises."""
    if not command:
        return ()
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return tuple(command.split())


def settings_of(argv: Sequence[object], argument_lines: Iterable[str]) -> dict[str, str]:
    """Neutral name -> value as text. The command line wins: printed values may be defaults."""
    settings: dict[str, str] = {}
    for line in argument_lines:
        for name, keys in _PRINTED.items():
            for key in keys:
                match = re.search(rf"['\"]?\b{key}['\"]?(?:=|: )['\"]?([\w.+-]+)", line)
                if match and match[1] != "None":
                    settings.setdefault(name, match[1])
    words = [str(word) for word in argv]
    for name, flags in _FLAGS.items():
        for index, word in enumerate(words):
            flag, _, value = word.partition("=")
            if flag.replace("_", "-") not in flags:
                continue
            if not value and index + 1 < len(words):
                value = words[index + 1]
            if value and not value.startswith("--"):
                settings[name] = value
    return settings


def number(settings: Mapping[str, str], name: str) -> float | None:
    """A setting as a number; "16k" is 16000 and "16K" 16384, as vLLM reads them."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kKmM]?)", settings.get(name, ""))
    if match is None:
        return None
    scale = {"": 1, "k": 1000, "K": 1024, "m": 1000**2, "M": 1024**2}[match[2]]
    return float(match[1]) * scale
