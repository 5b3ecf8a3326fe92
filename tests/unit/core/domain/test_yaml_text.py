"""YAML that somebody else wrote: read, or refused with the line; never for long."""

import pytest

from bot.core.domain.yaml_text import parse_yaml
from bot.errors import BadInputError

_BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def test_documents_are_read_with_their_aliases_and_merges() -> None:
    text = "base: &base {port: 1, env: {A: x}}\none:\n  <<: *base\n  port: 2\n"
    assert parse_yaml(text)["one"] == {"port": 2, "env": {"A": "x"}}
    assert parse_yaml("") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (_BOMB, "too large"),
        ("[" * 5000, "nested too deeply"),
        ("[" * 500 + "]" * 500, "nested too deeply"),
        ("a: &a [*a]\n", "holds itself"),
        ("hosts:\n  lab: 1\n  lab: 2\n", "line 3: 'lab' is there twice"),
        ("at: 2026-13-45\n", "cannot be read"),
        ("a: 'b\n", "no YAML"),
        ("a: !!python/object/apply:os.system ['true']\n", "no YAML"),
        ("a: \x00\n", "no YAML"),
    ],
)
def test_what_cannot_be_read_is_said(text: str, said: str) -> None:
    with pytest.raises(BadInputError) as caught:
        parse_yaml(text)
    assert said in caught.value.message


def test_programs_that_take_the_last_of_two_keys_are_followed() -> None:
    assert parse_yaml("a: 1\na: 2\n", unique_keys=False) == {"a": 2}
