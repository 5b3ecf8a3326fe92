"""The engines' own --help, as vLLM 0.32, SGLang 0.5.11 and llama.cpp b11434 really print it (prose shortened)."""

from pathlib import Path

import pytest

from bot.core.domain.reading import Known, Unknown
from bot.core.engines import engines_by_name
from bot.core.facts.engine_help import EngineHelp, parse

HELP = Path(__file__).parents[3] / "cases" / "facts" / "help"
#: recorded text -> engine, version, number of spellings in the whole text
RECORDED = {
    "vllm_0.32": ("vllm", "0.32.0", 426),
    "sglang_0.5.11": ("sglang", "0.5.11", 389),
    "llama_cpp_b11434": ("llama.cpp", "b11434", 405),
}
ENGINES = engines_by_name()


def read(name: str) -> EngineHelp:
    reading = parse((HELP / f"{name}.txt").read_text())
    assert isinstance(reading, Known), reading
    return reading.value


@pytest.mark.parametrize("name", RECORDED)
def test_every_spelling_is_read_and_nothing_else(name: str) -> None:
    assert len(read(name).flags) == RECORDED[name][2]


@pytest.mark.parametrize("name", RECORDED)
def test_help_and_the_table_of_flags_agree(name: str) -> None:
    """What the engine prints is known here, but for a few; choices that both have are the same."""
    engine = ENGINES[RECORDED[name][0]]
    known = read(name)
    strange = [flag for flag in known.flags if engine.canonical(flag) is None]
    assert len(strange) <= 25, sorted(strange)
    for spelling, choices in known.choices.items():
        flag = engine.flag(engine.canonical(spelling) or "")
        if flag is not None and flag.choices:
            assert set(flag.choices) & set(choices), spelling


@pytest.mark.parametrize(
    ("name", "flags", "absent"),
    [
        # aliases, pairs, underscores as dashes, dotted options by their head, and what prose only mentions
        (
            "vllm_0.32",
            [
                "--tensor-parallel-size",
                "-tp",
                "--no-enable-prefix-caching",
                "-asc",
                "--speculative-config",
                "-cc",
                "-h",
            ],
            ["--json-arg", "--logging-config.pylogging_config_file", "--data-parallel-start-rank.", "-cc.mode"],
        ),
        ("sglang_0.5.11", ["--model", "--tp-size", "--no-lora-strict-loading"], ["--num", "--speculative"]),
        ("llama_cpp_b11434", ["-ngl", "--n-gpu-layers", "--no-perf", "-h", "--usage", "--spec-type"], ["--rpc-x"]),
    ],
)
def test_spellings(name: str, flags: list[str], absent: list[str]) -> None:
    found = read(name).flags
    assert set(flags) <= found
    assert not set(absent) & found


@pytest.mark.parametrize(
    ("name", "flag", "choices"),
    [
        ("vllm_0.32", "--dtype", {"auto", "bfloat16", "half"}),
        # both spellings have them
        ("sglang_0.5.11", "--tokenizer-mode", {"auto", "slow"}),
        ("llama_cpp_b11434", "-sm", {"none", "layer", "row"}),
        ("llama_cpp_b11434", "--rope-scaling", {"none", "linear", "yarn"}),
        # "or name registered in --tool-parser-plugin": these are not all
        ("vllm_0.32", "--tool-call-parser", set()),
        # how a value is written, not which
        ("llama_cpp_b11434", "--flash-attn", set()),
    ],
)
def test_choices(name: str, flag: str, choices: set[str]) -> None:
    found = set(read(name).choices.get(flag, ()))
    assert choices <= found
    assert bool(found) is bool(choices)


@pytest.mark.parametrize(
    ("name", "deprecated"),
    [
        ("vllm_0.32", {"--disable-cascade-attn", "--no-disable-cascade-attn", "--log-config-file"}),
        (
            "sglang_0.5.11",
            {
                "--hybrid-kvcache-ratio", "--stream-output", "--collect-tokens-histogram",
                "--prefill-round-robin-balance", "--enable-piecewise-cuda-graph", "--enable-nan-detection",
            },
        ),
    ],
)  # fmt: skip
def test_what_is_deprecated_is_the_flag_itself(name: str, deprecated: set[str]) -> None:
    assert set(read(name).deprecated) == deprecated


@pytest.mark.parametrize("text", [(HELP / "vllm_0.32_topics.txt").read_text(), "", "usage: x [--a]\nx: error: no\n"])
def test_a_page_of_topics_or_an_error_is_no_list(text: str) -> None:
    assert isinstance(parse(text), Unknown)


def test_flags_of_another_program_behind_it_do_not_count() -> None:
    text = (HELP / "sglang_0.5.11.txt").read_text()
    reading = parse(
        f"Usage: sglang serve\n{text}\n--- Help for Diffusion Model Server ---\n  --num-frames N  pictures\n"
    )
    assert isinstance(reading, Known)
    assert "--num-frames" not in reading.value.flags


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("--max-model-len", "--max-model-len"),
        ("--max_model_len", "--max-model-len"),
        ("--compilation-config.mode", "--compilation-config"),
        ("-cc.mode", "-cc"),
        ("-tp", "-tp"),
        # the beginning of one flag, and of several
        ("--tensor-parallel-si", "--tensor-parallel-size"),
        ("--enable", None),
        ("--blue", None),
    ],
)
def test_what_a_typed_flag_stands_for(typed: str, expected: str | None) -> None:
    assert read("vllm_0.32").spelling(typed) == expected
