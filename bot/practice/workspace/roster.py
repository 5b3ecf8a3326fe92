"""The people and channels of a fresh practice workspace."""

from bot.practice.workspace.state import OTHER_TEAM_ID, Channel, State, User, UserGroup

BOT_USER = "U0RELBOT"
BOT_ID = "B0RELBOT"
ANA = "U0ANA"
BOB = "U0BOB"
GUEST = "U0GIL"
EXTERNAL = "U0EVE"
OTHER_BOT = "U0CIBOT"
SLACKBOT = "USLACKBOT"

SERVING = "C0SERVING"
OPS = "C0OPS"
RANDOM = "C0RANDOM"
VENDOR = "C0VENDOR"
PRIVATE = "C0PRIVATE"
ONCALL = "S0ONCALL"


def _people(bot_name: str) -> list[User]:
    return [
        User(
            id=BOT_USER,
            name=bot_name.lower(),
            real_name=bot_name,
            role="the bot under test",
            is_bot=True,
            bot_id=BOT_ID,
        ),
        User(id=ANA, name="ana", real_name="Ana Ruiz", tz="Europe/Berlin", tz_offset=3600, role="requester"),
        User(
            id=BOB,
            name="bob",
            real_name="Bob Tran",
            tz="America/New_York",
            tz_offset=-18000,
            role="approver, admin",
            is_admin=True,
        ),
        User(
            id=GUEST,
            name="gil",
            real_name="Gil Sato",
            tz="Asia/Tokyo",
            tz_offset=32400,
            role="guest",
            is_restricted=True,
        ),
        User(
            id=EXTERNAL,
            name="eve",
            real_name="Eve Novak",
            tz="Europe/Prague",
            tz_offset=3600,
            role="other company (Slack Connect)",
            team_id=OTHER_TEAM_ID,
            is_stranger=True,
        ),
        User(id=OTHER_BOT, name="ci-bot", real_name="CI", role="another bot", is_bot=True, bot_id="B0CIBOT"),
        User(id=SLACKBOT, name="slackbot", real_name="Slackbot", role="Slack itself", is_bot=True),
    ]


def _channels() -> list[Channel]:
    team = {ANA, BOB, GUEST, BOT_USER}
    channels = [
        Channel(
            id=SERVING,
            name="ml-serving",
            kind="channel",
            members=team | {OTHER_BOT},
            topic="Start, stop and measure model servers",
        ),
        Channel(id=OPS, name="ops", kind="channel", members={ANA, BOB, BOT_USER}, topic="Health reports and on-call"),
        Channel(id=PRIVATE, name="ml-leads", kind="group", members={ANA, BOB, BOT_USER}, topic="Private channel"),
        Channel(
            id=VENDOR,
            name="shared-acme",
            kind="channel",
            members={ANA, BOB, EXTERNAL, BOT_USER},
            ext_shared=True,
            topic="Shared with another company",
        ),
        Channel(id=RANDOM, name="random", kind="channel", members={ANA, BOB, GUEST}, topic="The bot is not in here"),
    ]
    for person in (ANA, BOB, GUEST):
        direct = "D0" + person.removeprefix("U0")
        channels.append(Channel(id=direct, name=person, kind="im", members={person, BOT_USER}, user=person))
    return channels


def fresh_state(bot_name: str = "relaunch") -> State:
    """A workspace with a requester, an approver, a guest and someone from outside, as a small team has them."""
    groups = [UserGroup(id=ONCALL, handle="oncall", name="On call", users=[BOB])]
    return State(
        users={u.id: u for u in _people(bot_name)},
        channels={c.id: c for c in _channels()},
        groups={g.id: g for g in groups},
        bot_user=BOT_USER,
    )
