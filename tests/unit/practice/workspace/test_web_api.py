"""The practice workspace answers Slack's own client as Slack does, refusals included."""

import re
from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.practice.workspace import PracticeWorkspace
from bot.practice.workspace.manifest import EVERYTHING, Manifest

LONG = {"type": "section", "text": {"type": "mrkdwn", "text": "a" * 2900}}


def refused(call: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
    with pytest.raises(SlackApiError) as caught:
        call(*args, **kwargs)
    data: dict[str, Any] = dict(caught.value.response.data)
    return data


def test_auth_test_names_the_bot_and_its_scopes(client: WebClient) -> None:
    answer = client.auth_test()
    assert (answer["user_id"], answer["bot_id"]) == ("U0RELBOT", "B0RELBOT")
    assert "chat:write" in answer.headers["x-oauth-scopes"]


@pytest.mark.parametrize(
    ("token", "error"),
    [("", "not_authed"), ("xoxb-wrong", "invalid_auth"), ("xapp-practice-app", "not_allowed_token_type")],
)
def test_tokens_are_checked(workspace: PracticeWorkspace, token: str, error: str) -> None:
    client = WebClient(token=token, base_url=workspace.api_url)
    assert refused(client.chat_postMessage, channel="C0SERVING", text="hi")["error"] == error


def test_post_reply_update_delete_round_trip(workspace: PracticeWorkspace, client: WebClient) -> None:
    root = client.chat_postMessage(channel="C0SERVING", text="root")["ts"]
    assert re.fullmatch(r"\d{10}\.\d{6}", root)
    reply = client.chat_postMessage(channel="C0SERVING", text="reply", thread_ts=root)["ts"]
    assert reply > root
    client.chat_update(channel="C0SERVING", ts=reply, text="better")
    thread = client.conversations_replies(channel="C0SERVING", ts=root)["messages"]
    assert [m["text"] for m in thread] == ["root", "better"]
    assert (thread[0]["reply_count"], thread[0]["thread_ts"]) == (1, root)
    assert "edited" in thread[1]
    assert [m["text"] for m in client.conversations_history(channel="C0SERVING")["messages"]] == ["root"]
    client.chat_delete(channel="C0SERVING", ts=reply)
    assert [m["text"] for m in workspace.thread("ml-serving", root)] == ["root"]


def test_update_without_blocks_removes_them(workspace: PracticeWorkspace, client: WebClient) -> None:
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "*x*"}}]
    posted = client.chat_postMessage(channel="C0OPS", text="x", blocks=blocks)
    assert posted["message"]["blocks"][0]["block_id"]
    client.chat_update(channel="C0OPS", ts=posted["ts"], text="plain")
    assert "blocks" not in workspace.messages("ops")[0]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"channel": "C0RANDOM", "text": "hi"}, "not_in_channel"),
        ({"channel": "C0NOWHERE", "text": "hi"}, "channel_not_found"),
        ({"channel": "C0OPS"}, "no_text"),
        ({"channel": "C0OPS", "text": "x", "thread_ts": "1.000000"}, "cannot_reply_to_message"),
        ({"channel": "C0OPS", "text": "x", "markdown_text": "y"}, "markdown_text_conflict"),
        ({"channel": "C0OPS", "text": "x", "blocks": "{}"}, "invalid_blocks_format"),
        ({"channel": "C0OPS", "text": "x", "blocks": [{"type": "markdown", "text": "a" * 12001}]}, "invalid_blocks"),
        (
            {
                "channel": "C0OPS",
                "text": "x",
                "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "a" * 2900}}] * 5,
            },
            "msg_blocks_too_long",
        ),
    ],
)
def test_posts_that_slack_refuses(client: WebClient, arguments: dict[str, Any], error: str) -> None:
    assert refused(client.chat_postMessage, **arguments)["error"] == error


def test_invalid_blocks_come_with_pointers(workspace: PracticeWorkspace, client: WebClient) -> None:
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "a" * 3001}}]
    answer = refused(client.chat_postMessage, channel="C0OPS", text="x", blocks=blocks)
    assert answer["errors"] == [
        "failed to match all allowed schemas [json-pointer:/blocks/0/text]",
        "must be less than 3001 characters [json-pointer:/blocks/0/text/text]",
    ]
    assert answer["response_metadata"]["messages"][1].startswith("[ERROR] must be less than 3001")
    assert workspace.refusals() == ["chat.postMessage: invalid_blocks"]


def test_updates_that_slack_refuses(workspace: PracticeWorkspace, client: WebClient) -> None:
    theirs = workspace.say("U0ANA", "ops", "hello")
    own = client.chat_postMessage(channel="C0OPS", text="x")["ts"]
    assert refused(client.chat_update, channel="C0OPS", ts=theirs, text="y")["error"] == "cant_update_message"
    assert refused(client.chat_update, channel="C0OPS", ts="1.0", text="y")["error"] == "message_not_found"
    assert refused(client.chat_update, channel="C0OPS", ts=own, text="y" * 4001)["error"] == "msg_too_long"
    assert refused(client.chat_delete, channel="C0OPS", ts=theirs)["error"] == "cant_delete_message"


def test_ephemeral_is_seen_by_one_person_and_is_in_no_history(workspace: PracticeWorkspace, client: WebClient) -> None:
    client.chat_postEphemeral(channel="C0OPS", user="U0ANA", text="only you")
    assert [m["text"] for m in workspace.ephemerals("U0ANA")] == ["only you"]
    assert workspace.ephemerals("U0BOB") == []
    assert workspace.messages("ops") == []
    assert refused(client.chat_postEphemeral, channel="C0OPS", user="U0GIL", text="x")["error"] == "user_not_in_channel"


def test_rate_limit_is_a_429_with_retry_after(workspace: PracticeWorkspace, client: WebClient) -> None:
    workspace.limit_next("chat.postMessage")
    with pytest.raises(SlackApiError) as caught:
        client.chat_postMessage(channel="C0OPS", text="x")
    assert caught.value.response.status_code == 429
    assert caught.value.response.headers["Retry-After"] == "1"
    assert client.chat_postMessage(channel="C0OPS", text="x")["ok"]


def test_updates_are_limited_over_the_whole_workspace(client: WebClient, workspace: PracticeWorkspace) -> None:
    workspace.office.limits.on = True
    ts = client.chat_postMessage(channel="C0OPS", text="x")["ts"]
    for count in range(50):
        client.chat_update(channel="C0OPS", ts=ts, text=str(count))
    assert refused(client.chat_update, channel="C0OPS", ts=ts, text="51")["error"] == "ratelimited"


def test_scopes_come_from_the_manifest() -> None:
    poor = Manifest(
        **{
            **{f: getattr(EVERYTHING, f) for f in EVERYTHING.__dataclass_fields__},
            "scopes": frozenset({"chat:write"}),
        }
    )
    with PracticeWorkspace(poor) as workspace:
        client = WebClient(token=workspace.bot_token, base_url=workspace.api_url)
        answer = refused(client.users_info, user="U0ANA")
        assert (answer["error"], answer["needed"], answer["provided"]) == ("missing_scope", "users:read", "chat:write")


def test_people_groups_and_channels(workspace: PracticeWorkspace, client: WebClient) -> None:
    ana = client.users_info(user="U0ANA")["user"]
    assert (ana["tz"], ana["is_bot"], ana["team_id"]) == ("Europe/Berlin", False, "T0PRACT1")
    eve = client.users_info(user="U0EVE")["user"]
    assert eve["is_stranger"] is True
    assert eve["team_id"] != ana["team_id"]
    assert client.users_info(user="U0GIL")["user"]["is_restricted"] is True
    assert client.usergroups_users_list(usergroup="S0ONCALL")["users"] == ["U0BOB"]
    workspace.office.switches.user_groups = False
    assert refused(client.usergroups_users_list, usergroup="S0ONCALL")["error"] == "plan_upgrade_required"
    assert client.conversations_info(channel="C0VENDOR")["channel"]["is_ext_shared"] is True
    assert client.conversations_open(users="U0BOB")["channel"]["id"] == "D0BOB"
    assert client.conversations_members(channel="C0OPS")["members"] == ["U0ANA", "U0BOB", "U0RELBOT"]


def test_file_upload_in_three_steps(workspace: PracticeWorkspace, client: WebClient) -> None:
    root = client.chat_postMessage(channel="C0SERVING", text="log follows")["ts"]
    client.files_upload_v2(
        filename="server.log",
        content="line\n" * 10,
        channel="C0SERVING",
        thread_ts=root,
        title="Log",
        initial_comment="all of it",
    )
    shared = workspace.thread("ml-serving", root)[1]
    assert shared["files"][0]["title"] == "Log"
    assert shared["files"][0]["size"] == 50
    assert client.files_info(file=shared["files"][0]["id"])["file"]["name"] == "server.log"


def test_reactions(workspace: PracticeWorkspace, client: WebClient) -> None:
    ts = workspace.say("U0ANA", "ops", "hello")
    client.reactions_add(channel="C0OPS", timestamp=ts, name="eyes")
    assert refused(client.reactions_add, channel="C0OPS", timestamp=ts, name="eyes")["error"] == "already_reacted"
    assert workspace.messages("ops")[0]["reactions"][0]["users"] == ["U0RELBOT"]
    client.reactions_remove(channel="C0OPS", timestamp=ts, name="eyes")
    assert refused(client.reactions_remove, channel="C0OPS", timestamp=ts, name="eyes")["error"] == "no_reaction"


def test_unknown_methods_and_extra_arguments(client: WebClient) -> None:
    assert refused(client.api_call, "chat.levitate")["error"] == "unknown_method"
    assert client.auth_test(team_id="T0PRACT1", nonsense="1")["ok"]
