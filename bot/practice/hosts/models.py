"""Placeholder models: real config.json, index and safetensors headers, sparse data. They take a few kB on disk."""

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_TOKENIZER = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "chat_template": "{% for m in messages %}{{ m.content }}{% endfor %}",
}


@dataclass(frozen=True, kw_only=True)
class Placeholder:
    """What a placeholder pretends to be. Sizes are those of the weights in BF16 unless quantised."""

    name: str
    gib: float
    shards: int
    #: single-stream decode speed without speculation
    tok_s: float
    config: dict[str, Any]


def write_model(folder: Path, model: Placeholder) -> Path:
    """Write a model folder; gives its path."""
    path = folder / model.name
    path.mkdir(parents=True, exist_ok=True)
    (path / "config.json").write_text(json.dumps(model.config, indent=2), encoding="utf-8")
    (path / "tokenizer_config.json").write_text(json.dumps(_TOKENIZER), encoding="utf-8")
    (path / "tokenizer.json").write_text(json.dumps({"version": "1.0", "model": {"type": "BPE"}}), encoding="utf-8")
    (path / "generation_config.json").write_text(json.dumps({"temperature": 0.7}), encoding="utf-8")
    (path / "practice.json").write_text(json.dumps({"tok_s": model.tok_s}), encoding="utf-8")
    total = int(model.gib * 2**30)
    weight_map = {}
    for number in range(1, model.shards + 1):
        name = f"model-{number:05d}-of-{model.shards:05d}.safetensors"
        tensor = f"model.layers.{number - 1}.mlp.down_proj.weight"
        _write_shard(path / name, tensor, total // model.shards)
        weight_map[tensor] = name
    index = {"metadata": {"total_size": total // model.shards * model.shards}, "weight_map": weight_map}
    (path / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    return path


def _write_shard(path: Path, tensor: str, size: int) -> None:
    header = json.dumps({tensor: {"dtype": "BF16", "shape": [size // 2], "data_offsets": [0, size]}}).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + size)


def write_gguf(path: Path, gib: float, tok_s: float) -> Path:
    """Write a GGUF file with a right head and sparse data."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQ", 3, 0, 0))
        file.truncate(int(gib * 2**30))
    path.with_name(path.name + ".practice.json").write_text(json.dumps({"tok_s": tok_s}), encoding="utf-8")
    return path


def qwen_27b() -> Placeholder:
    """A 27B hybrid with one MTP layer, its text settings nested as in the multimodal wrapper."""
    text = {
        "model_type": "qwen3_5_text",
        "hidden_size": 5120,
        "num_hidden_layers": 64,
        "num_attention_heads": 24,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "intermediate_size": 17408,
        "max_position_embeddings": 262144,
        "full_attention_interval": 4,
        "layer_types": (["linear_attention"] * 3 + ["full_attention"]) * 16,
        "linear_num_key_heads": 16,
        "linear_num_value_heads": 48,
        "linear_key_head_dim": 128,
        "linear_value_head_dim": 128,
        "mtp_num_hidden_layers": 1,
        "vocab_size": 248320,
        "dtype": "bfloat16",
    }
    config = {
        "architectures": ["Qwen3_5ForConditionalGeneration"],
        "model_type": "qwen3_5",
        "text_config": text,
        "vision_config": {"depth": 27, "hidden_size": 1152},
    }
    return Placeholder(name="Qwen3.6-27B", gib=54.0, shards=15, tok_s=27.0, config=config)


def moe_80b() -> Placeholder:
    """An 80B mixture of experts with 3B active and one MTP layer."""
    config = {
        "architectures": ["Qwen3NextForCausalLM"],
        "model_type": "qwen3_next",
        "hidden_size": 2048,
        "num_hidden_layers": 48,
        "num_attention_heads": 16,
        "num_key_value_heads": 2,
        "head_dim": 256,
        "num_experts": 512,
        "max_position_embeddings": 262144,
        "full_attention_interval": 4,
        "num_nextn_predict_layers": 1,
        "vocab_size": 151936,
        "dtype": "bfloat16",
    }
    return Placeholder(name="Qwen3-Next-80B-A3B-Instruct", gib=152.0, shards=41, tok_s=78.0, config=config)
