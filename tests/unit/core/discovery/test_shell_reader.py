"""The shell reader: words, expansion, control flow, and that no text at all makes it fail."""

import json
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.discovery.artefact import Artefact
from bot.core.discovery.candidate import answer
from bot.core.discovery.discover import discover
from bot.core.discovery.shell_arithmetic import evaluate
from bot.core.discovery.shell_expand import Expander
from bot.core.discovery.shell_parser import parse_shell
from bot.core.discovery.shell_state import Scope, Variable, join_path, render
from bot.core.discovery.shell_syntax import Simple
from bot.core.discovery.shell_tests import NO, YES, evaluate_test
from bot.core.domain.engine import Engine


def words(text: str, *, fish: bool = False, **variables: str | tuple[str, ...]) -> list[str]:
    """The words of a one-command text after expansion."""
    node = parse_shell(text, fish=fish).body.items[0][0]
    assert isinstance(node, Simple)
    scope = Scope(variables={name: Variable(value) for name, value in variables.items()}, home="/home/u")
    return [render(word) for word in Expander(scope, lambda part: None).fields(node.words)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a 'b c' \"d e\" f\\ g", ["a", "b c", "d e", "f g"]),
        ("a $'x\\ty\\x41\\u00e9\\'' b", ["a", "x\ty" + "Aé'", "b"]),
        ('a "x\\"y\\$z\\q"', ["a", 'x"y$z\\q']),
        ("a b\\\n  c # d\n", ["a", "b", "c"]),
        ("a#b c", ["a#b", "c"]),
        ('a --x=\'{"k": "v"}\'', ["a", '--x={"k": "v"}']),
        ("a ~/x ~other/y '~' x~", ["a", "/home/u/x", "/home/other/y", "~", "x~"]),
        ("a {1..3} x{b,c}y {z} '{1,2}' {08..10}", ["a", "1", "2", "3", "xby", "xcy", "{z}", "{1,2}", "08", "09", "10"]),
        ("a ''", ["a", ""]),
        ("a $(date) b", ["a", "$(date)", "b"]),
        ("a `date +%s` b", ["a", "`date +%s`", "b"]),
        ("a <(cat x) b", ["a", "<(cat x)", "b"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a $X", ["a", "one", "two"]),
        ('a "$X"', ["a", "one  two"]),
        ("a ${X#one} ${X%% *} ${#X}", ["a", "two", "one", "8"]),
        ('a "${P##*/}" "${P%.*}" "${P/g/q}" "${P//g/q}"', ["a", "m.gguf", "/d/m", "/d/m.qguf", "/d/m.qquf"]),
        ("a ${U:-d e} '${U:-d e}' \"${U:-d e}\"", ["a", "d", "e", "${U:-d e}", "d e"]),
        ("a ${U-x} ${E-x} ${E:-x} ${X:+set} ${U:+set}", ["a", "x", "x", "set"]),
        ('a "${A[@]}" ${A[1]} ${#A[@]} "${A[*]}"', ["a", "1", "2 3", "2", "3", "2", "1 2 3"]),
        ('a "${N[@]}" end', ["a", "end"]),
        ("a ${P:3:1} ${P: -4} ${X^^}", ["a", "m", "gguf", "ONE", "TWO"]),
        ("a $((2 * (3 + 4) % 5)) $((K << 2))", ["a", "4", "12"]),
        ("a ${X:?must be set}", ["a", "one", "two"]),
    ],
)
def test_expansion(text: str, expected: list[str]) -> None:
    assert words(text, X="one  two", P="/d/m.gguf", A=("1", "2 3"), N=(), E="", K="3") == expected


def test_fish_words() -> None:
    assert words("a 'it\\'s' b", fish=True) == ["a", "it's", "b"]
    assert words("a (nproc) b", fish=True) == ["a", "(nproc)", "b"]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 ? 2 : 3", 2),
        ("x = 4, x * 2", 8),
        ("-7 / 2", -3),
        ("7 % 0", None),
        ("1 +", None),
        ("2 ** 70", None),
        ("010", 8),
    ],
)
def test_arithmetic(expression: str, value: int | None) -> None:
    table: dict[str, str] = {}
    assert evaluate(expression, lambda name: table.get(name, ""), table.__setitem__) == value


def test_conditions() -> None:
    def same(text: str, pattern: str) -> bool:
        return text == pattern

    assert evaluate_test(["a", "=", "a", "-a", "-n", "x"], matches=same) == YES
    assert evaluate_test(["!", "3", "-lt", "4"], matches=same) == NO
    assert evaluate_test(["-f", "/x"], matches=same).ok
    assert not evaluate_test(["-f", "/x"], matches=same).certain
    assert evaluate_test(["abc", "=~", "^(a+)+$"], extended=True, matches=same).certain is False


def test_paths() -> None:
    assert join_path("/a/b", "../c/./d") == "/a/c/d"
    assert join_path(None, "c") is None
    assert join_path(None, "/x//y/") == "/x/y"


def test_a_statement_that_is_no_shell_costs_its_own_line_only() -> None:
    script = parse_shell("a 1\nb ) c\nd 2\n")
    assert not script.complete
    assert len(script.body.items) >= 2


def test_a_quote_that_is_never_closed_ends_the_script() -> None:
    script = parse_shell("a 1\nb 'x\nc\n")
    assert not script.complete
    assert len(script.body.items) == 1


FRAGMENTS = st.sampled_from(
    [
        "vllm serve m",
        "'",
        '"',
        "$(",
        ")",
        "${",
        "}",
        "<<E\n",
        "E\n",
        "if ",
        "then ",
        "fi\n",
        "case x in ",
        "esac",
        "\\\n",
        "&&",
        "`",
        "$((",
        "))",
        "[[ ",
        "]] ",
        "for i in ",
        "do ",
        "done\n",
        "{",
        ";;",
        "|",
        ">",
        "<(",
        "f() ",
        "a=(",
        "\n",
        "$'",
        "#",
        "~",
        "export A_TOKEN=",
        "sudo -u x ",
        "docker run ",
        "bash -c ",
        "tmux new -d ",
        "eval ",
        "source ",
        "${a[",
        "{a,",
        "..",
        "\0",
    ]
)
KINDS = ["script", "history", "unit", "compose", "cron", "procfile", "log", "inspect", "ps", "supervisor", "tmux"]
TEXTS = st.one_of(st.text(max_size=200), st.lists(FRAGMENTS, max_size=30).map("".join))


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.booleans())
def test_no_text_makes_the_parser_fail(text: str, fish: bool) -> None:
    parse_shell(text, fish=fish)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(KINDS), TEXTS)
def test_no_artefact_makes_discovery_fail(engines: Mapping[str, Engine], kind: str, text: str) -> None:
    head = "[Service]\nExecStart=/bin/sh -c " if kind == "unit" else ""
    discover([Artefact(path=f"/home/u/{kind}.service", kind=kind, text=head + text)], engines=engines)


SECRETS = st.text(alphabet="abcdefghjkmnpqrstuvwxyzABCDEFGH23456789_+=.", min_size=10, max_size=40).map(
    lambda text: "Zq" + text
)
PLACES = (
    "export HF_TOKEN='{0}'\nvllm serve m --port 1\n",
    "vllm serve m --port 1 --api-key '{0}'\n",
    "vllm serve m --port 1 --api-key='{0}'\n",
    "K='{0}'\nMY_API_KEY=$K vllm serve m --port 1 --served-model-name $K\n",
    "http_proxy='http://u:{0}@p:1' vllm serve m --port 1\n",
    "docker run -e A_SECRET='{0}' -p 1:8000 vllm/vllm-openai --model m\n",
    "S_PASSWORD='{0}' numactl -N 0 vllm serve m --port 1\n",
    'python -m sglang.launch_server --model-path m --json-model-override-args \'{{"api_key": "{0}"}}\'\n',
)


@settings(max_examples=150, deadline=None)
@given(
    SECRETS,
    st.sampled_from(PLACES),
    st.sampled_from(["script", "history"]),
    st.lists(FRAGMENTS, max_size=5).map("".join),
)
def test_a_planted_secret_is_never_shown(
    engines: Mapping[str, Engine], secret: str, place: str, kind: str, noise: str
) -> None:
    text = place.format(secret.replace("=", "x")) + noise
    artefact = Artefact(path="/home/u/x", kind=kind, text=text)
    found = discover([artefact], engines=engines)
    assert found
    hidden = secret.replace("=", "x")
    for said in (repr(found), json.dumps(answer(found)), repr(artefact)):
        assert hidden not in said
