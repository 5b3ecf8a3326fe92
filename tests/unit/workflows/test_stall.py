"""The disk's reading rate, from two counts of sectors."""

import pytest

from bot.workflows.stall import read_rate_mib_s


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("1000\n1000\n", 0.0),
        # 204,800 sectors of 512 bytes in two seconds
        ("1000\n205800\n", 50.0),
        ("1000\n", None),
        ("awk: not found\n", None),
        ("", None),
    ],
)
def test_rate_of_two_counts(output: str, expected: float | None) -> None:
    assert read_rate_mib_s(output) == expected
