"""Who may do what."""

import pytest

from bot.core.access import AccessPolicy, Grant, permission
from bot.core.domain.operation import Actor, Permission

READ, OPERATE, APPROVE, ADMINISTER = Permission.READ, Permission.OPERATE, Permission.APPROVE, Permission.ADMINISTER
NOTHING = Permission.NOTHING
POLICY = AccessPolicy(
    grants=(
        Grant(permission=ADMINISTER, users=frozenset(("U0ROOT",))),
        Grant(permission=OPERATE, groups=frozenset(("S0OPS",))),
        Grant(permission=APPROVE, users=frozenset(("U0LEAD",)), channels=frozenset(("C0OPS",))),
        Grant(permission=OPERATE, users=frozenset(("U0LAB",)), hosts=frozenset(("lab7",))),
        Grant(permission=OPERATE, everyone=True, hosts=frozenset(("playground",))),
    ),
    default=NOTHING,
    host_defaults={"lab9": READ},
)


@pytest.mark.parametrize(
    ("actor", "channel", "host", "expected"),
    [
        ("U0ROOT", "C0ANY", "lab7", ADMINISTER),
        ("U0LEAD", "C0OPS", "lab7", APPROVE),
        ("U0LEAD", "C0OTHER", "lab7", NOTHING),
        ("U0LEAD", None, None, READ),
        ("U0LAB", "C0OPS", "lab7", OPERATE),
        ("U0LAB", "C0OPS", "lab8", NOTHING),
        ("U0LAB", "C0OPS", None, READ),
        ("U0ANY", "C0OPS", "playground", OPERATE),
        ("U0ANY", "C0OPS", "lab9", READ),
        ("U0ANY", "C0OPS", "lab8", NOTHING),
        ("cli:ana", None, "lab8", ADMINISTER),
        ("", None, "lab8", NOTHING),
    ],
)
def test_grants_add_up_by_person_channel_and_host(actor, channel, host, expected):
    assert permission(Actor(id=actor), POLICY, channel, host) is expected


def test_a_user_group_gives_what_it_was_granted():
    assert permission(Actor(id="U0MEM", groups=("S0OPS",)), POLICY, None, "lab7") is OPERATE
    assert permission(Actor(id="U0MEM", groups=("S0OTHER",)), POLICY, None, "lab7") is NOTHING
    assert POLICY.groups == {"S0OPS"}


def test_outsiders_may_do_nothing_whatever_was_granted():
    actor = Actor(id="U0ROOT", outsider=True, groups=("S0OPS",))
    assert permission(actor, POLICY, "C0OPS", "playground") is NOTHING
