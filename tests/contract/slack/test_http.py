"""HTTP: only what Slack signed, lately, is heard."""

import hashlib
import hmac
import json
import time

import pytest

from bot.adapters.slack.app import HttpEdge

SECRET = "0123456789abcdef"
EVENT = {
    "type": "event_callback",
    "team_id": "T0PRACT1",
    "event_id": "Ev1",
    "event": {"type": "app_mention", "user": "U0ANA", "text": "status", "ts": "1.000100", "channel": "C0SERVING"},
}


def signed(body: bytes, *, at: float, secret: str = SECRET) -> dict[str, str]:
    stamp = str(int(at))
    digest = hmac.new(secret.encode(), b"v0:" + stamp.encode() + b":" + body, hashlib.sha256).hexdigest()
    return {
        "Content-Type": "application/json",
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": f"v0={digest}",
    }


@pytest.fixture
def edge(bot) -> HttpEdge:
    EVENT["team_id"] = bot.slack.me.team
    return bot.slack.answer(bot.inbox)


def test_a_signed_event_is_handed_over(bot, edge):
    body = json.dumps(EVENT).encode()
    assert edge.handle(body, signed(body, at=time.time())).status == 200
    bot.wait(lambda: bot.inbox.of("message"))
    assert bot.inbox.of("message")[0][3] == "status"


@pytest.mark.parametrize(
    ("at", "secret", "change"),
    [(0, "wrong", b""), (-400, SECRET, b""), (0, SECRET, b" ")],
    ids=["another secret", "too old", "body changed"],
)
def test_anything_else_is_refused(bot, edge, at, secret, change):
    body = json.dumps(EVENT).encode()
    answer = edge.handle(body + change, signed(body, at=time.time() + at, secret=secret))
    assert answer.status == 401
    assert bot.inbox.calls == []


def test_slacks_address_check_is_answered(edge):
    body = json.dumps({"type": "url_verification", "challenge": "abc"}).encode()
    answer = edge.handle(body, signed(body, at=time.time()))
    assert (answer.status, "abc" in answer.body) == (200, True)


def test_bytes_that_are_no_text_are_refused(edge):
    assert edge.handle(b"\xff\xfe", signed(b"\xff\xfe", at=time.time())).status == 400


@pytest.mark.parametrize(
    "change",
    [
        {"X-Slack-Request-Timestamp": "soon"},
        {"X-Slack-Request-Timestamp": "9" * 400},
        {"X-Slack-Signature": "v0=ünsigned"},
        {"X-Slack-Signature": ""},
    ],
)
def test_a_signature_that_is_none_is_refused(bot, edge, change):
    body = json.dumps(EVENT).encode()
    assert edge.handle(body, signed(body, at=time.time()) | change).status == 401
    assert edge.handle(body, {}).status == 401
    assert bot.inbox.calls == []


@pytest.mark.parametrize("body", [b"[]", b"3", b"null", b'"x"', b"{", b""])
def test_a_signed_body_that_slack_never_sends_gets_an_answer(bot, edge, body):
    assert edge.handle(body, signed(body, at=time.time())).status in (400, 404)
    assert bot.inbox.calls == []
