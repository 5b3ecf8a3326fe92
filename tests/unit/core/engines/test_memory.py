"""The memory model on shapes whose figures are known."""

import pytest

from bot.core.domain.reading import Known, Unknown
from bot.core.engines._memory import ModelShape, estimate, kv_value_bytes, model_shape

HYBRID = {
    "architectures": ["Wrapper"],
    "text_config": {
        "num_hidden_layers": 64, "hidden_size": 5120, "num_attention_heads": 24, "num_key_value_heads": 4,
        "head_dim": 256, "full_attention_interval": 4, "linear_num_key_heads": 16, "linear_num_value_heads": 48,
        "linear_key_head_dim": 128, "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4,
    },
}  # fmt: skip


def shape(config: dict[str, object]) -> ModelShape:
    reading = model_shape(config)
    assert isinstance(reading, Known)
    return reading.value


def test_only_attention_layers_of_a_hybrid_count() -> None:
    found = shape(HYBRID)
    assert (found.attention_layers, found.linear_layers) == (16, 48)
    # 48 heads x 128 x 128 x 4 bytes, and (2 x 16 x 128 + 48 x 128) x 3 x 2 bytes of the convolution's window
    assert found.state_bytes == 48 * 128 * 128 * 4 + (2 * 16 * 128 + 48 * 128) * 3 * 2


def test_kv_per_token_agrees_with_a_real_start() -> None:
    # SGLang 0.5.11 on an H200: 519865 tokens, K 31.73 GB and V 31.73 GB, for 32 layers of 8 KV heads x 128 in 16 bits
    found = shape(
        {
            "num_hidden_layers": 32,
            "hidden_size": 3072,
            "num_attention_heads": 24,
            "num_key_value_heads": 8,
            "head_dim": 128,
        }
    )
    result = estimate(
        found, weights_bytes=0, ranks=1, tensor_parallel=1, kv_value_bytes=2, budget_mib=2 * 31.73 * 1024 + 1536,
        budget_said="measured", requests=1,
    )  # fmt: skip
    assert result.kv_bytes_per_token == 131072
    assert result.tokens == pytest.approx(519865, rel=0.001)


def test_weights_and_kv_split_over_ranks() -> None:
    result = estimate(
        shape(HYBRID), weights_bytes=54 * 2**30, ranks=2, tensor_parallel=2, kv_value_bytes=2, budget_mib=40_000,
        budget_said="x", requests=10,
    )  # fmt: skip
    assert result.weights_mib == 27 * 1024
    assert result.kv_bytes_per_token == 2 * 16 * 4 * 256 * 2 / 2
    assert any("16 of 64 layers" in line for line in result.arithmetic)
    assert any("x 10 requests" in line for line in result.arithmetic)


def test_kv_heads_are_not_split_further_than_one() -> None:
    config = {"num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 8, "num_key_value_heads": 2}
    two, eight = (
        estimate(shape(config), weights_bytes=0, ranks=n, tensor_parallel=n, kv_value_bytes=2, budget_mib=9999,
                 budget_said="x", requests=1).kv_bytes_per_token
        for n in (2, 8)
    )  # fmt: skip
    assert two == eight


def test_compressed_kv_is_kept_on_every_rank() -> None:
    config = {
        "num_hidden_layers": 61,
        "hidden_size": 7168,
        "num_attention_heads": 128,
        "kv_lora_rank": 512,
        "qk_rope_head_dim": 64,
    }
    result = estimate(shape(config), weights_bytes=0, ranks=8, tensor_parallel=8, kv_value_bytes=2, budget_mib=9999,
                      budget_said="x", requests=1)  # fmt: skip
    assert result.kv_bytes_per_token == 61 * 576 * 2


def test_sliding_layers_are_capped() -> None:
    config = {
        "num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 4, "sliding_window": 128,
        "layer_types": ["sliding_attention", "full_attention"] * 2,
    }  # fmt: skip
    found = shape(config)
    assert (found.attention_layers, found.sliding_layers, found.window) == (2, 2, 128)


def test_weights_that_do_not_fit_leave_no_room() -> None:
    result = estimate(
        shape(HYBRID), weights_bytes=10**12, ranks=1, tensor_parallel=1, kv_value_bytes=2, budget_mib=40_000,
        budget_said="x", requests=1,
    )  # fmt: skip
    assert result.tokens == -1


def test_a_config_that_says_too_little_is_unknown() -> None:
    assert isinstance(model_shape({"model_type": "x"}), Unknown)


@pytest.mark.parametrize(
    ("cache", "dtype", "size"),
    [
        (None, None, 2),
        ("auto", "bfloat16", 2),
        ("fp8_e4m3", "bfloat16", 1),
        ("nvfp4", None, 0.5),
        (None, "float32", 4),
        ("q8_0", None, 1),
    ],
)
def test_bytes_of_a_cached_value(cache: str | None, dtype: str | None, size: float) -> None:
    assert kv_value_bytes(cache, dtype) == size
