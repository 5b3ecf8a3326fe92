"""auth.*, users.*, usergroups.*, bots.*, team.*, apps.connections.open."""

from bot.practice.workspace.calls import Call, Methods, SlackError
from bot.practice.workspace.state import APP_ID, TEAM_DOMAIN, TEAM_ID, JsonObject

METHODS = Methods()


@METHODS.add("api.test", token="none")
def api_test(call: Call) -> JsonObject:
    """Say the arguments back."""
    if call.text("error"):
        raise SlackError(call.text("error"))
    return {"args": call.arguments}


@METHODS.add("auth.test")
def auth_test(call: Call) -> JsonObject:
    """Who the token belongs to."""
    bot = call.office.state.bot
    return {
        "url": f"{call.office.base_url}/",
        "team": "Practice",
        "user": bot.name,
        "team_id": TEAM_ID,
        "user_id": bot.id,
        "bot_id": bot.bot_id,
        "is_enterprise_install": False,
    }


@METHODS.add("apps.connections.open", token="app")
def open_connection(call: Call) -> JsonObject:
    """A WebSocket address for one connection."""
    address = call.office.base_url.replace("http", "ws", 1)
    return {"url": f"{address}/link/?ticket={call.office.socket.ticket()}&app_id={APP_ID}"}


@METHODS.add("users.info", "users:read")
def user_info(call: Call) -> JsonObject:
    """One person."""
    user = call.office.state.users.get(call.need("user"))
    if user is None:
        raise SlackError("user_not_found")
    return {"user": user.as_json()}


@METHODS.add("users.list", "users:read")
def user_list(call: Call) -> JsonObject:
    """Everybody."""
    members = [u.as_json() for u in call.office.state.users.values()]
    return {"members": members, "cache_ts": 0, "response_metadata": {"next_cursor": ""}}


@METHODS.add("users.lookupByEmail", "users:read.email")
def by_email(call: Call) -> JsonObject:
    """The person with this address."""
    wanted = call.need("email")
    for user in call.office.state.users.values():
        if user.as_json()["profile"]["email"] == wanted:
            return {"user": user.as_json()}
    raise SlackError("users_not_found")


def _paid(call: Call) -> None:
    if not call.office.switches.user_groups:
        raise SlackError("plan_upgrade_required")


@METHODS.add("usergroups.list", "usergroups:read")
def groups(call: Call) -> JsonObject:
    """User groups."""
    _paid(call)
    shown: list[JsonObject] = []
    for group in call.office.state.groups.values():
        entry: JsonObject = {
            "id": group.id,
            "team_id": TEAM_ID,
            "is_usergroup": True,
            "name": group.name,
            "handle": group.handle,
            "date_delete": 0,
            "user_count": len(group.users),
        }
        if call.flag("include_users"):
            entry["users"] = group.users
        shown.append(entry)
    return {"usergroups": shown}


@METHODS.add("usergroups.users.list", "usergroups:read")
def group_users(call: Call) -> JsonObject:
    """Members of a user group."""
    _paid(call)
    group = call.office.state.groups.get(call.need("usergroup"))
    if group is None:
        raise SlackError("no_such_subteam")
    return {"users": list(group.users)}


@METHODS.add("bots.info", "users:read")
def bot_info(call: Call) -> JsonObject:
    """One bot."""
    user = call.office.state.user_of_bot(call.text("bot"))
    if user is None:
        raise SlackError("bot_not_found")
    return {"bot": {"id": user.bot_id, "deleted": False, "name": user.real_name, "user_id": user.id, "app_id": APP_ID}}


@METHODS.add("team.info", "team:read")
def team_info(call: Call) -> JsonObject:
    """The workspace."""
    return {"team": {"id": TEAM_ID, "name": "Practice", "domain": TEAM_DOMAIN, "email_domain": ""}}
