"""GPU memory model: an estimate to warn with, never to veto.

Weights per GPU = bytes of the checkpoint / (TP x PP). KV per token = 2 x full-attention layers x KV heads x head dim x
bytes / min(TP, KV heads): in a hybrid model only its attention layers count, and its linear (Gated DeltaNet) layers
hold a fixed state per running request. MLA keeps one compressed vector per layer and token on every rank. Names and
shapes as in the models' config.json (Hugging Face); overhead from starts on an H200.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.core.domain.reading import Known, Reading, Unknown

_MIB = 2**20
#: CUDA context 0.5 GiB, graphs 1 GiB (0.09 GB decode + 0.96 GB prefill graphs measured for 3.4 B parameters)
OVERHEAD_MIB = 1536.0
#: the recurrent state is kept in float32, the convolution's window in 16 bits
_STATE_BYTES, _CONV_BYTES = 4, 2
_FULL_ATTENTION = ("full_attention", "attention", "global_attention", "full")
_SLIDING = ("sliding_attention", "sliding", "chunked_attention")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShape:
    """What config.json says that costs memory while serving."""

    layers: int
    #: layers whose KV grows with the context
    attention_layers: int
    #: layers whose KV is capped at the window
    sliding_layers: int
    window: int
    kv_heads: int
    head_dim: int
    #: values per token and layer of a compressed KV (MLA), kept on every rank; 0: ordinary K and V
    latent: int
    linear_layers: int
    #: bytes of recurrent and convolution state per linear layer and request
    state_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEstimate:
    """Per GPU, in MiB; `arithmetic` shows how, a line each."""

    weights_mib: float
    kv_bytes_per_token: float
    state_mib_per_request: float
    overhead_mib: float
    #: KV tokens that fit beside weights, states and overhead; negative: the weights alone do not fit
    tokens: int
    arithmetic: tuple[str, ...]


def model_shape(config_json: Mapping[str, Any]) -> Reading[ModelShape]:
    """Read the shape, from text_config where a multimodal wrapper nests it."""
    nested = config_json.get("text_config") or config_json.get("llm_config")
    part = nested if isinstance(nested, Mapping) and "num_hidden_layers" in nested else config_json
    layers = _whole(part, "num_hidden_layers", "n_layer", "num_layers")
    heads = _whole(part, "num_attention_heads", "n_head")
    hidden = _whole(part, "hidden_size", "n_embd")
    if not layers or not heads or not hidden:
        return Unknown("config.json lacks num_hidden_layers, num_attention_heads or hidden_size")
    full, sliding, linear = _layer_kinds(part, layers)
    return Known(
        ModelShape(
            layers=layers,
            attention_layers=full,
            sliding_layers=sliding,
            window=_whole(part, "sliding_window", "attention_chunk_size"),
            kv_heads=_whole(part, "num_key_value_heads") or heads,
            head_dim=_whole(part, "head_dim") or hidden // heads,
            latent=_whole(part, "kv_lora_rank") and _whole(part, "kv_lora_rank") + _whole(part, "qk_rope_head_dim"),
            linear_layers=linear,
            state_bytes=_state_bytes(part),
        )
    )


def estimate(
    shape: ModelShape,
    *,
    weights_bytes: int,
    ranks: int,
    tensor_parallel: int,
    kv_value_bytes: float,
    budget_mib: float,
    budget_said: str,
    requests: int,
) -> MemoryEstimate:
    """How many tokens of KV fit on each of `ranks` GPUs (TP x PP) within the budget."""
    stages = max(1, ranks // max(1, tensor_parallel))
    weights = weights_bytes / max(1, ranks) / _MIB
    per_layer = _kv_bytes_per_layer(shape, tensor_parallel, kv_value_bytes)
    per_token = per_layer * shape.attention_layers / stages
    state = shape.state_bytes * shape.linear_layers / max(1, tensor_parallel) / stages / _MIB
    capped = per_layer * shape.sliding_layers * shape.window / stages / _MIB
    rest = budget_mib - weights - OVERHEAD_MIB - (state + capped) * requests
    tokens = int(rest * _MIB / per_token) if per_token else 0
    fixed = state + capped
    lines = [
        f"budget {budget_mib:.0f} MiB = {budget_said}",
        f"weights {weights:.0f} MiB = {weights_bytes / _MIB:.0f} MiB / {ranks} GPUs",
        f"KV {per_token / 1024:.1f} KiB per token = {_kv_words(shape, tensor_parallel, kv_value_bytes)}"
        + (f" / {stages} stages" if stages > 1 else ""),
        f"overhead about {OVERHEAD_MIB:.0f} MiB (CUDA context, graphs, activations)",
    ]
    if fixed:
        lines.insert(3, f"state {fixed * requests:.0f} MiB = {fixed:.1f} MiB x {requests} requests")
    lines.append(f"room for {max(tokens, 0)} tokens in {max(rest, 0):.0f} MiB")
    return MemoryEstimate(
        weights_mib=weights,
        kv_bytes_per_token=per_token,
        state_mib_per_request=fixed,
        overhead_mib=OVERHEAD_MIB,
        tokens=tokens if rest >= 0 else -1,
        arithmetic=tuple(lines),
    )


def kv_value_bytes(kv_cache_dtype: str | None, dtype: str | None) -> float:
    """Bytes of one K or V value: 1 for fp8 and int8, 0.5 for 4 bits, 4 for float32, else 2."""
    name = (kv_cache_dtype if kv_cache_dtype not in (None, "auto") else dtype or "").lower()
    if any(mark in name for mark in ("fp8", "int8", "q8", "mxfp8")):
        return 1.0
    if any(mark in name for mark in ("fp4", "int4", "q4", "nvfp4")):
        return 0.5
    return 4.0 if name in ("float32", "f32", "fp32", "float") else 2.0


def _kv_bytes_per_layer(shape: ModelShape, tensor_parallel: int, value_bytes: float) -> float:
    if shape.latent:
        return shape.latent * value_bytes
    return 2 * shape.kv_heads * shape.head_dim * value_bytes / min(max(1, tensor_parallel), shape.kv_heads)


def _kv_words(shape: ModelShape, tensor_parallel: int, value_bytes: float) -> str:
    layers = f"{shape.attention_layers} of {shape.layers} layers"
    if shape.latent:
        return f"{layers} x {shape.latent} compressed values x {value_bytes:g} bytes"
    split = min(max(1, tensor_parallel), shape.kv_heads)
    return f"2 x {layers} x {shape.kv_heads} KV heads x {shape.head_dim} x {value_bytes:g} bytes / {split}"


def _layer_kinds(part: Mapping[str, Any], layers: int) -> tuple[int, int, int]:
    """(full attention, sliding, linear or state-space) layers."""
    kinds = part.get("layer_types") or part.get("layers_block_type")
    if isinstance(kinds, list) and kinds:
        full = sum(kind in _FULL_ATTENTION for kind in kinds)
        sliding = sum(kind in _SLIDING for kind in kinds)
        return full, sliding, len(kinds) - full - sliding
    pattern = part.get("hybrid_override_pattern")
    if isinstance(pattern, str):
        # Nemotron-H: M is Mamba, * attention, - an MLP
        return pattern.count("*"), 0, pattern.count("M")
    interval = _whole(part, "full_attention_interval")
    if interval:
        return layers // interval, 0, layers - layers // interval
    return layers, 0, 0


def _state_bytes(part: Mapping[str, Any]) -> int:
    """State of one linear layer for one request: Gated DeltaNet, else Mamba 2, else 0."""
    key_heads, value_heads = _whole(part, "linear_num_key_heads"), _whole(part, "linear_num_value_heads")
    key_dim, value_dim = _whole(part, "linear_key_head_dim"), _whole(part, "linear_value_head_dim")
    if value_heads and key_dim and value_dim:
        recurrent = value_heads * key_dim * value_dim * _STATE_BYTES
        width = 2 * key_heads * key_dim + value_heads * value_dim
        return recurrent + width * max(0, _whole(part, "linear_conv_kernel_dim") - 1) * _CONV_BYTES
    heads, dim = _whole(part, "mamba_num_heads", "mamba_n_heads"), _whole(part, "mamba_head_dim", "mamba_d_head")
    return heads * dim * _whole(part, "ssm_state_size", "mamba_d_state") * _STATE_BYTES


def _whole(part: Mapping[str, Any], *names: str) -> int:
    """First of these fields that is a whole number above 0, else 0."""
    for name in names:
        value = part.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return 0
