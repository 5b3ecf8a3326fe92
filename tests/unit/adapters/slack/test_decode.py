"""What of Slack's payloads is for us."""

from typing import Any

import pytest

from bot.adapters.slack import decode
from bot.adapters.slack.decode import Heard, Identity, Ignored, Pressed

ME = Identity(team="T0", user="U0BOT", bot="B0BOT")


def event(**fields: Any) -> dict[str, Any]:
    made = {"type": "app_mention", "user": "U0ANA", "text": "<@U0BOT> status", "ts": "1.000100", "channel": "C0"}
    return {"team_id": "T0", "event_id": "Ev1", "event": made | {"team": "T0"} | fields}


def test_a_mention_opens_a_thread_under_it():
    heard = decode.message(event(), ME)
    assert heard == Heard(
        request_id="C0:1.000100", user="U0ANA", channel="C0", thread_ts="1.000100", text="status", new=True
    )


def test_a_reply_stays_in_its_thread():
    heard = decode.message(event(thread_ts="0.900000", text="restart it, <@U0BOT|relaunch>: now"), ME)
    assert isinstance(heard, Heard)
    assert heard.thread_ts == "0.900000"
    assert heard.text == "restart it, now"


def test_the_same_text_as_mention_and_as_message_is_one_request():
    mention, direct = event(), event(type="message", channel_type="im")
    first, second = decode.message(mention, ME), decode.message(direct | {"event_id": "Ev2"}, ME)
    assert isinstance(first, Heard)
    assert isinstance(second, Heard)
    assert first.request_id == second.request_id


@pytest.mark.parametrize(
    "fields",
    [
        {"bot_id": "B0OTHER"},
        {"bot_profile": {"id": "B0"}},
        {"user": "U0BOT"},
        {"user": None},
        {"subtype": "message_changed"},
        {"subtype": "message_deleted"},
        {"subtype": "bot_message"},
        {"subtype": "channel_join"},
        {"edited": {"user": "U0ANA", "ts": "2"}},
        {"user_team": "T0OTHER"},
        {"team": "T0OTHER"},
        {"source_team": "T0OTHER"},
        {"type": "message", "channel_type": "channel"},
        {"ts": ""},
    ],
)
def test_what_is_not_for_us(fields: dict[str, Any]):
    assert isinstance(decode.message(event(**fields), ME), Ignored)


def test_another_workspaces_events_are_not_for_us():
    assert isinstance(decode.message(event() | {"team_id": "T0OTHER"}, ME), Ignored)
    assert isinstance(decode.message(event() | {"team_id": None}, ME), Ignored)


def test_an_enterprise_wide_install_is_known_by_its_enterprise():
    me = Identity(team="T0", user="U0BOT", bot="B0BOT", enterprise="E0")
    assert isinstance(decode.message(event(team="E0") | {"team_id": None, "enterprise_id": "E0"}, me), Heard)


COMMAND = {"team_id": "T0", "user_id": "U0ANA", "channel_id": "C0", "trigger_id": "1.2.a", "text": " status "}


def test_a_command():
    assert decode.command(COMMAND, ME) == Heard(
        request_id="command:1.2.a", user="U0ANA", channel="C0", thread_ts=None, text="status"
    )


def test_an_empty_command_asks_for_help():
    heard = decode.command(COMMAND | {"text": ""}, ME)
    assert isinstance(heard, Heard)
    assert heard.text == "help"


@pytest.mark.parametrize("fields", [{"team_id": "T1"}, {"trigger_id": ""}, {"user_id": None}, {"channel_id": ""}])
def test_commands_that_are_not_for_us(fields: dict[str, Any]):
    assert isinstance(decode.command(COMMAND | fields, ME), Ignored)


def click(**fields: Any) -> dict[str, Any]:
    return {
        "type": "block_actions",
        "user": {"id": "U0ANA", "team_id": "T0"},
        "team": {"id": "T0"},
        "container": {"type": "message", "message_ts": "2.0", "channel_id": "C0", "thread_ts": "1.0"},
        "channel": {"id": "C0"},
        "actions": [{"type": "button", "action_id": "approve.v1.0", "value": "{}", "action_ts": "3.1"}],
    } | fields


def test_a_click():
    assert decode.press(click(), ME) == Pressed(
        request_id="press:C0:2.0:U0ANA:3.1",
        user="U0ANA",
        channel="C0",
        message_ts="2.0",
        thread_ts="1.0",
        action_id="approve.v1.0",
        value="{}",
    )


def test_a_click_on_the_home_tab_has_no_channel():
    pressed = decode.press(click(container={"type": "view", "view_id": "V0"}, channel=None), ME)
    assert isinstance(pressed, Pressed)
    assert pressed.channel == ""


@pytest.mark.parametrize(
    "fields",
    [
        {"team": {"id": "T1"}},
        {"team": None},
        {"user": {"id": "U0EVE", "team_id": "T1"}},
        {"actions": []},
        {"actions": [{"type": "static_select"}]},
        {"actions": None},
    ],
)
def test_clicks_that_are_not_for_us(fields: dict[str, Any]):
    assert isinstance(decode.press(click(**fields), ME), Ignored)
