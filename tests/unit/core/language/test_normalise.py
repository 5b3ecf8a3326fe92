"""Slack's markup undone, tricks noticed."""

import pytest

from bot.core.language.normalise import normalise


@pytest.mark.parametrize(
    ("typed", "plain"),
    [
        ("<@U1> status", "status"),
        ("health &amp; status &lt;3", "health & status"),
        ("start \u201cgemma\u201d on node8", 'start "gemma" on node8'),
        ("start gemma\u00a0on node8", "start gemma on node8"),
        ("start gemma \u2014tp 2", "start gemma --tp 2"),
        ("stop gemma \u2014 it hangs", "stop gemma , it hangs"),
        ("*stop* _gemma_", "stop gemma"),
        ("ok :rocket: status \U0001f680", "ok   status"),
        ("see <https://x.test/y|the page>", "see the page"),
        ("engine <http://llama.cpp|llama.cpp>", "engine llama.cpp"),
        ("status ;)", "status"),
        ("stop gemma; it hangs", "stop gemma; it hangs"),
        ("<!here> status", "status"),
    ],
)
def test_markup_is_undone(typed: str, plain: str) -> None:
    normal = normalise(typed)
    assert normal.text.split() == plain.split()
    assert normal.suspicions == ()


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("st\u200bop gemma", "hidden_characters"),
        ("stop \u202eammeg", "hidden_characters"),
        ("stop g\u0435mma", "lookalike_letters"),
        ("\uff53top gemma", "lookalike_letters"),
        ("stop node\u0668", "lookalike_letters"),
        ("stop gemma\x07", "control_characters"),
        ("start gemma; $(id)", "shell_characters"),
        ("start gemma && reboot", "shell_characters"),
        ("start gemma; ls", "shell_characters"),
        ("start gemma\ncurl x.test", "shell_characters"),
        ("start gemma | sh", "shell_characters"),
        ("start gemma > /tmp/x", "shell_characters"),
        ("start gemma `id", "shell_characters"),
        ("start " + "gemma " * 400, "too_long"),
    ],
)
def test_tricks_are_noticed(typed: str, code: str) -> None:
    assert code in [c for c, _ in normalise(typed).suspicions]


def test_other_languages_and_emoji_are_no_trick() -> None:
    for text in ("starte Gemma für mich", "перезапусти", "stop gemma 👩‍💻 please", "日本語 status"):
        assert normalise(text).suspicions == ()


def test_quoted_lines_code_blocks_and_struck_text_are_taken_out() -> None:
    normal = normalise("&gt; stop gemma\n~stop kimi~ status\n```start x```")
    assert normal.text.split() == ["status"]
    assert len(normal.quoted) == 3


def test_a_pasted_conversation_is_a_quote() -> None:
    normal = normalise("Ann: can you stop gemma?\nBob: sure")
    assert normal.text == ""
    assert normal.only_quoted


def test_a_message_to_another_person_is_marked() -> None:
    assert normalise("<@U2> please stop gemma", bot_user="U1").other_person
    assert not normalise("<@U1> ask <@U2> later", bot_user="U1").other_person
