"""Figures that stand under names: which are read, and what is said of those that differ."""

import pytest

from bot.core.diagnosis import diagnose
from bot.core.diagnosis.reported import reported

BENCH = """\
| model           |       size | backend | ngl |  test |            t/s |
| --------------- | ---------: | ------- | --: | ----: | -------------: |
| alpha 7B Q4_K   |   4.10 GiB | CUDA    |  99 | tg128 | {fast} ± 0.40 |

build: 1a2b3c4d5 (7001)
| alpha 7B Q4_K   |   4.10 GiB | CUDA    |  99 | tg128 | {slow} ± 0.10 |

build: 9f8e7d6c5 (7044)
"""


def _kind(text: str) -> str:
    return diagnose(text).kind


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("0.8.1: 40 tok/s", {"version": "0.8.1"}),
        ("v0.8.1\n\noutput throughput (tok/s): 40", {"version": "0.8.1"}),
        ("we get 40 tok/s on b5120", {"version": "b5120"}),
        ("| version | tok/s |\n|---|---|\n| 0.8.1 | 40 |", {"version": "0.8.1"}),
        ("| load | 0.8.1 |\n|---|---|\n| decode tok/s | 40 |", {"version": "0.8.1"}),
        (
            "| load | 0.7.9 |\n|---|---|\n\n| load | 0.8.1 |\n|---|---|\n| decode tok/s | 40 |",
            {"version": "0.8.1"},
        ),
        ("torch 2.8.0\ndecode: 40 tok/s", {}),
        ("enforce-eager: 40 t/s", {"slow_cuda_graph_off": "enforce-eager"}),
    ],
)
def test_a_figure_has_the_name_it_stands_under(text: str, names: dict[str, str]) -> None:
    (figure,) = reported(text.split("\n"))
    assert (figure.value, figure.family, figure.names) == (40, "rate", names)


def test_the_build_line_names_the_rows_above_it() -> None:
    text = BENCH.format(fast="91.20", slow="60.10").lower()
    assert [(f.value, f.names["version"]) for f in reported(text.split("\n"))] == [
        (91.2, "1a2b3c4d5"),
        (60.1, "9f8e7d6c5"),
    ]


def test_what_differs_is_named_with_its_figures() -> None:
    diagnosis = diagnose(BENCH.format(fast="91.20", slow="60.10"))
    assert (diagnosis.kind, diagnosis.confidence) == ("slow_after_upgrade", "low")
    assert "91.2 with 1a2b3c4d5 and 60.1 with 9f8e7d6c5" in diagnosis.cause


def test_equal_figures_blame_no_version() -> None:
    assert _kind(BENCH.format(fast="91.20", slow="90.90")) != "slow_after_upgrade"


@pytest.mark.parametrize(
    ("kind", "slower", "faster"),
    [
        ("slow_cuda_graph_off", "eager: 20 tok/s", "with cuda graphs: 33 tok/s"),
        ("slow_spec", "with eagle3: 20 tok/s", "without eagle3: 33 tok/s"),
        ("slow_comm", "tp=2: 20 tok/s", "tp=1: 33 tok/s"),
        ("slow_gpu_clocks", "at 150 W: 20 tok/s", "at 300 W: 33 tok/s"),
        ("slow_moe_config", "default config: 20 tok/s", "tuned: 33 tok/s"),
        ("slow_other", "this server: 20 tok/s", "lmdeploy: 33 tok/s"),
    ],
)
def test_a_setting_is_blamed_only_when_it_is_the_slower(kind: str, slower: str, faster: str) -> None:
    assert _kind(f"{slower}\n{faster}") == kind
    swapped = faster.replace("33", "11")
    if kind != "slow_other":
        diagnosis = diagnose(f"{slower}\n{swapped}")
        assert "is what differs" not in diagnosis.cause


def test_an_upgrade_that_helped_is_not_blamed() -> None:
    assert "is what differs" not in diagnose("v0.9.0: 40 tok/s\nv0.9.1: 71 tok/s").cause


def test_two_healthy_starts_of_two_versions_are_no_slow_server() -> None:
    start = """\
INFO 05-05 10:00:00 [api_server.py:1900] vLLM API server version {version}
(APIServer pid=5) INFO:     Application startup complete.
INFO 05-05 10:01:00 [loggers.py:248] Engine 000: Avg prompt throughput: 9.0 tokens/s, Avg generation throughput: \
{speed} tokens/s, Running: 2 reqs, Waiting: 0 reqs
"""
    log = start.format(version="0.21.0", speed="90.1") + start.format(version="0.22.0", speed="51.4")
    assert _kind(log) == "unknown"


def test_figures_beside_a_traceback_are_no_comparison() -> None:
    text = "0.8.1: 40 tok/s\n0.8.2: 20 tok/s\nTraceback (most recent call last):\nMemoryError: no room\n"
    assert _kind(text) != "slow_after_upgrade"
