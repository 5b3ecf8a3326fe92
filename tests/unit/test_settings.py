"""Settings: every fault at once, and who may do what by them."""

import os
from pathlib import Path

import pytest

from bot.app import policy_of
from bot.core.access import permission
from bot.core.domain.operation import Actor, Permission
from bot.errors import SettingsError
from bot.settings import Access, Settings, load, unknown_variables

READ, OPERATE, APPROVE, ADMINISTER = Permission.READ, Permission.OPERATE, Permission.APPROVE, Permission.ADMINISTER
NOTHING = Permission.NOTHING
ACCESS = {
    "administrators": ["U0ROOT"],
    "approvers": ["S0LEADS"],
    "operators": ["*"],
    "hosts": {"payroll": {"operators": ["U0PAY"], "readers": ["U0PAY", "U0AUDIT"]}, "lab": {"approvers": ["U0LAB"]}},
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [one for one in os.environ if one.startswith("RELAUNCH_")]:
        monkeypatch.delenv(name)


@pytest.mark.parametrize(
    ("person", "host", "expected"),
    [
        ("U0ROOT", "payroll", ADMINISTER),
        ("U0ANY", "elsewhere", OPERATE),
        ("U0ANY", "lab", OPERATE),
        ("U0LAB", "lab", APPROVE),
        # the host's own lists take the place of the general ones
        ("U0ANY", "payroll", NOTHING),
        ("U0PAY", "payroll", OPERATE),
        ("U0AUDIT", "payroll", READ),
        ("S0LEADS", "elsewhere", APPROVE),
        ("S0LEADS", "lab", OPERATE),
        # a level that the host does not speak of stays
        ("S0LEADS", "payroll", APPROVE),
        ("U0ANY", None, OPERATE),
    ],
)
def test_a_hosts_own_list_takes_the_place_of_the_general_one(person: str, host: str | None, expected: Permission):
    actor = Actor(id="U0MEMBER", groups=(person,)) if person.startswith("S") else Actor(id=person)
    assert permission(actor, policy_of(Access.model_validate(ACCESS)), "C0OPS", host) is expected


def test_with_an_administrator_alone_everyone_else_reads():
    policy = policy_of(Access(administrators=["U0ROOT"]))
    assert permission(Actor(id="U0ROOT"), policy, "C1", "lab") is ADMINISTER
    assert permission(Actor(id="U0ANA"), policy, "C1", "lab") is READ


def test_channels_bind_operators_but_not_administrators():
    policy = policy_of(Access(administrators=["U0ROOT"], operators=["U0ANA"], channels=["C0OPS"]))
    assert permission(Actor(id="U0ANA"), policy, "C0OPS", "lab") is OPERATE
    assert permission(Actor(id="U0ANA"), policy, "C0ELSE", "lab") is READ
    assert permission(Actor(id="U0ROOT"), policy, "C0ELSE", "lab") is ADMINISTER


def test_every_fault_is_told_at_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RELAUNCH_SLACK_BOT_TOKEN", "xapp-1-secret")
    monkeypatch.setenv("RELAUNCH_TIME_ZONE", "Mars/Olympus")
    monkeypatch.setenv("RELAUNCH_ACCESS", '{"operators": ["ana"], "chiefs": []}')
    with pytest.raises(SettingsError) as caught:
        load()
    said = str(caught.value) + " ".join(caught.value.faults)
    for part in (
        "slack_bot_token",
        "xoxb-",
        "time_zone",
        "Europe/Berlin",
        "access.operators",
        "'ana'",
        "access.chiefs",
    ):
        assert part in said
    assert "secret" not in said


def test_the_file_is_read_and_the_environment_wins(monkeypatch: pytest.MonkeyPatch):
    Path("relaunch.toml").write_text('time_zone = "Europe/Berlin"\napproval_minutes = 5\n')
    monkeypatch.setenv("RELAUNCH_APPROVAL_MINUTES", "7")
    settings = load()
    assert (settings.time_zone, settings.approval_minutes) == ("Europe/Berlin", 7)


def test_a_folder_in_place_of_the_file_is_no_silent_default():
    Path("relaunch.toml").mkdir()
    with pytest.raises(SettingsError, match="is no file"):
        load()


@pytest.mark.parametrize("levels", ["[]", "[0]", "[-1]", "[1, 100000000]", '["a"]'])
def test_a_concurrency_that_cannot_be_measured_is_a_fault(levels: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RELAUNCH_MEASURE_CONCURRENCY", levels)
    with pytest.raises(SettingsError, match="measure_concurrency"):
        load()


def test_a_table_that_is_no_json_and_a_variable_that_is_no_setting_are_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RELAUNCH_SLACK_BOTTOKEN", "xoxb-1")
    monkeypatch.setenv("RELAUNCH_ACCESS__OPERATORS", '["*"]')
    assert unknown_variables() == ("RELAUNCH_SLACK_BOTTOKEN",)
    monkeypatch.setenv("RELAUNCH_ACCESS", "{operators: all}")
    with pytest.raises(SettingsError, match="RELAUNCH_ACCESS: lists and tables are written as JSON"):
        load()


def test_every_setting_is_described():
    described = (Path(__file__).parents[2] / "docs" / "settings.md").read_text()
    for name in (*Settings.model_fields, *Access.model_fields):
        assert f"`{name}`" in described or f"{name} = " in described or f"[access.{name}." in described, name
