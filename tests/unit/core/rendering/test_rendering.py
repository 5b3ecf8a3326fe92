"""Text runs, filters, limits and errors of the renderer."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import ChoiceLoader, DictLoader, FileSystemLoader

from bot.core.domain.catalog import SecretRef
from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.message import Message, Payload
from bot.core.domain.reading import Known, Unknown
from bot.core.rendering import RenderError, clean, environment, filters, plain, render, render_terminal, spans

TEMPLATES = Path(__file__).parents[4] / "templates" / "slack"
HEAD = '{% extends "_message.j2" %}{% import "_blocks.j2" as b %}'


def rendered(blocks: str, text: str = "x", **context: object) -> Payload:
    source = f"{HEAD}{{% block text %}}{text}{{% endblock %}}{{% block blocks %}}{blocks}{{% endblock %}}"
    loader = ChoiceLoader([DictLoader({"t.json.j2": source}), FileSystemLoader(TEMPLATES)])
    return render(Message(template="t", context=context), environment(loader))


def test_a_values_formatting_characters_are_text():
    payload = rendered("{% call b.text() %}*Hi* {{ v }}{% endcall %}", v="*no* `no` <@U1> & <!channel>")
    assert payload.blocks[0]["elements"][0]["elements"] == [
        {"type": "text", "text": "Hi", "style": {"bold": True}},
        {"type": "text", "text": " *no* `no` <@U1> & <!channel>"},
    ]


def test_grey_lines_break_a_values_formatting_up_and_escape_it():
    payload = rendered("{% call b.note() %}*Hi* {{ v }}{% endcall %}", v="*no* & <!channel>")
    element = payload.blocks[0]["elements"][0]
    assert element == {"type": "mrkdwn", "text": "*Hi* \u200b*no\u200b* &amp; &lt;!channel&gt;", "verbatim": True}


def test_times_are_shown_in_the_readers_zone_with_utc_as_fallback():
    payload = rendered("{% call b.text() %}{{ v|when }}{% endcall %}", v="2026-05-01T10:00:00+02:00")
    assert payload.blocks[0]["elements"][0]["elements"] == [
        {
            "type": "date",
            "timestamp": 1777622400,
            "format": "{date_short_pretty} {time}",
            "fallback": "2026-05-01 08:00 UTC",
        }
    ]


def test_only_real_user_ids_become_mentions():
    payload = rendered("{% call b.text() %}{{ a|user }} {{ z|user }}{% endcall %}", a="U0ANA", z="U0ANA> <!here")
    assert [e["type"] for e in payload.blocks[0]["elements"][0]["elements"]] == ["user", "text"]


def test_a_missing_value_is_named():
    with pytest.raises(RenderError, match="missing"):
        rendered("{% call b.text() %}{{ missing }}{% endcall %}")


@pytest.mark.parametrize("template", ["no_such_template", "../../etc/passwd"])
def test_an_unknown_template_is_an_error(template: str):
    with pytest.raises(RenderError, match=r"no_such|passwd"):
        render(Message(template=template), environment(FileSystemLoader(TEMPLATES)))


def test_none_is_unknown_and_never_zero():
    assert filters.tok_s(None) == filters.duration(None) == filters.mib(None) == filters.percent(None) == "unknown"
    payload = rendered("{% call b.text() %}{{ v }}{% endcall %}", v=None)
    assert render_terminal(payload) == "unknown"


def test_long_lists_say_how_many_are_missing():
    source = "{% call b.list() %}{% for v in vs %}{% call b.item() %}{{ v }}{% endcall %}{% endfor %}{% endcall %}"
    text = render_terminal(rendered(source, vs=[f"v{n}" for n in range(100)]))
    assert "- v39" in text
    assert text.endswith("- … 60 more")


def test_a_log_is_cut_at_the_far_end_and_says_how_much():
    lines = [f"line {n:04}" for n in range(1000)]
    end = render_terminal(rendered("{{ b.log(lines) }}", lines=lines))
    assert end.endswith("line 0999")
    assert "more lines above" in end.splitlines()[0]
    start = render_terminal(rendered('{{ b.log(lines, "start") }}', lines=lines))
    assert start.strip().startswith("line 0000")
    assert start.endswith("more lines")


def test_too_many_blocks_leave_the_buttons_in_place():
    source = (
        "{% for v in vs %}{% call b.text() %}{{ v|long }}{% endcall %}{% endfor %}"
        '{% call b.actions() %}{{ b.button("Approve", "approve", "op", "f") }}{% endcall %}'
    )
    payload = rendered(source, vs=["x" * 900] * 200)
    assert len(payload.blocks) <= 50
    assert payload.blocks[-1]["type"] == "actions"
    assert "more" in payload.blocks[-2]["elements"][0]["text"]


def test_a_button_whose_value_would_be_cut_is_left_out():
    source = '{% call b.actions() %}{{ b.button("A", "a", extra={"v": v}) }}{{ b.button("B", "b") }}{% endcall %}'
    payload = rendered(source, v="x" * 3000)
    assert [e["text"]["text"] for e in payload.blocks[0]["elements"]] == ["B"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (0.42, "0.4 s"), (9.96, "10 s"), (48, "48 s"), (291, "4 min 51 s"), (3600, "1 h"), (7380, "2 h 3 min"),
     (443000, "5 d 3 h"), (-3, "0 s"), (float("nan"), "unknown")],
)  # fmt: skip
def test_durations(seconds: float, text: str):
    assert filters.duration(seconds) == text


def test_numbers():
    assert filters.tok_s(71.23) == "71.2 tok/s"
    assert filters.tok_s(1402.4) == "1,402 tok/s"
    assert filters.milliseconds(182.4) == "182 ms"
    assert filters.milliseconds(2310) == "2.3 s"
    assert filters.mib(47_185) == "46.1 GiB"
    assert filters.size(123) == "123 B"
    assert filters.change(-43.2) == "-43 %"
    assert filters.plural(1, "server") == "1 server"
    assert filters.plural(1200, "request") == "1,200 requests"
    assert filters.plural(None, "request") == "unknown requests"
    assert filters.bar(0.5, 4) == "▓▓░░"
    assert filters.bar(None, 4) == "░░░░"
    assert filters.bar(7, 4) == "▓▓▓▓"


def test_a_command_is_shown_a_flag_a_line_and_quoted():
    text = filters.command_line(["python", "-m", "x.y", "--tp", "4", "--json", '{"a": "it\'s"}', "--on"])
    assert text.split(" \\\n  ") == ["python", "-m x.y", "--tp 4", '--json \'{"a": "it\'"\'"\'s"}\'', "--on"]


@given(st.text(), st.integers(0, 50))
def test_cutting_counts_utf16_and_never_splits_a_character(text: str, limit: int):
    shown = clean.cut(text, limit)
    assert clean.units(shown) <= limit
    assert shown == text or shown == "" or shown.endswith("…")


@given(
    st.lists(st.tuples(st.sampled_from(["*a*", "`b`", "<br>", " c ", "d"]), st.text(max_size=40))), st.integers(2, 60)
)
def test_any_text_survives_and_shortens(pieces: list[tuple[str, str]], limit: int):
    markup = "".join(own + spans.foreign(value) for own, value in pieces)
    parsed = spans.parse(markup)
    assert spans.length(spans.shorten(parsed, limit)) <= limit
    assert all(element["text"] for element in spans.to_elements(parsed))
    for _, value in pieces:
        assert clean.one_line(value)[:10] in spans.to_plain(parsed) or "[redacted]" in spans.to_plain(parsed)


@given(st.text(alphabet=st.characters(), max_size=200))
def test_cleaning_is_stable_and_encodable(text: str):
    shown = clean.clean(text)
    shown.encode()
    assert "\x1b" not in shown
    assert clean.clean(shown) == shown


def test_progress_lines_keep_their_last_state():
    assert clean.clean("  1%\r 50%\r100%\nnext\r\nlast\r") == "100%\nnext\nlast"


def test_domain_values_become_plain():
    finding = Finding(check="x", judgement=Judgement.WARN, summary="s")
    value = {
        "at": datetime(2026, 1, 2, tzinfo=UTC),
        "f": finding,
        "k": Known(3),
        "u": Unknown("no"),
        "s": SecretRef("e"),
    }
    assert plain(value) == {
        "at": "2026-01-02T00:00:00+00:00",
        "f": {"check": "x", "judgement": "warn", "summary": "s", "evidence": [], "remedy": ""},
        "k": 3,
        "u": {"unknown": "no"},
        "s": "<secret>",
    }
    with pytest.raises(TypeError, match="object"):
        plain(object())
