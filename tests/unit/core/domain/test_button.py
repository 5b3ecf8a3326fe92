"""Button values round-trip, and nothing else is taken for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.domain.button import ButtonValue, ButtonValueError


@given(
    st.text(min_size=1, max_size=30),
    st.text(max_size=30),
    st.dictionaries(st.text(max_size=9), st.integers(), max_size=3),
)
def test_round_trip(action: str, operation: str, extra: dict[str, int]):
    value = ButtonValue(action=action, operation=operation, fingerprint="f" * 64, extra=extra)
    assert ButtonValue.decode(value.encode()) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "op-17",
        "[]",
        "null",
        "{}",
        '{"v":1}',
        '{"v":1,"a":7}',
        '{"v":1,"a":"x","x":[]}',
        '{"v":true,"a":"x"}',
        "{" * 3000,
    ],
)
def test_refuses_what_is_no_button_value(text: str):
    with pytest.raises(ButtonValueError):
        ButtonValue.decode(text)


def test_another_version_is_named():
    with pytest.raises(ButtonValueError) as caught:
        ButtonValue.decode('{"v":9,"a":"approve"}')
    assert caught.value.version == 9


def test_a_value_too_long_for_slack_is_refused():
    with pytest.raises(ButtonValueError, match="2000"):
        ButtonValue(action="a", extra={"x": "y" * 3000}).encode()
