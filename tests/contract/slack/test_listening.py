"""Requests arrive once, checked, from the right people, and are acknowledged in time."""

import threading

from bot.core.domain.button import ButtonValue
from bot.core.domain.message import Conversation, Message
from bot.errors import UnreachableError


def approval(operation):
    return Message(
        template="approval_closed",
        context={
            "state": "expired",
            "verb": "stop",
            "host": "lab7",
            "config": None,
            "by": None,
            "at": None,
            "detail": None,
            "again": {"label": "Plan again", "action": "plan_again", "operation": operation, "fingerprint": "f" * 64},
        },
    )


def test_a_mention_is_handed_over_once_with_its_thread(listening):
    ts = listening.workspace.say("U0ANA", "ml-serving", "@relaunch start qwen & co on ct129")
    listening.wait(lambda: listening.inbox.of("message"))
    listening.workspace.disconnect("refresh_requested")
    listening.wait(lambda: listening.workspace.connections)
    [(request_id, actor, conversation, text)] = listening.inbox.of("message")
    assert request_id == f"C0SERVING:{ts}"
    assert (actor.id, actor.name, actor.outsider, actor.time_zone) == ("U0ANA", "ana", False, "Europe/Berlin")
    assert conversation == Conversation(channel="C0SERVING", thread_ts=ts)
    assert text == "start qwen &amp; co on ct129"


def test_a_direct_message_needs_no_mention_and_a_reply_keeps_its_thread(listening):
    root = listening.workspace.say("U0BOB", "D0BOB", "status")
    listening.workspace.say("U0BOB", "D0BOB", "restart it", thread_ts=root)
    listening.wait(lambda: len(listening.inbox.of("message")) == 2)
    found = {text: (conversation, actor.groups) for _, actor, conversation, text in listening.inbox.of("message")}
    assert found["status"] == (Conversation(channel="D0BOB"), ("S0ONCALL",))
    assert found["restart it"] == (Conversation(channel="D0BOB", thread_ts=root), ("S0ONCALL",))


def test_what_is_not_meant_for_us_is_not_handed_over(listening):
    listening.workspace.say("U0ANA", "ml-serving", "start qwen")
    listening.workspace.say("U0CIBOT", "ml-serving", "@relaunch start qwen")
    listening.workspace.say("U0EVE", "shared-acme", "@relaunch start qwen")
    ts = listening.workspace.say("U0ANA", "ml-serving", "@relaunch status")
    listening.workspace.edit("ml-serving", ts, "@relaunch stop qwen")
    listening.workspace.say("U0ANA", "ml-serving", "@relaunch last")
    listening.wait(lambda: [c for c in listening.inbox.of("message") if c[3] == "last"])
    assert {call[3] for call in listening.inbox.of("message")} == {"status", "last"}


def test_a_guest_is_handed_over_as_an_outsider(listening):
    listening.workspace.say("U0GIL", "ml-serving", "@relaunch status")
    listening.wait(lambda: listening.inbox.of("message"))
    assert listening.inbox.of("message")[0][1].outsider


def test_a_slash_command_is_acknowledged_and_handed_over(listening):
    assert listening.workspace.command("U0ANA", "ml-serving", "/relaunch status")
    listening.wait(lambda: listening.inbox.of("message"))
    [(request_id, actor, conversation, text)] = listening.inbox.of("message")
    assert request_id.startswith("command:")
    assert (actor.id, conversation, text) == ("U0ANA", Conversation(channel="C0SERVING"), "status")


def test_a_command_where_we_cannot_post_is_answered_in_the_direct_message(listening):
    assert listening.workspace.command("U0ANA", "random", "/relaunch status")
    assert listening.workspace.command("U0ANA", "D0ANA", "/relaunch help")
    listening.wait(lambda: len(listening.inbox.of("message")) == 2)
    assert {call[2] for call in listening.inbox.of("message")} == {Conversation(channel="U0ANA")}


def test_a_button_brings_its_value_and_its_message(listening):
    posted = listening.slack.messenger.post(Conversation(channel="C0SERVING"), approval("op-1"), key="k1")
    assert listening.workspace.click("U0BOB", "ml-serving", posted.ts, "Plan again")
    listening.wait(lambda: listening.inbox.of("action"))
    [(request_id, actor, conversation, where, value)] = listening.inbox.of("action")
    assert request_id.startswith(f"press:C0SERVING:{posted.ts}:U0BOB:")
    assert actor.id == "U0BOB"
    assert conversation == Conversation(channel="C0SERVING", thread_ts=posted.ts)
    assert (where.channel, where.ts) == (posted.channel, posted.ts)
    assert value == ButtonValue(action="plan_again", operation="op-1", fingerprint="f" * 64)


def test_two_clicks_are_two_requests(listening):
    posted = listening.slack.messenger.post(Conversation(channel="C0SERVING"), approval("op-1"), key="k1")
    for _ in range(2):
        assert listening.workspace.click("U0BOB", "ml-serving", posted.ts, "Plan again")
    listening.wait(lambda: len(listening.inbox.of("action")) == 2)
    assert len({call[0] for call in listening.inbox.of("action")}) == 2


def test_a_button_of_another_version_is_said_to_be_old(listening):
    button = {
        "type": "button",
        "action_id": "approve.v9.0",
        "text": {"type": "plain_text", "text": "Approve"},
        "value": '{"v":9,"a":"approve"}',
    }
    answer = listening.slack.client.chat_postMessage(
        channel="C0SERVING", text="old", blocks=[{"type": "actions", "elements": [button]}]
    )
    assert listening.workspace.click("U0BOB", "ml-serving", answer["ts"], "Approve")
    listening.wait(lambda: listening.inbox.of("old_button"))
    assert listening.inbox.of("action") == []


def test_the_home_tab_is_handed_over_and_its_messages_tab_is_not(listening):
    listening.workspace.open_home("U0ANA", "messages")
    listening.workspace.open_home("U0ANA", "home")
    listening.wait(lambda: listening.inbox.of("home"))
    assert [call[0].id for call in listening.inbox.of("home")] == ["U0ANA"]


def test_being_added_to_a_channel_is_handed_over(listening):
    listening.workspace.invite("U0ANA", "random")
    listening.wait(lambda: listening.inbox.of("joined"))
    [(request_id, conversation, inviter)] = listening.inbox.of("joined")
    assert request_id
    assert conversation == Conversation(channel="C0RANDOM")
    assert inviter.id == "U0ANA"


def test_slow_work_holds_up_nobodys_acknowledgement(listening):
    listening.inbox.hold = threading.Event()
    for number in range(8):
        listening.workspace.say("U0ANA", "ml-serving", f"@relaunch status {number}")
    listening.wait(lambda: len(listening.inbox.of("message")) == 8)
    assert listening.workspace.command("U0BOB", "ml-serving", "/relaunch help")
    listening.inbox.hold.set()


def test_a_request_is_acknowledged_once_it_is_stored(listening):
    def acknowledged():
        return [one for one in listening.workspace.office.traffic.entries if one.name == "ack"]

    listening.inbox.hold = threading.Event()
    listening.workspace.say("U0ANA", "ml-serving", "@relaunch status")
    listening.wait(lambda: listening.inbox.of("message"))
    assert not acknowledged()
    listening.inbox.hold.set()
    listening.wait(acknowledged)


def test_a_known_error_is_told_to_the_person_alone_and_the_ack_is_kept(listening):
    listening.inbox.fail = UnreachableError("no connection to lab7", remedy="check that it is up", host="lab7")
    assert listening.workspace.command("U0ANA", "ml-serving", "/relaunch status")
    [shown] = listening.wait(lambda: listening.workspace.ephemerals("U0ANA"))
    assert "no connection to lab7" in shown["text"]
    assert listening.workspace.ephemerals("U0BOB") == []


def test_an_unknown_error_is_told_by_a_reference_and_not_by_its_words(listening):
    listening.inbox.fail = RuntimeError("hf_secretsecretsecret")
    assert listening.workspace.command("U0ANA", "ml-serving", "/relaunch status")
    [shown] = listening.wait(lambda: listening.workspace.ephemerals("U0ANA"))
    assert "reference" in shown["text"]
    assert "hf_" not in str(shown)


def test_nothing_was_refused_by_slack(listening):
    listening.workspace.say("U0ANA", "ml-serving", "@relaunch status")
    listening.wait(lambda: listening.inbox.of("message"))
    assert listening.workspace.refusals() == []
