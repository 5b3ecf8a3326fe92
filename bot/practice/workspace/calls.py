"""One Web API call: reading it, who may make it, and Slack's errors."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from bot.practice.workspace.office import APP_TOKEN, BOT_TOKEN, Office
from bot.practice.workspace.state import Channel, JsonObject

TokenKind = Literal["bot", "app", "none"]


class SlackError(Exception):
    """Slack's answer `{"ok": false, "error": code, …}`."""

    def __init__(self, code: str, **extra: Any) -> None:
        super().__init__(code)
        self.code = code
        self.extra = extra

    def as_json(self) -> JsonObject:
        """The response body."""
        return {"ok": False, "error": self.code, **self.extra}


def refuse_blocks(errors: list[str]) -> None:
    """Raise invalid_blocks in the shape that Slack gives it, when there are errors."""
    if errors:
        messages = [f"[ERROR] {line}" for line in errors]
        raise SlackError("invalid_blocks", errors=errors, response_metadata={"messages": messages})


@dataclass(frozen=True)
class Call:
    """Arguments of one call; from a form they are all strings."""

    office: Office
    arguments: JsonObject

    def text(self, name: str, default: str = "") -> str:
        """A string argument."""
        value = self.arguments.get(name)
        return default if value is None else str(value)

    def need(self, name: str, error: str = "invalid_arguments") -> str:
        """A string argument that must be there."""
        value = self.text(name)
        if not value:
            raise SlackError(error, response_metadata={"messages": [f"[ERROR] missing required field: {name}"]})
        return value

    def flag(self, name: str) -> bool:
        """A boolean, also as forms send it."""
        return self.arguments.get(name) in (True, "true", "1", 1)

    def number(self, name: str, default: int, error: str = "invalid_limit") -> int:
        """A whole number, also as forms send it."""
        try:
            return int(self.arguments.get(name, default) or default)
        except (TypeError, ValueError) as problem:
            raise SlackError(error) from problem

    def data(self, name: str, error: str) -> Any:
        """A JSON value, also as a string that holds JSON. None when absent."""
        value = self.arguments.get(name)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError as problem:
            raise SlackError(error) from problem

    def channel(self, name: str = "channel", *, member: bool = False) -> Channel:
        """The conversation meant: an id (a person's id means their direct message). The app must be able to see it."""
        wanted = self.need(name)
        state = self.office.state
        channel = state.channels.get(wanted) or state.direct(wanted)
        inside = channel is not None and state.bot_user in channel.members
        if channel is None or (channel.kind == "group" and not inside):
            raise SlackError("channel_not_found")
        if member and not inside:
            raise SlackError("not_in_channel")
        return channel


Method = Callable[[Call], JsonObject]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One method: what it needs and does. One of `scopes` is enough."""

    run: Method
    scopes: tuple[str, ...] = ()
    token: TokenKind = "bot"


@dataclass
class Methods:
    """The methods of one module or of all."""

    entries: dict[str, Entry] = field(default_factory=dict)

    def add(self, name: str, *scopes: str, token: TokenKind = "bot") -> Callable[[Method], Method]:
        """Decorator: this function answers the method `name`."""

        def register(run: Method) -> Method:
            self.entries[name] = Entry(run=run, scopes=scopes, token=token)
            return run

        return register


def answer(
    methods: Methods, office: Office, name: str, token: str, arguments: JsonObject
) -> tuple[JsonObject, int, dict[str, str]]:
    """Body, HTTP status and headers for one call."""
    headers = {"x-oauth-scopes": ",".join(sorted(office.manifest.scopes)), "x-slack-req-id": office.ids.next("q")}
    try:
        entry = methods.entries.get(name)
        if entry is None:
            raise SlackError("unknown_method", req_method=name)
        _check_token(entry, token)
        if entry.scopes and office.switches.scopes and not office.manifest.scopes.intersection(entry.scopes):
            provided = ",".join(sorted(office.manifest.scopes))
            raise SlackError("missing_scope", needed=",".join(entry.scopes), provided=provided)
        wait = office.limits.retry_after(name, str(arguments.get("channel", "")))
        if wait is not None:
            return {"ok": False, "error": "ratelimited"}, 429, headers | {"Retry-After": str(wait)}
        return {"ok": True, **entry.run(Call(office, arguments))}, 200, headers
    except SlackError as error:
        return error.as_json(), 200, headers


def _check_token(entry: Entry, token: str) -> None:
    if entry.token == "none":
        return
    if not token:
        raise SlackError("not_authed")
    kinds = {BOT_TOKEN: "bot", APP_TOKEN: "app"}
    if token not in kinds:
        raise SlackError("invalid_auth")
    if kinds[token] != entry.token:
        raise SlackError("not_allowed_token_type")
