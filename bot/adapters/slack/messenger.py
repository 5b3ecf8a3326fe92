"""The Messenger port on Slack."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import structlog
from slack_sdk.web import WebClient

from bot.adapters.slack import web_api
from bot.adapters.slack.updates import Updater
from bot.adapters.slack.web_api import SlackError, UncertainError
from bot.core.domain.message import Conversation, Message, Payload, Posted
from bot.core.domain.operation import Actor
from bot.core.rendering import clean, render_terminal
from bot.errors import RelaunchError
from bot.workflows.ports import Clock

_log = structlog.get_logger()

#: type of our message metadata; its key finds a message again whose answer got lost
METADATA_TYPE = "relaunch_message"
#: Slack refuses the blocks as such: say the same in plain text
_BLOCKS_REFUSED = frozenset(("invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long"))
#: an ephemeral message cannot reach the person in that channel: use a direct message
_NOT_THERE = frozenset(("user_not_in_channel", "not_in_channel", "channel_not_found", "is_archived"))
_LOOK_BACK = 50


class Posts(Protocol):
    """Which message was posted for which key."""

    def get(self, key: str) -> Posted | None: ...
    def put(self, key: str, posted: Posted) -> None: ...


class SlackMessenger:
    """Posts once per key, edits at a pace that Slack allows, and says for good what cannot be posted.

    `render` makes a payload of a message. Methods may be called from any thread; they may wait up to some minutes when
    Slack asks for it. Raises what web_api.call raises.
    """

    def __init__(self, client: WebClient, posts: Posts, clock: Clock, render: Callable[[Message], Payload]) -> None:
        self._client = client
        self._posts = posts
        self._clock = clock
        self._render = render
        self._updater = Updater(self._edit, clock.monotonic_s)

    def post(self, conversation: Conversation, message: Message, *, key: str) -> Posted:
        """Post, unless this key was posted. After a broken connection it is looked for before anyone posts again."""
        known = self._posts.get(key)
        if known is not None:
            return known
        arguments = {
            "channel": conversation.channel,
            "thread_ts": conversation.thread_ts,
            "metadata": {"event_type": METADATA_TYPE, "event_payload": {"key": key}},
            "unfurl_links": False,
            "unfurl_media": False,
            "parse": "none",
        }
        try:
            answer = self._with_blocks(self._client.chat_postMessage, self._render(message), arguments)
            posted = Posted(channel=answer["channel"], ts=answer["ts"], thread_ts=conversation.thread_ts)
        except UncertainError:
            found = self._find(conversation, key)
            if found is None:
                raise
            posted = found
        self._posts.put(key, posted)
        return posted

    def update(self, posted: Posted, message: Message, *, final: bool = False) -> None:
        """Edit. Not final: soon, merged with later ones, errors only logged. Final: now, errors raised."""
        if final:
            self._updater.final(posted, message)
        else:
            self._updater.offer(posted, message)

    def private(self, conversation: Conversation, actor: Actor, message: Message) -> None:
        """Show it to the actor only: in the channel if they are there, else in a direct message."""
        payload = self._render(message)
        if not conversation.channel.startswith(("D", "U", "W")):
            arguments = {
                "channel": conversation.channel,
                "user": actor.id,
                # Slack shows an ephemeral message in a thread only to who sees that the thread exists
                "thread_ts": None if conversation.new else conversation.thread_ts,
                "parse": "none",
            }
            try:
                self._with_blocks(self._client.chat_postEphemeral, payload, arguments)
                return
            except SlackError as error:
                if error.code not in _NOT_THERE:
                    raise
        direct = conversation.channel.startswith("D")
        arguments = {
            "channel": conversation.channel if direct else actor.id,
            "thread_ts": conversation.thread_ts if direct else None,
            "parse": "none",
        }
        self._with_blocks(self._client.chat_postMessage, payload, arguments)

    def link(self, conversation: Conversation) -> str | None:
        """Permalink of the thread's first message; None where Slack gives none."""
        if conversation.thread_ts is None:
            return None
        try:
            answer = web_api.call(
                self._client.chat_getPermalink,
                self._clock,
                channel=conversation.channel,
                message_ts=conversation.thread_ts,
            )
        except RelaunchError:
            # the message is gone, or Slack is away: what is said is worth more than its link
            return None
        return str(answer.get("permalink") or "") or None

    def upload(
        self, conversation: Conversation, *, filename: str, data: bytes, title: str, alt_text: str, key: str
    ) -> None:
        """Add a file to the conversation, unless this key was uploaded."""
        if self._posts.get(key) is not None:
            return
        answer = web_api.call(
            self._client.files_upload_v2,
            self._clock,
            channel=conversation.channel,
            thread_ts=conversation.thread_ts,
            filename=filename,
            content=data,
            title=clean.cut(clean.one_line(title), 200),
            alt_txt=clean.cut(clean.one_line(alt_text), 1000),
        )
        file_id = next((str(file.get("id")) for file in answer.get("files") or ()), "")
        posted = Posted(channel=conversation.channel, ts=f"file:{file_id}", thread_ts=conversation.thread_ts)
        self._posts.put(key, posted)

    def publish_home(self, actor: Actor, message: Message) -> None:
        """Show the message as this person's App Home."""
        view = {"type": "home", "blocks": self._render(message).blocks}
        web_api.call(self._client.views_publish, self._clock, user_id=actor.id, view=view)

    def close(self) -> None:
        """Stop sending edits."""
        self._updater.close()

    def _edit(self, posted: Posted, message: Message) -> None:
        arguments = {"channel": posted.channel, "ts": posted.ts, "parse": "none"}
        self._with_blocks(self._client.chat_update, self._render(message), arguments)

    def _with_blocks(
        self, method: Callable[..., Any], payload: Payload, arguments: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        given = {name: value for name, value in arguments.items() if value is not None}
        try:
            return web_api.call(method, self._clock, text=payload.text, blocks=payload.blocks, **given)
        except SlackError as error:
            if error.code not in _BLOCKS_REFUSED:
                raise
            _log.error("slack refused blocks", code=error.code)
        return web_api.call(method, self._clock, text=payload.text, blocks=_plain_blocks(payload), **given)

    def _find(self, conversation: Conversation, key: str) -> Posted | None:
        """The message with this key in the conversation, where reading it is allowed (direct messages)."""
        try:
            if conversation.thread_ts:
                answer = web_api.call(
                    self._client.conversations_replies,
                    self._clock,
                    channel=conversation.channel,
                    ts=conversation.thread_ts,
                    limit=_LOOK_BACK,
                    include_all_metadata=True,
                )
            else:
                answer = web_api.call(
                    self._client.conversations_history,
                    self._clock,
                    channel=conversation.channel,
                    limit=_LOOK_BACK,
                    include_all_metadata=True,
                )
        except (SlackError, UncertainError):
            return None
        for message in answer.get("messages") or ():
            metadata = message.get("metadata") or {}
            if (metadata.get("event_payload") or {}).get("key") == key:
                return Posted(channel=conversation.channel, ts=message["ts"], thread_ts=conversation.thread_ts)
        return None


def _plain_blocks(payload: Payload) -> list[dict[str, Any]]:
    """The words in one section, the buttons as they are."""
    text = clean.cut(render_terminal(payload), 2900) or payload.text
    buttons = [block for block in payload.blocks if block["type"] == "actions"]
    return [{"type": "section", "text": {"type": "plain_text", "text": text, "emoji": False}}, *buttons]
