"""The page shows what a small Bolt app does, live, and lets people do what they do in Slack."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.practice.workspace import PracticeWorkspace
from tests.browser.page_objects import ANA, BOB, PracticePage

pytestmark = pytest.mark.browser


def plain(text: str) -> dict[str, str]:
    return {"type": "plain_text", "text": text}


def words(text: str) -> dict[str, str]:
    return {"type": "mrkdwn", "text": text}


CONFIRM = {
    "title": plain("Stop it?"),
    "text": words("It is *in use*."),
    "confirm": plain("Stop"),
    "deny": plain("Keep"),
}
LOG = {"type": "text", "text": "Traceback (most recent call last):\n  <b>not HTML</b> & `not code`"}
CARD: list[dict[str, Any]] = [
    {"type": "header", "text": plain("Stop qwen on ct129")},
    {
        "type": "section",
        "text": words("*plan* with `--tp 2`, _care_ and <https://a.test|a link> :rocket: for <@U0BOB>"),
    },
    {"type": "section", "fields": [words("*Host*\nct129"), words("*Port*\n30000")]},
    {"type": "rich_text", "elements": [{"type": "rich_text_preformatted", "elements": [LOG]}]},
    {"type": "divider"},
    {"type": "context", "elements": [words("asked by <@U0ANA>")]},
    {
        "type": "actions",
        "elements": [
            {"type": "button", "text": plain("Approve"), "action_id": "yes", "style": "primary", "value": "op-1"},
            {"type": "button", "text": plain("Reject"), "action_id": "no", "style": "danger", "confirm": CONFIRM},
        ],
    },
    {
        "type": "table",
        "rows": [
            [{"type": "raw_text", "text": "launch"}, {"type": "raw_text", "text": "tok/s"}],
            [{"type": "raw_text", "text": "#12"}, {"type": "raw_text", "text": "70.2"}],
        ],
    },
]


def answer(app: App) -> None:
    """What the small app does."""

    @app.event("app_mention")
    def on_mention(event: dict[str, Any], client: WebClient) -> None:
        root = event.get("thread_ts") or event["ts"]
        if "quietly" in event["text"]:
            client.chat_postEphemeral(channel=event["channel"], user=event["user"], text="psst", thread_ts=root)
        client.chat_postMessage(channel=event["channel"], thread_ts=root, text="Stop?", blocks=CARD)

    @app.action("yes")
    def on_yes(ack: Any, body: dict[str, Any], client: WebClient) -> None:
        ack()
        who, channel, ts = body["user"]["id"], body["channel"]["id"], body["message"]["ts"]
        client.chat_update(channel=channel, ts=ts, text=f"approved by <@{who}>")

    @app.action("no")
    def on_no(ack: Any, body: dict[str, Any], client: WebClient) -> None:
        ack()
        client.chat_update(channel=body["channel"]["id"], ts=body["message"]["ts"], text="rejected")

    @app.command("/relaunch")
    def on_command(ack: Any, command: dict[str, Any]) -> None:
        ack(text=f"you said {command['text']}")

    @app.event("message")
    def on_message() -> None:
        pass

    @app.event("app_home_opened")
    def on_home(event: dict[str, Any], client: WebClient) -> None:
        if event["tab"] == "home":
            client.views_publish(user_id=event["user"], view={"type": "home", "blocks": CARD[:2]})


@pytest.fixture
def workspace() -> Iterator[PracticeWorkspace]:
    """A workspace with the small app connected."""
    with PracticeWorkspace(suggestions=["@Relaunch stop qwen on ct129"]) as running:
        app = App(client=WebClient(token=running.bot_token, base_url=running.api_url))
        answer(app)
        handler = SocketModeHandler(app, running.app_token)
        handler.connect()
        running.wait_for(lambda: running.connections)
        yield running
        handler.client.auto_reconnect_enabled = False
        threading.Thread(target=handler.close, daemon=True).start()


def test_from_a_suggested_sentence_to_an_approval(
    browser: Browser, workspace: PracticeWorkspace, pictures: Path
) -> None:
    page = PracticePage(browser, workspace.url)
    expect(page.page.locator("#bot-state")).to_have_text("bot connected")
    page.picture(pictures / "welcome.png")
    page.suggest("@Relaunch stop qwen on ct129")
    page.wait_in_thread("Stop qwen on ct129")
    card = page.replies.nth(1)
    expect(card.locator("pre")).to_contain_text("<b>not HTML</b> & `not code`")
    expect(card.locator("a")).to_have_attribute("href", "https://a.test")
    expect(card.locator(".mention").first).to_have_text("@Bob Tran")
    expect(card.locator("table.block td").nth(3)).to_have_text("70.2")
    expect(card).to_contain_text("🚀")
    page.picture(pictures / "card.png")
    page.become(BOB)
    page.press("Reject")
    page.confirm("Keep")
    page.press("Approve")
    page.wait_in_thread("approved by @Bob Tran")
    expect(card.get_by_role("button", name="Approve")).to_have_count(0)
    expect(card).to_contain_text("(edited)")
    assert page.refusals() == 0
    page.close()


def test_commands_whispers_and_home(browser: Browser, workspace: PracticeWorkspace) -> None:
    page = PracticePage(browser, workspace.url)
    page.say("/relaunch status")
    expect(page.page.locator("#messages .mine-only")).to_contain_text("you said status")
    page.say("@Relaunch quietly")
    page.wait_in_thread("psst")
    page.become(BOB)
    expect(page.page.locator("#messages")).not_to_contain_text("you said status")
    expect(page.page.locator("#replies")).not_to_contain_text("psst")
    page.become(ANA)
    page.go("D0ANA")
    page.page.locator("#tab-home").click()
    expect(page.page.locator("#home .header-block")).to_have_text("Stop qwen on ct129")
    page.page.reload()
    expect(page.page.locator("#messages")).not_to_contain_text("you said status")
    page.close()


def test_refused_calls_are_listed(browser: Browser, workspace: PracticeWorkspace, pictures: Path) -> None:
    page = PracticePage(browser, workspace.url)
    client = WebClient(token=workspace.bot_token, base_url=workspace.api_url)
    with pytest.raises(SlackApiError, match="not_in_channel"):
        client.chat_postMessage(channel="C0RANDOM", text="x")
    expect(page.page.locator("#refused-count")).to_have_text("1")
    page.page.locator("#inspect").click()
    page.page.locator("#show-refused").click()
    expect(page.page.locator("#inspector-body")).to_contain_text("not_in_channel")
    page.picture(pictures / "inspector.png")
    page.close()


def test_on_a_phone_in_the_dark(browser: Browser, workspace: PracticeWorkspace, pictures: Path) -> None:
    page = PracticePage(browser, workspace.url, width=390, height=780, dark=True)
    page.picture(pictures / "phone-welcome.png")
    page.suggest("@Relaunch stop qwen on ct129")
    page.wait_in_thread("Stop qwen on ct129")
    page.picture(pictures / "phone-thread.png")
    overflow = page.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0
    page.page.locator("#close-thread").click()
    page.page.locator("#menu").click()
    page.picture(pictures / "phone-menu.png")
    page.close()
