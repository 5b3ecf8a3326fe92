"""Socket Mode and interactions, with the unmodified Bolt app and Slack's own socket client as the other side."""

import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from bot.practice.workspace import PracticeWorkspace

Handler = Callable[[SocketModeRequest], bool]


def leave(client: SocketModeClient) -> None:
    """Close without waiting: the built-in client sits in a read of 3 s."""
    client.auto_reconnect_enabled = False
    threading.Thread(target=client.close, daemon=True).start()


class Peer:
    """Slack's built-in socket client; `handle` says whether to acknowledge."""

    def __init__(self, workspace: PracticeWorkspace, handle: Handler = lambda _: True) -> None:
        self.seen: list[SocketModeRequest] = []
        web = WebClient(token=workspace.bot_token, base_url=workspace.api_url)
        self.client = SocketModeClient(app_token=workspace.app_token, web_client=web)
        self.answer: dict[str, Any] | None = None

        def listen(client: Any, request: SocketModeRequest) -> None:
            self.seen.append(request)
            if handle(request):
                client.send_socket_mode_response(SocketModeResponse(request.envelope_id, self.answer))

        self.client.socket_mode_request_listeners.append(listen)
        self.client.connect()

    def close(self) -> None:
        leave(self.client)

    def events(self) -> list[dict[str, Any]]:
        return [r.payload["event"] for r in self.seen if r.type == "events_api"]


@pytest.fixture
def peer(workspace: PracticeWorkspace) -> Iterator[Peer]:
    other = Peer(workspace)
    workspace.wait_for(lambda: workspace.connections == 1)
    yield other
    other.close()


def test_a_mention_arrives_as_app_mention_and_as_message(workspace: PracticeWorkspace, peer: Peer) -> None:
    ts = workspace.say("U0ANA", "ml-serving", "@Relaunch start it & go")
    workspace.wait_for(lambda: len(peer.events()) == 2)
    by_type = {e["type"]: e for e in peer.events()}
    assert by_type["app_mention"]["text"] == "<@U0RELBOT> start it &amp; go"
    assert by_type["app_mention"]["ts"] == by_type["message"]["ts"] == ts
    assert by_type["message"]["channel_type"] == "channel"
    assert len({r.payload["event_id"] for r in peer.seen}) == 2


def test_direct_messages_have_no_app_mention(workspace: PracticeWorkspace, peer: Peer) -> None:
    workspace.say("U0ANA", "D0ANA", "@Relaunch status")
    workspace.say("U0ANA", "ops", "later")
    workspace.wait_for(lambda: len(peer.events()) == 2)
    assert {(e["type"], e["channel_type"]) for e in peer.events()} == {("message", "im"), ("message", "channel")}


def test_own_posts_and_edits_come_back(workspace: PracticeWorkspace, peer: Peer, client: WebClient) -> None:
    ts = client.chat_postMessage(channel="C0OPS", text="mine")["ts"]
    client.chat_update(channel="C0OPS", ts=ts, text="mine, better")
    workspace.wait_for(lambda: len(peer.events()) == 2)
    new, changed = sorted(peer.events(), key=lambda e: "subtype" in e)
    assert (new["bot_id"], new["user"]) == ("B0RELBOT", "U0RELBOT")
    assert (changed["subtype"], changed["previous_message"]["text"]) == ("message_changed", "mine")


def test_no_events_from_channels_the_bot_is_not_in(workspace: PracticeWorkspace, peer: Peer) -> None:
    workspace.say("U0ANA", "random", "@Relaunch are you here?")
    assert "not in this channel" in workspace.wait_for(lambda: workspace.ephemerals("U0ANA"))[0]["text"]
    assert peer.events() == []
    workspace.invite("U0ANA", "random")
    workspace.wait_for(lambda: "app_mention" in [e["type"] for e in peer.events()])
    assert "member_joined_channel" in [e["type"] for e in peer.events()]


def test_an_unacknowledged_event_comes_again(hasty: PracticeWorkspace) -> None:
    peer = Peer(hasty, lambda request: bool(request.retry_attempt))
    hasty.say("U0ANA", "ops", "hello")
    hasty.wait_for(lambda: len(peer.seen) >= 2)
    first, second = peer.seen[:2]
    assert (first.retry_attempt, second.retry_attempt, second.retry_reason) == (0, 1, "timeout")
    assert first.payload["event_id"] == second.payload["event_id"]
    assert any("not acknowledged" in r for r in hasty.refusals())
    peer.close()


def test_each_payload_goes_to_one_connection(workspace: PracticeWorkspace, peer: Peer) -> None:
    other = Peer(workspace)
    workspace.wait_for(lambda: workspace.connections == 2)
    for count in range(4):
        workspace.say("U0ANA", "ops", f"message {count}")
    workspace.wait_for(lambda: len(peer.seen) + len(other.seen) == 4)
    assert len(peer.seen) == len(other.seen) == 2
    other.close()


def test_tickets_are_single_use(workspace: PracticeWorkspace) -> None:
    web = WebClient(token=workspace.bot_token, base_url=workspace.api_url)
    url = str(web.apps_connections_open(app_token=workspace.app_token)["url"])
    workspace.office.socket._tickets.clear()
    with pytest.raises(urllib.error.HTTPError, match="408"):
        urllib.request.urlopen(url.replace("ws:", "http:"))


def test_an_event_waits_for_the_first_connection(workspace: PracticeWorkspace) -> None:
    workspace.say("U0ANA", "ops", "early bird")
    peer = Peer(workspace)
    workspace.wait_for(lambda: peer.events())
    assert peer.events()[0]["text"] == "early bird"
    peer.close()


def test_slash_command_and_its_answer(workspace: PracticeWorkspace, peer: Peer) -> None:
    peer.answer = {"text": "working on it"}
    assert workspace.command("U0ANA", "ops", "/relaunch status ct129")
    payload = peer.seen[0].payload
    assert (payload["command"], payload["text"], payload["user_id"]) == ("/relaunch", "status ct129", "U0ANA")
    assert [m["text"] for m in workspace.ephemerals("U0ANA")] == ["working on it"]


def test_unacknowledged_command_is_shown_as_failed(hasty: PracticeWorkspace) -> None:
    peer = Peer(hasty, lambda _: False)
    assert not hasty.command("U0ANA", "ops", "/relaunch status")
    assert "operation_timeout" in hasty.ephemerals("U0ANA")[0]["text"]
    peer.close()


@pytest.fixture
def bolt(workspace: PracticeWorkspace) -> Iterator[App]:
    """An unmodified Bolt app over Socket Mode; tests add listeners."""
    client = WebClient(token=workspace.bot_token, base_url=workspace.api_url)
    app = App(client=client)
    handler = SocketModeHandler(app, workspace.app_token)
    handler.connect()
    workspace.wait_for(lambda: workspace.connections == 1)
    yield app
    leave(handler.client)


CARD = [
    {"type": "section", "text": {"type": "mrkdwn", "text": "Stop?"}},
    {
        "type": "actions",
        "elements": [
            {"type": "button", "text": {"type": "plain_text", "text": "Approve"}, "action_id": "yes", "value": "op-1"},
            {"type": "button", "text": {"type": "plain_text", "text": "Reject"}, "action_id": "no", "value": "op-1"},
        ],
    },
]


def test_bolt_answers_a_mention_and_edits_its_card_on_a_click(workspace: PracticeWorkspace, bolt: App) -> None:
    @bolt.event("app_mention")
    def on_mention(event: dict[str, Any], say: Any) -> None:
        say(text="Stop?", blocks=CARD, thread_ts=event["ts"])

    @bolt.action("yes")
    def on_yes(ack: Any, body: dict[str, Any], client: WebClient) -> None:
        ack()
        text = f"approved by {body['user']['id']}: {body['actions'][0]['value']}"
        client.chat_update(channel=body["channel"]["id"], ts=body["message"]["ts"], text=text)

    @bolt.event("message")
    def on_message() -> None:
        pass

    root = workspace.say("U0ANA", "ml-serving", "@Relaunch stop it")
    card = workspace.wait_for(lambda: workspace.thread("ml-serving", root)[1:])[0]
    assert workspace.click("U0BOB", "ml-serving", card["ts"], "Approve")
    workspace.wait_for(lambda: workspace.thread("ml-serving", root)[1]["text"] == "approved by U0BOB: op-1")
    assert workspace.refusals() == []


def test_a_click_that_nobody_acknowledges_warns_the_person(hasty: PracticeWorkspace) -> None:
    peer = Peer(hasty, lambda request: request.type == "events_api")
    client = WebClient(token=hasty.bot_token, base_url=hasty.api_url)
    ts = client.chat_postMessage(channel="C0OPS", text="Stop?", blocks=CARD)["ts"]
    assert not hasty.click("U0ANA", "ops", ts, "no")
    assert "did not respond" in hasty.ephemerals("U0ANA")[0]["text"]
    peer.close()


def test_modal_with_errors_then_closed(workspace: PracticeWorkspace, bolt: App, client: WebClient) -> None:
    entry = {"type": "plain_text_input", "action_id": "n"}
    blocks = [{"type": "input", "block_id": "port", "label": {"type": "plain_text", "text": "Port"}, "element": entry}]
    view = {
        "type": "modal",
        "callback_id": "start",
        "title": {"type": "plain_text", "text": "Start"},
        "submit": {"type": "plain_text", "text": "Go"},
        "blocks": blocks,
    }
    triggers: list[str] = []

    @bolt.action("yes")
    def on_yes(ack: Any, body: dict[str, Any], client: WebClient) -> None:
        ack()
        triggers.append(body["trigger_id"])
        client.views_open(trigger_id=body["trigger_id"], view=view)

    @bolt.view("start")
    def on_start(ack: Any, view: dict[str, Any]) -> None:
        value = view["state"]["values"]["port"]["n"]["value"]
        if value == "80":
            ack(response_action="errors", errors={"port": "too low"})
        else:
            ack()

    ts = client.chat_postMessage(channel="C0OPS", text="Stop?", blocks=CARD)["ts"]
    workspace.click("U0ANA", "ops", ts, "yes")
    workspace.wait_for(lambda: workspace.modals("U0ANA"))
    with pytest.raises(SlackApiError, match="exchanged_trigger_id"):
        client.views_open(trigger_id=triggers[0], view=view)
    typed = lambda text: {"port": {"n": {"type": "plain_text_input", "value": text}}}  # noqa: E731
    assert workspace.submit("U0ANA", typed("80")) == {"errors": {"port": "too low"}}
    assert workspace.submit("U0ANA", typed("8000")) == {"closed": True}
    assert workspace.modals("U0ANA") == []


def test_response_url_is_ephemeral_unless_asked_and_wears_out(
    workspace: PracticeWorkspace, bolt: App, client: WebClient
) -> None:
    done = threading.Event()
    codes: list[int] = []

    @bolt.action("yes")
    def on_yes(ack: Any, respond: Any) -> None:
        ack()
        codes.extend(respond(text=f"note {count}").status_code for count in range(6))
        done.set()

    ts = client.chat_postMessage(channel="C0OPS", text="Stop?", blocks=CARD)["ts"]
    workspace.click("U0ANA", "ops", ts, "yes")
    assert done.wait(10)
    assert codes == [200] * 5 + [404]
    assert [m["text"] for m in workspace.ephemerals("U0ANA")][:1] == ["note 0"]


def test_home_tab(workspace: PracticeWorkspace, bolt: App) -> None:
    @bolt.event("app_home_opened")
    def on_home(event: dict[str, Any], client: WebClient) -> None:
        client.views_publish(user_id=event["user"], view={"type": "home", "blocks": [{"type": "divider"}]})

    workspace.open_home("U0ANA")
    assert workspace.wait_for(lambda: workspace.home("U0ANA"))["type"] == "home"


def test_the_app_comes_back_after_a_disconnect(workspace: PracticeWorkspace, peer: Peer) -> None:
    workspace.disconnect("refresh_requested")
    workspace.wait_for(lambda: workspace.connections == 1)
    workspace.say("U0ANA", "ops", "still there?")
    workspace.wait_for(lambda: peer.events(), timeout=20)
