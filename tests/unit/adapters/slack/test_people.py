"""Who counts as one of us."""

from typing import Any

import pytest

from bot.adapters.slack.people import to_actor

ANA: dict[str, Any] = {
    "id": "U0ANA",
    "team_id": "T0",
    "name": "ana",
    "tz": "Europe/Berlin",
    "profile": {"display_name": "Ana \u202eR", "real_name": "Ana Ruiz"},
}


def test_a_full_member():
    actor = to_actor(ANA, "U0ANA", "T0")
    assert (actor.id, actor.name, actor.team, actor.outsider, actor.time_zone) == (
        "U0ANA",
        "Ana R",
        "T0",
        False,
        "Europe/Berlin",
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"deleted": True},
        {"is_bot": True},
        {"is_restricted": True},
        {"is_ultra_restricted": True},
        {"is_stranger": True},
        {"team_id": "T1"},
        {"team_id": None},
        {"id": "U0OTHER"},
    ],
)
def test_everyone_else_is_an_outsider(fields: dict[str, Any]):
    assert to_actor(ANA | fields, "U0ANA", "T0").outsider


def test_a_member_through_the_enterprise_is_one_of_us():
    user = ANA | {"team_id": "E0", "enterprise_user": {"teams": ["T0", "T1"]}}
    assert not to_actor(user, "U0ANA", "T0").outsider


def test_an_empty_answer_is_an_outsider():
    assert to_actor({}, "U0ANA", "T0").outsider


@pytest.mark.parametrize(
    ("said", "zone"), [("Asia/Tokyo", "Asia/Tokyo"), (None, "Europe/Rome"), ("Nowhere/Town", "Europe/Rome")]
)
def test_who_has_no_zone_has_the_one_of_the_settings(said: str | None, zone: str) -> None:
    assert to_actor(ANA | {"tz": said}, "U0ANA", "T0", "Europe/Rome").time_zone == zone
