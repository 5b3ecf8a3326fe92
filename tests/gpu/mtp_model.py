#!/usr/bin/env python3
"""Write a model whose speed is real and whose speculation is known: a MiMo checkpoint (Qwen2 layers, one MTP layer).

The layers do all their arithmetic but add nothing (output projections are zero), so every next token follows from the
current one alone: the answer is a fixed cycle through the vocabulary. The MTP layer predicts the same cycle, except
after a chosen share of the tokens: its acceptance is 1 - --miss at each position. With 20 % misses one step accepts 1.8
tokens a pass and three steps 2.95.

Needs torch, safetensors, tokenizers.
usage: mtp_model.py OUT [--hidden 3072] [--layers 32] [--ffn 8192] [--shards 15] [--miss 0.2]
"""

import argparse
import json
import pathlib
from pydoc_data import topics

import torch
from safetensors.torch import save_file
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

p = argparse.ArgumentParser()
p.add_argument("out")
p.add_argument("--hidden", type=int, default=3072)
p.add_argument("--layers", type=int, default=32)
p.add_argument("--heads", type=int, default=24)
p.add_argument("--kv-heads", type=int, default=8)
p.add_argument("--ffn", type=int, default=8192)
p.add_argument("--vocab", type=int, default=4096)
p.add_argument("--context", type=int, default=32768)
p.add_argument("--shards", type=int, default=15)
p.add_argument("--miss", type=float, default=0.2)
p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
a = p.parse_args()
out = pathlib.Path(a.out)
out.mkdir(parents=True, exist_ok=True)
torch.manual_seed(0)
H, V, D = a.hidden, a.vocab, a.hidden // a.heads

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
tok = Tokenizer(models.BPE())
tok.normalizer = normalizers.NFC()
tok.pre_tokenizer = pre_tokenizers.Sequence(
    [
        pre_tokenizers.Split(Regex(SPLIT), behavior="isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ]
)
tok.decoder = decoders.ByteLevel()
tok.train_from_iterator(
    list(topics.topics.values()),
    trainers.BpeTrainer(
        vocab_size=V - len(SPECIAL), initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    ),
)
tok.add_special_tokens([AddedToken(s, special=True, normalized=False) for s in SPECIAL])
assert tok.get_vocab_size() == V, tok.get_vocab_size()
ids = {s: tok.token_to_id(s) for s in SPECIAL}
tok.save(str(out / "tokenizer.json"))
template = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>' + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
(out / "chat_template.jinja").write_text(template)


def dump(name, value):
    (out / name).write_text(json.dumps(value, indent=2) + "\n")


dump(
    "tokenizer_config.json",
    {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": a.context,
        "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>",
        "clean_up_tokenization_spaces": False,
        "chat_template": template,
    },
)
dump(
    "generation_config.json",
    {"eos_token_id": [ids["<|im_end|>"], ids["<|endoftext|>"]], "pad_token_id": ids["<|endoftext|>"]},
)
dump(
    "config.json",
    {
        "architectures": ["MiMoForCausalLM"],
        "model_type": "mimo",
        "num_nextn_predict_layers": 1,
        "auto_map": {"AutoConfig": "configuration_mimo.MiMoConfig"},
        "attention_bias": True,
        "attention_dropout": 0.0,
        "head_dim": D,
        "eos_token_id": ids["<|im_end|>"],
        "pad_token_id": ids["<|endoftext|>"],
        "hidden_act": "silu",
        "hidden_size": H,
        "intermediate_size": a.ffn,
        "max_position_embeddings": a.context,
        "num_attention_heads": a.heads,
        "num_hidden_layers": a.layers,
        "num_key_value_heads": a.kv_heads,
        "rms_norm_eps": 1e-5,
        "rope_theta": 640000.0,
        "tie_word_embeddings": False,
        "use_cache": True,
        "torch_dtype": "bfloat16",
        "vocab_size": V,
        "use_sliding_window": False,
        "sliding_window": None,
        "max_window_layers": a.layers,
    },
)
(out / "configuration_mimo.py").write_text(
    "from transformers.models.qwen2.configuration_qwen2 import Qwen2Config\n\n\n"
    'class MiMoConfig(Qwen2Config):\n    model_type = "mimo"\n'
)


def unit_rows(x):
    return x / x.norm(dim=1, keepdim=True)


def layer(prefix):
    def r(*s):
        return (torch.randn(*s, device=a.device) * 0.02).bfloat16()

    def zero(*s):
        return torch.zeros(*s, dtype=torch.bfloat16)

    one = torch.ones(H, dtype=torch.bfloat16)
    return {
        prefix + k: v.cpu()
        for k, v in {
            "input_layernorm.weight": one,
            "post_attention_layernorm.weight": one.clone(),
            "self_attn.q_proj.weight": r(a.heads * D, H),
            "self_attn.q_proj.bias": zero(a.heads * D),
            "self_attn.k_proj.weight": r(a.kv_heads * D, H),
            "self_attn.k_proj.bias": zero(a.kv_heads * D),
            "self_attn.v_proj.weight": r(a.kv_heads * D, H),
            "self_attn.v_proj.bias": zero(a.kv_heads * D),
            "self_attn.o_proj.weight": zero(H, a.heads * D),
            "mlp.gate_proj.weight": r(a.ffn, H),
            "mlp.up_proj.weight": r(a.ffn, H),
            "mlp.down_proj.weight": zero(H, a.ffn),
        }.items()
    }


# The vocabulary's cycle, and one direction of the residual stream that marks the tokens after which MTP is wrong.
plain = torch.tensor([i for i in range(V) if i not in ids.values()])
cycle = plain[torch.randperm(len(plain))]
follows = torch.arange(V)
follows[cycle] = cycle.roll(-1)
for i in ids.values():
    follows[i] = cycle[i % len(cycle)]
mark = unit_rows(torch.randn(1, H))[0]
embed = torch.randn(V, H)
embed = unit_rows(embed - (embed @ mark)[:, None] * mark)
missed = torch.rand(V) < a.miss
embed[missed] += 1.5**0.5 * mark
head = torch.zeros(V, H)
head[follows[plain]] = embed[plain]
mirror = torch.eye(H) - 2 * mark[:, None] * mark[None, :]
weights = {
    "model.embed_tokens.weight": embed.bfloat16(),
    "lm_head.weight": head.bfloat16(),
    "model.norm.weight": torch.ones(H, dtype=torch.bfloat16),
    "model.mtp_layers.0.input_proj.weight": torch.cat([torch.zeros(H, H), mirror], 1).bfloat16(),
}
for name in ("token_layernorm", "hidden_layernorm", "final_layernorm"):
    weights[f"model.mtp_layers.0.{name}.weight"] = torch.ones(H, dtype=torch.bfloat16)
weights |= layer("model.mtp_layers.0.")
groups = [dict(weights)]
for i in range(a.layers):
    groups.append(layer(f"model.layers.{i}."))

shards = [{} for _ in range(min(a.shards, len(groups)))]
for n, g in enumerate(groups):
    shards[n * len(shards) // len(groups)] |= g
index, total = {}, 0
for n, s in enumerate(shards, 1):
    name = f"model-{n:05d}-of-{len(shards):05d}.safetensors"
    save_file({k: v.contiguous() for k, v in s.items()}, str(out / name), metadata={"format": "pt"})
    index |= dict.fromkeys(s, name)
    total += sum(v.numel() * v.element_size() for v in s.values())
dump("model.safetensors.index.json", {"metadata": {"total_size": total}, "weight_map": index})
print(f"wrote {out}: {total / 1e9:.2f} GB in {len(shards)} shards, MTP misses {missed.float().mean():.3f}")
