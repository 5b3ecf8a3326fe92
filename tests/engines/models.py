"""Tiny models for real engines, made from nothing: a few MB, no download.

    python models.py hf FOLDER      Qwen3 in Hugging Face layout, random weights (vLLM, SGLang, transformers)
    python models.py gguf FOLDER    llama.gguf, draft.gguf (same vocabulary, worse bigrams), mtp.gguf (one MTP layer)

The GGUF models write text that follows the bigrams of Python's own documentation, so that a worse copy of the same
bigrams guesses well: about 0.7 of the drafts are accepted at temperature 0. None of the models ends its text by itself.
Needs numpy and tokenizers, and safetensors (hf) or gguf (gguf): run it with an engine's Python.
"""

import argparse
import json
from pathlib import Path
from pydoc_data import topics
from typing import Any

import numpy as np
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

VOCABULARY = 1024
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
END, PAD = "<|im_end|>", "<|endoftext|>"
TEMPLATE = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>' + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
#: how Qwen splits text before byte pairs are merged
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
Weights = dict[str, "np.ndarray[Any, np.dtype[np.float32]]"]


def tokenizer() -> Tokenizer:
    """Byte-level BPE trained on Python's own documentation."""
    made = Tokenizer(models.BPE())
    made.normalizer = normalizers.NFC()
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY - len(SPECIAL), initial_alphabet=alphabet, show_progress=False)
    made.train_from_iterator(list(topics.topics.values()), trainer)
    made.add_special_tokens([AddedToken(s, special=True, normalized=False) for s in SPECIAL])
    return made


# ---- Hugging Face layout --------------------------------------------------------------------------------------------


def write_hf(
    folder: Path, *, hidden: int = 64, layers: int = 2, heads: int = 4, kv_heads: int = 2, seed: int = 0
) -> None:
    """A random Qwen3. Larger `hidden` and `layers` make it slower."""
    from safetensors.numpy import save_file

    head, ffn, context = 32, 2 * hidden, 2048
    folder.mkdir(parents=True, exist_ok=True)
    tok = tokenizer()
    tok.save(str(folder / "tokenizer.json"))
    ids = {s: tok.token_to_id(s) for s in SPECIAL}
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    files: dict[str, dict[str, Any]] = {
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": context,
            "eos_token": END,
            "pad_token": PAD,
            "clean_up_tokenization_spaces": False,
            "chat_template": TEMPLATE,
        },
        "generation_config.json": {"do_sample": True, "temperature": 1.0, "eos_token_id": list(ids.values())},
        "config.json": {
            "architectures": ["Qwen3ForCausalLM"],
            "model_type": "qwen3",
            "attention_bias": False,
            "eos_token_id": ids[END],
            "pad_token_id": ids[PAD],
            "head_dim": head,
            "hidden_act": "silu",
            "hidden_size": hidden,
            "intermediate_size": ffn,
            "max_position_embeddings": context,
            "num_attention_heads": heads,
            "num_hidden_layers": layers,
            "num_key_value_heads": kv_heads,
            "rms_norm_eps": 1e-6,
            "rope_theta": 1e6,
            "tie_word_embeddings": False,
            "torch_dtype": "float32",
            "vocab_size": VOCABULARY,
        },
    }
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content, indent=2) + "\n")
    rng = np.random.default_rng(seed)

    def some(*shape: int) -> Any:
        return (rng.standard_normal(shape) * 0.05).astype(np.float32)

    weights: Weights = {
        "model.embed_tokens.weight": some(VOCABULARY, hidden),
        "lm_head.weight": some(VOCABULARY, hidden),
    }
    weights["model.norm.weight"] = np.ones(hidden, np.float32)
    weights["lm_head.weight"][list(ids.values())] = 0
    for i in range(layers):
        shapes = {
            "self_attn.q_proj": (heads * head, hidden),
            "self_attn.k_proj": (kv_heads * head, hidden),
            "self_attn.v_proj": (kv_heads * head, hidden),
            "self_attn.o_proj": (hidden, heads * head),
            "mlp.gate_proj": (ffn, hidden),
            "mlp.up_proj": (ffn, hidden),
            "mlp.down_proj": (hidden, ffn),
        }
        layer = f"model.layers.{i}."
        weights |= {f"{layer}{name}.weight": some(*shape) for name, shape in shapes.items()}
        for name, size in (("input_layernorm", hidden), ("post_attention_layernorm", hidden)):
            weights[f"{layer}{name}.weight"] = np.ones(size, np.float32)
        for name in ("self_attn.q_norm", "self_attn.k_norm"):
            weights[f"{layer}{name}.weight"] = np.ones(head, np.float32)
    save_file(weights, str(folder / "model.safetensors"), metadata={"format": "pt"})


# ---- GGUF -----------------------------------------------------------------------------------------------------------


class Bigrams:
    """Which token follows which in the documentation, factored into an embedding and the output matrix's goal."""

    def __init__(self, tok: Tokenizer, hidden: int) -> None:
        stream = np.array(tok.encode("\n".join(topics.topics[k] for k in sorted(topics.topics))).ids)
        counts = np.full((VOCABULARY, VOCABULARY), 0.02)
        np.add.at(counts, (stream[:-1], stream[1:]), 1)
        logits = 2 * np.log(counts / counts.sum(1, keepdims=True))
        self.logits = logits - logits.mean(1, keepdims=True)
        self.rank = min(hidden - 1, 255)
        left, sizes, _ = np.linalg.svd(self.logits, full_matrices=False)
        self.embedding = np.zeros((VOCABULARY, hidden), np.float32)
        self.embedding[:, 1 : self.rank + 1] = left[:, : self.rank] * sizes[: self.rank] ** 0.5
        #: a constant feature: it carries the bias against special tokens
        self.embedding[:, 0] = 1

    def output(self, noise: float, rng: np.random.Generator, barred: list[int]) -> Any:
        """Output matrix that gives these bigrams, wrong by `noise`; `barred` tokens never come."""
        size = np.sqrt((self.embedding**2).mean(1, keepdims=True))
        seen = (self.embedding / size)[:, : self.rank + 1]
        goal = self.logits + rng.standard_normal(self.logits.shape) * self.logits.std() * noise
        fitted = np.linalg.lstsq(seen, goal, rcond=None)[0].T.astype(np.float32)
        matrix = np.pad(fitted, ((0, 0), (0, self.embedding.shape[1] - self.rank - 1)))
        matrix[barred] = 0
        matrix[barred, 0] = -60
        return matrix


class GgufMaker:
    """Writes llama and mimo2 (with one MTP layer) models that share vocabulary and bigrams."""

    def __init__(
        self, *, hidden: int = 256, heads: int = 8, kv_heads: int = 4, ffn: int = 512, context: int = 4096
    ) -> None:
        self.hidden, self.heads, self.kv_heads, self.ffn, self.context = hidden, heads, kv_heads, ffn, context
        self.head = hidden // heads
        self.tokenizer = tokenizer()
        self.ids = {s: self.tokenizer.token_to_id(s) for s in SPECIAL}
        self.bigrams = Bigrams(self.tokenizer, hidden)

    def write(self, path: Path, *, layers: int = 4, noise: float = 0.0, mtp: bool = False, seed: int = 0) -> None:
        """One model. `noise`: how wrong the bigrams are, of the MTP layer where there is one."""
        rng = np.random.default_rng(seed)
        weights: Weights = {
            "token_embd": self.bigrams.embedding,
            "output_norm": np.ones(self.hidden, np.float32),
            "output": self.bigrams.output(0.0 if mtp else noise, rng, list(self.ids.values())),
        }
        for i in range(layers + mtp):
            weights |= self._layer(f"blk.{i}.", layers, rng, mtp)
        if mtp:
            weights |= self._mtp(f"blk.{layers}.", noise, rng)
        self._save(path, weights, layers, mtp)

    def _random(self, rng: np.random.Generator, rows: int, columns: int, scale: float = 1.0) -> Any:
        return rng.standard_normal((rows, columns), dtype=np.float32) * np.float32(scale / columns**0.5)

    def _layer(self, name: str, layers: int, rng: np.random.Generator, fused: bool) -> Weights:
        d, kv = self.hidden, self.kv_heads * self.head
        q, k, v = self._random(rng, d, d), self._random(rng, kv, d), self._random(rng, kv, d)
        made: Weights = {"attn_qkv": np.concatenate([q, k, v])} if fused else {"attn_q": q, "attn_k": k, "attn_v": v}
        made |= {
            "attn_norm": np.ones(d, np.float32),
            "ffn_norm": np.ones(d, np.float32),
            "attn_output": self._random(rng, d, d, 0.1 / layers),
            "ffn_gate": self._random(rng, self.ffn, d),
            "ffn_up": self._random(rng, self.ffn, d),
            "ffn_down": self._random(rng, d, self.ffn, 0.1 / layers),
        }
        made["attn_output"][0] = made["ffn_down"][0] = 0  # the constant feature stays
        return {name + key: value for key, value in made.items()}

    def _mtp(self, name: str, noise: float, rng: np.random.Generator) -> Weights:
        """What joins the last token's embedding with the hidden state: the embedding, and some noise."""
        d = self.hidden
        join = np.hstack([np.eye(d, dtype=np.float32), self._random(rng, d, d, noise)])
        join[0, d:] = 0
        norm = np.ones(d, np.float32)
        return {f"{name}nextn.enorm": norm, f"{name}nextn.hnorm": norm, f"{name}nextn.eh_proj": join}

    def _save(self, path: Path, weights: Weights, layers: int, mtp: bool) -> None:
        import gguf

        path.parent.mkdir(parents=True, exist_ok=True)
        g = gguf.GGUFWriter(str(path), "mimo2" if mtp else "llama")
        g.add_name(path.stem)
        g.add_file_type(1)
        g.add_context_length(self.context)
        g.add_embedding_length(self.hidden)
        g.add_block_count(layers + mtp)
        g.add_feed_forward_length(self.ffn)
        g.add_head_count(self.heads)
        g.add_head_count_kv(self.kv_heads)
        g.add_rope_dimension_count(self.head)
        g.add_layer_norm_rms_eps(1e-5)
        g.add_rope_freq_base(1e4)
        g.add_vocab_size(VOCABULARY)
        if mtp:
            g.add_nextn_predict_layers(1)
            g.add_key_length(self.head)
            g.add_value_length(self.head)
            g.add_expert_feed_forward_length(self.ffn)
            g.add_sliding_window(512)
            g.add_sliding_window_pattern([i % 2 == 0 for i in range(layers + 1)])
        self._add_tokenizer(g)
        for name, weight in weights.items():
            g.add_tensor(f"{name}.weight", weight.astype(np.float16) if weight.ndim == 2 else weight)
        g.write_header_to_file()
        g.write_kv_data_to_file()
        g.write_tensors_to_file()
        g.close()

    def _add_tokenizer(self, g: Any) -> None:
        import gguf

        words = {i: t for t, i in self.tokenizer.get_vocab().items()}
        merges = json.loads(self.tokenizer.to_str())["model"]["merges"]
        kinds = {True: gguf.TokenType.CONTROL, False: gguf.TokenType.NORMAL}
        g.add_tokenizer_model("gpt2")
        g.add_tokenizer_pre("qwen2")
        g.add_token_list([words[i] for i in range(VOCABULARY)])
        g.add_token_types([kinds[words[i] in SPECIAL] for i in range(VOCABULARY)])
        g.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in merges])
        g.add_eos_token_id(self.ids[END])
        g.add_pad_token_id(self.ids[PAD])
        g.add_add_bos_token(False)
        g.add_chat_template(TEMPLATE)


def write_gguf(folder: Path, *, noise: float = 0.1, hidden: int = 256, layers: int = 4) -> None:
    """llama.gguf, draft.gguf and mtp.gguf."""
    maker = GgufMaker(hidden=hidden, ffn=2 * hidden)
    maker.write(folder / "llama.gguf", layers=layers)
    maker.write(folder / "draft.gguf", layers=1, noise=noise, seed=1)
    maker.write(folder / "mtp.gguf", layers=layers, noise=noise, mtp=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("hf", "gguf"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--hidden", type=int)
    parser.add_argument("--layers", type=int)
    given = parser.parse_args()
    size = {k: v for k, v in (("hidden", given.hidden), ("layers", given.layers)) if v is not None}
    (write_hf if given.kind == "hf" else write_gguf)(given.folder, **size)


if __name__ == "__main__":
    main()
