"""grep and sed over known text; what is expected is what GNU grep and sed write."""

import pytest

from bot.core.discovery.posix_patterns import posix_pattern
from bot.core.discovery.shell_filters import FILTERS

TEXT = ["# a comment", "  MODEL=acme/a  # b", "", "PORT = 81", "A=[x]; b{2} aa ab", "k: v", "x*y+z? (q)"]


@pytest.mark.parametrize(
    ("arguments", "changed"),
    [
        (["s/#.*//"], {0: "", 1: "  MODEL=acme/a  "}),
        (["s/^ *//;s/ *$//"], {1: "MODEL=acme/a  # b"}),
        (["s/\\(.*\\)=\\(.*\\)/\\2=\\1/"], {1: "acme/a  # b=  MODEL", 3: " 81=PORT ", 4: "[x]; b{2} aa ab=A"}),
        (["s/a\\{2\\}/Z/"], {4: "A=[x]; b{2} Z ab"}),
        (["s/b{2}/Z/"], {4: "A=[x]; Z aa ab"}),
        (["-E", "s/a{2}/Z/"], {4: "A=[x]; b{2} Z ab"}),
        (["s/[]x]/R/g"], {4: "A=[RR; b{2} aa ab", 6: "R*y+z? (q)"}),
        (["s/ (q)/P/"], {6: "x*y+z?P"}),
        (["s/y+z/T/"], {6: "x*T? (q)"}),
        (["s/*/S/"], {6: "xSy+z? (q)"}),
        (["s/k/&&/"], {5: "kk: v"}),
        (["-e", "s/k/x/", "-e", "s/v/w/"], {5: "x: w"}),
        (["s/a/b/"], {0: "# b comment", 1: "  MODEL=bcme/a  # b", 4: "A=[x]; b{2} ba ab"}),
    ],
)
def test_sed_changes_lines(arguments: list[str], changed: dict[int, str]) -> None:
    assert FILTERS["sed"](list(TEXT), arguments) == [changed.get(n, line) for n, line in enumerate(TEXT)]


@pytest.mark.parametrize(
    ("program", "arguments", "kept"),
    [
        ("sed", ["/^#/d"], [1, 2, 3, 4, 5, 6]),
        ("sed", ["/^[[:space:]]*$/d"], [0, 1, 3, 4, 5, 6]),
        ("sed", ["/=/!d"], [1, 3, 4]),
        ("sed", ["-n", "/MODEL/p"], [1]),
        ("grep", ["-v", "^#"], [1, 2, 3, 4, 5, 6]),
        ("grep", ["-vE", "^[[:space:]]*(#|$)"], [1, 3, 4, 5, 6]),
        ("grep", ["-i", "model"], [1]),
        ("grep", ["-F", "[x]"], [4]),
        ("grep", ["-e", "k:", "-e", "PORT"], [3, 5]),
        ("grep", ["-m1", "="], [1]),
        ("grep", ["x*y+"], [6]),
        ("egrep", ["^[A-Z]+ ?="], [3, 4]),
    ],
)
def test_lines_are_kept(program: str, arguments: list[str], kept: list[int]) -> None:
    assert FILTERS[program](list(TEXT), arguments) == [TEXT[n] for n in kept]


def test_what_is_printed_only() -> None:
    assert FILTERS["sed"](list(TEXT), ["-n", "s/^PORT *= *//p"]) == ["81"]
    assert FILTERS["sed"](list(TEXT), ["-En", "s/^([A-Z]+) ?= ?(.*)$/\\1:\\2/p"]) == ["PORT:81", "A:[x]; b{2} aa ab"]
    assert FILTERS["grep"](["--port 81 --seed 2"], ["-oE", "[0-9]+"]) == ["81", "2"]


@pytest.mark.parametrize("arguments", [["y/a/b/"], ["2d"], ["s/\\(a*\\)*b//"], ["s/a/b/e"], ["-i", "s/a/b/"], []])
def test_programs_that_are_not_known_are_left_alone(arguments: list[str]) -> None:
    assert FILTERS["sed"](list(TEXT), arguments) is None


def test_a_line_that_would_take_too_long_is_left_alone() -> None:
    assert FILTERS["sed"](["a" * 3000], ["s/a*a*a*b//"]) is None
    assert FILTERS["grep"](["a" * 3000], ["a*a*a*b"]) is None
    assert posix_pattern("(a+)+b", extended=True) is None
