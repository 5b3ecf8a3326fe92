"""What a person types reaches the app rewritten as Slack rewrites it."""

import pytest

from bot.practice.workspace.roster import fresh_state
from bot.practice.workspace.typing_text import as_slack_sends, rich_text

STATE = fresh_state("Relaunch")


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("@Relaunch start qwen", "<@U0RELBOT> start qwen"),
        ("@relaunch: go", "<@U0RELBOT>: go"),
        ("a < b & c > d", "a &lt; b &amp; c &gt; d"),
        ("see https://a.test/x?y=1&z=2.", "see <https://a.test/x?y=1&amp;z=2>."),
        ("host gpu1.example.com please", "host <http://gpu1.example.com|gpu1.example.com> please"),
        ("version 0.5.11 of qwen3.6", "version 0.5.11 of qwen3.6"),
        ("#ops and #nowhere", "<#C0OPS|ops> and #nowhere"),
        ("@here look", "<!here> look"),
        ("@oncall look", "<!subteam^S0ONCALL|@oncall> look"),
        ("`--tp 2 <x>`", "`--tp 2 &lt;x&gt;`"),
        ("`@here`", "`@here`"),
        ("go 🚀", "go :rocket:"),
        ("<@U0RELBOT> stop", "<@U0RELBOT> stop"),
        ("mail a.b@x.test now", "mail <mailto:a.b@x.test|a.b@x.test> now"),
        ("@nobody hi", "@nobody hi"),
    ],
)
def test_rewriting(typed: str, sent: str) -> None:
    assert as_slack_sends(typed, STATE) == sent


def test_rich_text_has_mentions_links_and_code_as_elements() -> None:
    block = rich_text("<@U0RELBOT> use `--tp 2 &lt;x&gt;` from <https://a.test>")
    kinds = [(e["type"], e.get("text") or e.get("user_id") or e.get("url")) for e in block["elements"][0]["elements"]]
    assert kinds == [
        ("user", "U0RELBOT"),
        ("text", " use "),
        ("text", "--tp 2 <x>"),
        ("text", " from "),
        ("link", "https://a.test"),
    ]
