"""The whole job in the browser, with the real bot: start, progress, speed, stop with approval, a failed launch."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from bot.cli.practice_bot import practice_bot
from bot.practice.run import Practice, run
from tests.browser.page_objects import ANA, BOB, PracticePage

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def practice() -> Iterator[Practice]:
    """Two hosts, quick engines, and the real bot; in a thread, as the browser's event loop runs in this one."""
    with ThreadPoolExecutor(1) as thread, ExitStack() as stack:
        running = thread.submit(stack.enter_context, run(start_s=4, speed=6, hosts=["ct129", "ct130"])).result()
        thread.submit(stack.enter_context, practice_bot(running)).result()
        yield running
        thread.submit(stack.close).result()


def test_start_measure_stop_and_a_failure(browser: Browser, practice: Practice, pictures: Path) -> None:
    page = PracticePage(browser, practice.url)
    page.suggest("@Relaunch start qwen on ct129 with stock mtp")
    page.wait_in_thread(re.compile("Plan: start qwen3.6-27b-mtp on ct129"))
    page.wait_in_thread(re.compile(r"is ready on ct129"), 60)
    page.wait_in_thread(re.compile(r"tok/s"), 60)
    page.picture(pictures / "ready.png")
    expect(page.page.locator("#replies")).to_contain_text("exactly the planned command")

    page.suggest("@Relaunch stop qwen on ct129")
    page.wait_in_thread("Approve", 30)
    page.become(BOB)
    page.press("Approve")
    page.wait_in_thread(re.compile("is stopped on ct129"), 40)
    page.picture(pictures / "stopped.png")

    page.become(ANA)
    page.suggest("@Relaunch start qwen on ct130 with long context")
    page.wait_in_thread(re.compile("did not start on ct130"), 40)
    expect(page.page.locator("#replies")).to_contain_text("libavutil.so.58")
    page.picture(pictures / "failed.png")
    assert page.refusals() == 0, practice.workspace.refusals()
    page.close()
