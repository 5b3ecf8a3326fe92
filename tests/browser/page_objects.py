"""The practice page as a person uses it."""

import re
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect

ANA, BOB, GUEST, EXTERNAL = "U0ANA", "U0BOB", "U0GIL", "U0EVE"


class PracticePage:
    """One open page. Errors in its console fail `close`."""

    def __init__(self, browser: Browser, url: str, *, width: int = 1280, height: int = 860, dark: bool = False) -> None:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        self.page: Page = context.new_page()
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        self.page.goto(url)
        expect(self.page.locator("#channel-name")).not_to_be_empty()

    def close(self) -> None:
        """Close, and complain of errors that the page met."""
        self.page.context.close()
        assert self.errors == []

    def picture(self, path: Path) -> None:
        """Take a screenshot."""
        self.page.screenshot(path=path)

    # --- who and where

    def become(self, user: str) -> None:
        """Choose who you are."""
        self.page.select_option("#me", user)

    def go(self, channel: str) -> None:
        """Open a channel by its id."""
        self.page.locator(f'[data-channel="{channel}"] button').click()

    # --- doing

    def suggest(self, text: str) -> None:
        """Click a suggested sentence."""
        self.page.locator("#suggestions button", has_text=re.compile(re.escape(text) + "$")).click()

    def say(self, text: str) -> None:
        """Type a message and send it."""
        self.page.locator("#composer textarea").fill(text)
        self.page.locator("#composer textarea").press("Enter")

    def reply(self, text: str) -> None:
        """Type a reply in the open thread and send it."""
        self.page.locator("#thread-composer textarea").fill(text)
        self.page.locator("#thread-composer textarea").press("Enter")

    def press(self, label: str) -> None:
        """Press a button of a message in the open thread, else in the channel."""
        self.page.locator("#replies:visible, #messages").get_by_role("button", name=label, exact=True).last.click()

    def confirm(self, label: str) -> None:
        """Answer a confirmation dialog."""
        self.page.locator("#confirm").get_by_role("button", name=label, exact=True).click()

    # --- looking

    @property
    def messages(self) -> Locator:
        """Messages of the open channel."""
        return self.page.locator("#messages .message")

    @property
    def replies(self) -> Locator:
        """Messages of the open thread, its root first."""
        return self.page.locator("#replies .message")

    def wait_in_thread(self, text: str | re.Pattern[str], timeout_s: float = 30) -> Locator:
        """Wait until the open thread holds this text."""
        found = self.page.locator("#replies").get_by_text(text).last
        expect(found).to_be_visible(timeout=timeout_s * 1000)
        return found

    def refusals(self) -> int:
        """How many calls Slack would have refused."""
        badge = self.page.locator("#refused-count")
        return int(badge.inner_text()) if badge.is_visible() else 0
