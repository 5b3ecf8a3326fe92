"""Calls of Slack's Web API: waits out rate limits, tells what may be tried again from what may not."""

import http.client
import urllib.error
from collections.abc import Callable, Mapping
from typing import Any

import structlog
from slack_sdk.errors import SlackApiError, SlackRequestError
from slack_sdk.web import SlackResponse, WebClient

from bot.core.rendering import clean
from bot.errors import PermanentError, RateLimitedError, TemporaryError
from bot.workflows.ports import Clock

_log = structlog.get_logger()

#: Slack's error code -> what it means and what to do. Others are permanent too, shown by their code
PERMANENT: Mapping[str, tuple[str, str]] = {
    "not_in_channel": ("I am not in that Slack channel.", "invite me there: /invite @relaunch"),
    "channel_not_found": ("Slack does not show me that channel.", "invite me there, or check the channel's id"),
    "is_archived": ("That Slack channel is archived.", "unarchive it, or use another one"),
    "missing_scope": (
        "The Slack app lacks a permission.",
        "paste manifest.yaml into the app's settings again and reinstall the app",
    ),
    "messages_tab_disabled": ("The app's Messages tab is off.", "switch on the Messages tab in the app's settings"),
    "not_enabled": ("The app's Home tab is off.", "switch on the Home tab in the app's settings"),
    "invalid_auth": ("Slack does not accept the bot token.", "set RELAUNCH_SLACK_BOT_TOKEN and restart"),
    "not_authed": ("There is no Slack bot token.", "set RELAUNCH_SLACK_BOT_TOKEN and restart"),
    "account_inactive": ("The Slack app was removed from the workspace.", "install it again"),
    "token_revoked": ("The Slack bot token was revoked.", "install the app again and set the new token"),
    "token_expired": ("The Slack bot token has expired.", "switch token rotation off and set a new token"),
    "restricted_action": ("The workspace does not let me post there.", "ask a workspace administrator"),
    "message_not_found": ("The Slack message is gone.", ""),
    "cant_update_message": ("That Slack message is not mine to edit.", ""),
    "edit_window_closed": ("The workspace lets nobody edit messages that old.", ""),
}
#: errors in which Slack may have done the call in part
_TEMPORARY = frozenset(
    ("internal_error", "fatal_error", "service_unavailable", "request_timeout", "ratelimited", "rate_limited",
     "team_added_to_org", "external_channel_migrating", "accesslimited")
)  # fmt: skip
_LONGEST_WAIT_S, _ATTEMPTS = 60.0, 5


class SlackError(PermanentError):
    """Slack said no for good. `code` is its word for it."""

    def __init__(self, code: str, method: str, *, needed: str = "") -> None:
        what, remedy = PERMANENT.get(code, (f"Slack refused {method}: {code}.", ""))
        super().__init__(f"{what} ({needed})" if needed else what, remedy=remedy)
        self.code = code


class UncertainError(TemporaryError):
    """The connection broke after the request may have been read: Slack may have done it."""


def web_client(token: str, base_url: str, *, timeout_s: int = 15) -> WebClient:
    """A client that re-sends nothing by itself: slack_sdk's stock handler would post messages twice."""
    return WebClient(token=token, base_url=base_url, timeout=timeout_s, retry_handlers=[])


def call(method: Callable[..., SlackResponse], clock: Clock, **arguments: Any) -> Mapping[str, Any]:
    """Call, waiting out 429 and connections that were never made.

    Raises SlackError, RateLimitedError, UncertainError, TemporaryError. The clock's sleep must not be on a listener's
    thread for long: Slack asks for up to a minute.
    """
    name = getattr(method, "__name__", "call")
    for attempt in range(_ATTEMPTS):
        try:
            data = method(**arguments).data
            return data if isinstance(data, dict) else {}
        except SlackApiError as error:
            wait_s = _judge(error, name)
        except SlackRequestError as error:
            raise UncertainError(f"Slack did not take what {name} sent: {error}") from error
        except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
            if not _never_sent(error):
                raise UncertainError(f"no answer from Slack to {name}: {error}") from error
            wait_s = 2.0**attempt
        if attempt + 1 < _ATTEMPTS:
            _log.info("slack call waits", method=name, seconds=wait_s)
            clock.sleep(min(wait_s, _LONGEST_WAIT_S))
    raise RateLimitedError(f"Slack did not take {name} after {_ATTEMPTS} tries", remedy="try again in a minute")


def _judge(error: SlackApiError, name: str) -> float:
    """Seconds to wait before the next try, or the error to raise."""
    response = error.response
    status = response.status_code if isinstance(response, SlackResponse) else 0
    code = str(response.get("error") or "") if isinstance(response, SlackResponse) else ""
    if status == 429 or code in ("ratelimited", "rate_limited"):
        return _retry_after(response.headers)
    if status >= 500 or code in _TEMPORARY:
        raise UncertainError(f"Slack could not do {name}: {code or status}") from error
    # an answer that is no JSON comes as its whole text
    code = clean.cut(clean.one_line(code), 100) or str(status)
    raise SlackError(code, name, needed=str(response.get("needed") or "")) from error


def _retry_after(headers: Mapping[str, str]) -> float:
    text = next((value for key, value in headers.items() if key.lower() == "retry-after"), "1")
    try:
        return max(float(text), 0.1)
    except ValueError:
        return 1.0


def _never_sent(error: BaseException) -> bool:
    """Whether no connection came about, so that trying again cannot do anything twice."""
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    text = str(reason)
    return isinstance(reason, ConnectionRefusedError) or "Name or service" in text or "getaddrinfo" in text
