"""Secrets go, numbers and names stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.rendering import redact
from bot.core.rendering.redact import is_secret_name

PEM = (
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ==\nQyNTUxOQ==\n"
    "-----END OPENSSH PRIVATE KEY-----"
)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("login with hf_aBcDeFgHiJkLmNoP ok", "hf_aBcDeFgHiJkLmNoP"),
        ("key sk-proj-abc123DEF456 used", "sk-proj-abc123DEF456"),
        ("xoxb-123-456-abcdef", "xoxb-123-456-abcdef"),
        ("xapp-1-A0-99-cafe", "xapp-1-A0-99-cafe"),
        ("Authorization: Bearer abc.def-123", "abc.def-123"),
        ("authorization: deadbeef99", "deadbeef99"),
        ("Basic dXNlcjpwYXNz=", "dXNlcjpwYXNz"),
        ("HF_TOKEN=qwertz", "qwertz"),
        ("export WANDB_API_KEY='abc def'", "abc def"),
        ("--api-key topsecret --port 1", "topsecret"),
        ("--api-key=topsecret", "topsecret"),
        ('"api_key": "topsecret", "port": 1', "topsecret"),
        ('{\\"password\\": \\"topsecret\\"}', "topsecret"),
        ("ServerArgs(api_key='topsecret', port=30000)", "topsecret"),
        ("db.password: hunter22", "hunter22"),
        ("https://ana:hunter22@host/x", "hunter22"),
        ("url=https://host/x?access_token=abcdef&y=1", "abcdef"),
        ("postgresql+psycopg://bot:hunter22@db/x", "hunter22"),
        ("https://hooks.slack.com/services/T0/B0/abcdef", "T0/B0/abcdef"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def", "eyJzdWIiOiIxIn0"),
        ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
        (f"key:\n{PEM}\nnext", "b3BlbnNzaC1rZXktdjE"),
        (f"cut off: {PEM[:70]}", "b3BlbnNzaC1rZXktdjE"),
        ("X-Api-Key: topsecret", "topsecret"),
        ("PGPASSWORD=hunter22 psql", "hunter22"),
        ("https://b.example/m?X-Amz-Signature=0123abcdef&x=1", "0123abcdef"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG", "wJalrXUtnFEMI"),
        ("docker run -e HF_TOKEN=qwertz vllm", "qwertz"),
        ("MINIO_ROOT_PASSWORD=hunter22;", "hunter22"),
    ],
)
def test_takes_secrets_out(text: str, secret: str):
    hidden = redact(text)
    assert secret not in hidden
    assert "[redacted]" in hidden


@pytest.mark.parametrize(
    "text",
    [
        "max_total_num_tokens=519865, chunked_prefill_size=8192",
        "skip_tokenizer_init=False, tokenizer_path='/srv/models/x'",
        "eos_token='</s>' pad_token_id=2 bos_token_id: 1",
        "api_key=None, admin_api_key=None",
        "--max-prefill-tokens 16384 --tokenizer-mode auto",
        "Decode batch, #running-req: 1, #token: 128, token usage: 0.05",
        "KV Cache is allocated. #tokens: 519865, K size: 9.91 GB",
        "gen throughput (token/s): 70.91, monkey=1, keyboard: us",
        "basic authentication is off",
        "HF_TOKEN=$HF_TOKEN",
        "key=value",
    ],
)
def test_leaves_the_rest_alone(text: str):
    assert redact(text) == text


def test_keeps_what_stands_around_a_secret():
    assert redact("a --api-key abcdef --port 3") == "a --api-key [redacted] --port 3"
    assert redact("X(api_key='abcdef', port=3)") == "X(api_key='[redacted]', port=3)"


@pytest.mark.parametrize(
    "text", ["a" * 50_000, "a=" * 25_000, "token " * 10_000, "-" * 50_000, "'" * 50_000, "eyJ" * 9_000]
)
def test_long_odd_text_is_no_trouble(text: str):
    redact(text)


@given(st.text())
def test_is_stable(text: str):
    once = redact(text)
    assert redact(once) == once


def test_names():
    assert all(map(is_secret_name, ("HF_TOKEN", "hfToken", "api-key", "OPENAI_KEY", "client_secret", "DB_PASSWORD_2")))
    assert not any(map(is_secret_name, ("max_tokens", "tokenizer", "eos_token", "token_ids", "kv_key", "keyframe")))
