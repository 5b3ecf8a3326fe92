"""What the app's manifest grants: scopes, event subscriptions, slash commands, App Home."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The parts of an app manifest that Slack acts on."""

    name: str
    scopes: frozenset[str]
    events: frozenset[str]
    commands: tuple[str, ...]
    #: command -> usage hint
    hints: dict[str, str]
    shortcuts: tuple[dict[str, Any], ...]
    home_tab: bool
    messages_tab: bool
    should_escape: frozenset[str] = frozenset()

    def subscribed(self, event: str) -> bool:
        """Whether this event type ("message.channels", "app_mention") is delivered."""
        return event in self.events


#: used where no manifest is given: everything that a chat-ops bot may ask for
EVERYTHING = Manifest(
    name="Relaunch",
    scopes=frozenset(
        {
            *("app_mentions:read", "chat:write", "commands", "users:read", "usergroups:read", "team:read"),
            *("channels:read", "channels:history", "groups:read", "groups:history"),
            *("im:read", "im:write", "im:history", "reactions:read", "reactions:write", "files:read", "files:write"),
        }
    ),
    events=frozenset(
        ["app_mention", "message.channels", "message.groups", "message.im", "app_home_opened", "member_joined_channel"]
    ),
    commands=("/relaunch",),
    hints={"/relaunch": "status"},
    shortcuts=(),
    home_tab=True,
    messages_tab=True,
)


def read_manifest(path: Path) -> Manifest:
    """Read manifest.yaml (or JSON, which is YAML too)."""
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    features = content.get("features", {})
    home = features.get("app_home", {})
    commands = features.get("slash_commands", [])
    return Manifest(
        name=features.get("bot_user", {}).get("display_name") or content["display_information"]["name"],
        scopes=frozenset(content.get("oauth_config", {}).get("scopes", {}).get("bot", [])),
        events=frozenset(content.get("settings", {}).get("event_subscriptions", {}).get("bot_events", [])),
        commands=tuple(c["command"] for c in commands),
        hints={c["command"]: c.get("usage_hint", "") for c in commands},
        shortcuts=tuple(features.get("shortcuts", [])),
        home_tab=bool(home.get("home_tab_enabled")),
        messages_tab=bool(home.get("messages_tab_enabled")) and not home.get("messages_tab_read_only_enabled", False),
        should_escape=frozenset(c["command"] for c in commands if c.get("should_escape")),
    )
