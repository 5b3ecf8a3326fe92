"""Posting once, editing at a pace, and what Slack refuses."""

import socket
import threading

import pytest
from slack_sdk.errors import SlackRequestError

from bot.adapters.clock.system import SystemClock
from bot.adapters.slack import web_api
from bot.adapters.slack.app import Slack, SlackSettings
from bot.adapters.slack.messenger import SlackMessenger
from bot.adapters.slack.web_api import SlackError, UncertainError
from bot.core.domain.message import Conversation, Message, Payload, Posted
from bot.core.domain.operation import Actor
from bot.errors import PermanentError, SettingsError

HERE = Conversation(channel="C0SERVING")


def problem(text):
    return Message(
        template="problem", context={"message": text, "remedy": "", "host": None, "temporary": False, "again": None}
    )


def test_one_key_is_posted_once(bot):
    first = bot.slack.messenger.post(HERE, problem("hello"), key="k")
    assert bot.slack.messenger.post(HERE, problem("hello"), key="k") == first
    assert [m["text"] for m in bot.workspace.messages("ml-serving")] == ["hello"]


def test_a_reply_goes_into_the_thread(bot):
    ts = bot.workspace.say("U0ANA", "ml-serving", "hi")
    bot.slack.messenger.post(Conversation(channel="C0SERVING", thread_ts=ts), problem("reply"), key="k")
    assert [m["text"] for m in bot.workspace.thread("ml-serving", ts)] == ["hi", "reply"]


@pytest.mark.parametrize(("channel", "code"), [("C0RANDOM", "not_in_channel"), ("C0NOWHERE", "channel_not_found")])
def test_what_slack_refuses_for_good_says_what_to_do(bot, channel, code):
    with pytest.raises(PermanentError) as caught:
        bot.slack.messenger.post(Conversation(channel=channel), problem("x"), key="k")
    assert isinstance(caught.value, SlackError)
    assert caught.value.code == code
    assert "invite" in caught.value.remedy
    assert bot.posts.kept == {}


def test_a_rate_limit_is_waited_out_as_long_as_slack_says(bot):
    bot.workspace.limit_next("chat.postMessage", 2)
    bot.slack.messenger.post(HERE, problem("x"), key="k")
    assert len(bot.clock.slept) == 2
    assert all(seconds >= 1 for seconds in bot.clock.slept)
    assert len(bot.workspace.messages("ml-serving")) == 1


def test_edits_are_merged_and_the_final_one_stays(bot):
    posted = bot.slack.messenger.post(HERE, problem("0"), key="k")
    for number in range(1, 30):
        bot.slack.messenger.update(posted, problem(str(number)))
    bot.slack.messenger.update(posted, problem("done"), final=True)
    assert bot.workspace.messages("ml-serving")[-1]["text"] == "done"
    assert len(bot.workspace.calls("chat.update")) <= 4


def test_an_edit_of_a_message_that_is_gone_raises_only_when_it_is_final(bot):
    gone = Posted(channel="C0SERVING", ts="1.000001")
    with pytest.raises(SlackError, match="gone"):
        bot.slack.messenger.update(gone, problem("x"), final=True)


def test_a_private_message_is_seen_by_one_person(bot):
    bot.slack.messenger.private(HERE, Actor(id="U0ANA"), problem("only you"))
    assert [m["text"] for m in bot.workspace.ephemerals("U0ANA")] == ["only you"]
    assert bot.workspace.messages("ml-serving") == []


def test_a_private_message_is_seen_in_the_channel_when_nobody_has_answered_in_the_thread_yet(bot):
    ts = bot.workspace.say("U0ANA", "ml-serving", "@relaunch stop qwen")
    for new in (True, False):
        there = Conversation(channel="C0SERVING", thread_ts=ts, new=new)
        bot.slack.messenger.private(there, Actor(id="U0ANA"), problem("not you"))
    assert [m.get("thread_ts") for m in bot.workspace.ephemerals("U0ANA")] == [None, ts]


def test_a_private_message_where_we_are_not_goes_to_the_direct_message(bot):
    bot.slack.messenger.private(Conversation(channel="C0RANDOM"), Actor(id="U0ANA"), problem("only you"))
    assert [m["text"] for m in bot.workspace.messages("D0ANA")] == ["only you"]


def test_a_file_is_uploaded_once_into_the_thread(bot):
    ts = bot.workspace.say("U0ANA", "ml-serving", "hi")
    there = Conversation(channel="C0SERVING", thread_ts=ts)
    for _ in range(2):
        bot.slack.messenger.upload(there, filename="a.png", data=b"\x89PNG", title="Speed", alt_text="71", key="k")
    assert len(bot.workspace.calls("files.completeUploadExternal")) == 1
    assert bot.workspace.refusals() == []


def test_the_home_tab_is_published(bot):
    message = Message(
        template="home",
        context={
            "may": "read",
            "at": "2026-01-01T00:00:00Z",
            "servers": [],
            "unreachable": [],
            "waiting": [],
            "recent": [],
            "examples": ["help"],
        },
    )
    bot.slack.messenger.publish_home(Actor(id="U0ANA"), message)
    home = bot.workspace.home("U0ANA")
    assert home is not None
    assert home["blocks"]


class BreakingServer:
    """Reads requests, closes the connection without an answer, and counts."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/api/"
        self.requests = 0
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                self.requests += b"chat.postMessage" in connection.recv(65536)

    def close(self):
        self.listener.close()


def test_a_post_is_not_sent_again_after_a_broken_connection(bot):
    server = BreakingServer()
    client = web_api.web_client("xoxb-x", server.url)
    messenger = SlackMessenger(client, bot.posts, bot.clock, lambda _: bot.slack.messenger._render(problem("x")))
    with pytest.raises(UncertainError):
        messenger.post(HERE, problem("x"), key="k")
    server.close()
    assert server.requests == 1
    assert bot.posts.kept == {}


def test_a_post_whose_answer_got_lost_is_found_again(bot, monkeypatch):
    there = Conversation(channel="D0ANA")
    send = bot.slack.client.chat_postMessage

    def lossy(**arguments):
        send(**arguments)
        raise ConnectionResetError("gone")

    monkeypatch.setattr(bot.slack.client, "chat_postMessage", lossy)
    posted = bot.slack.messenger.post(there, problem("x"), key="k")
    assert [m["ts"] for m in bot.workspace.messages("D0ANA")] == [posted.ts]
    assert bot.posts.get("k") == posted


def test_no_connection_at_all_is_tried_again(bot):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    client = web_api.web_client("xoxb-x", f"http://127.0.0.1:{port}/api/")
    with pytest.raises(web_api.RateLimitedError):
        web_api.call(client.auth_test, bot.clock)
    assert bot.clock.slept == [1.0, 2.0, 4.0, 8.0]


def test_a_token_of_another_workspace_is_refused(workspace):
    settings = SlackSettings(bot_token=workspace.bot_token, api_url=workspace.api_url, team="T0OTHER")
    with pytest.raises(SettingsError, match="T0OTHER"):
        Slack(settings, posts=None, clock=SystemClock(), render=None)


def test_a_file_that_slack_does_not_take_is_not_remembered(bot, monkeypatch):
    def refuse(**_):
        raise SlackRequestError("Failed to upload a file (status: 500)")

    monkeypatch.setattr(bot.slack.client, "files_upload_v2", refuse)
    with pytest.raises(UncertainError, match="500"):
        bot.slack.messenger.upload(HERE, filename="a.png", data=b"x", title="t", alt_text="a", key="k")
    assert bot.posts.kept == {}


def test_blocks_that_slack_refuses_are_said_in_plain_text_with_their_buttons(bot):
    draw = bot.slack.messenger._render

    def too_new(message):
        payload = draw(message)
        return Payload(text=payload.text, blocks=[{"type": "hologram"}, *payload.blocks])

    messenger = SlackMessenger(bot.slack.client, bot.posts, bot.clock, too_new)
    again = {"label": "Try again", "action": "again", "operation": "op-1"}
    message = Message(template="problem", context={**problem("hello").context, "again": again})
    messenger.post(HERE, message, key="k")
    [posted] = bot.workspace.messages("ml-serving")
    assert [block["type"] for block in posted["blocks"]] == ["section", "actions"]
    assert "hello" in posted["blocks"][0]["text"]["text"]


def test_settings_that_would_make_bolt_drop_the_token_are_refused(bot, monkeypatch):
    monkeypatch.setenv("SLACK_CLIENT_ID", "1")
    monkeypatch.setenv("SLACK_CLIENT_SECRET", "2")
    with pytest.raises(SettingsError, match="SLACK_CLIENT_ID"):
        bot.slack.app(bot.inbox)


def test_a_wrong_token_says_what_to_set(workspace):
    settings = SlackSettings(bot_token="xoxb-wrong", api_url=workspace.api_url)
    with pytest.raises(SlackError) as caught:
        Slack(settings, posts=None, clock=SystemClock(), render=None)
    assert "RELAUNCH_SLACK_BOT_TOKEN" in caught.value.remedy
    assert "xoxb-wrong" not in str(caught.value) + repr(settings)
