"""`relaunch history` on a database of its own."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bot.adapters.store.database import Database
from bot.adapters.store.hosts import SqlHosts
from bot.adapters.store.operations import SqlAudit
from bot.cli.main import app
from bot.core.domain.host import Host
from bot.core.domain.operation import AuditEvent


def relaunch(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["history", *arguments])


@pytest.fixture(autouse=True)
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two stops on two hosts, three days ago and an hour ago."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "relaunch-data").mkdir()
    database = Database(f"sqlite:///{tmp_path}/relaunch-data/relaunch.db")
    database.migrate()
    audit, now = SqlAudit(database), datetime.now(UTC)
    for host, hours in (("lab1", 72), ("lab2", 1)):
        SqlHosts(database).save(Host(name=host, address=f"{host}.invalid"))
        audit.add(
            AuditEvent(
                at=now - timedelta(hours=hours), actor="U0ANA", action="stop", host=host, config="small",
                operation=f"op{hours}", outcome="succeeded",
            )
        )  # fmt: skip
    database.close()


@pytest.mark.parametrize(
    ("arguments", "hosts"),
    [
        ([], ["lab2", "lab1"]),
        (["--host", "lab1"], ["lab1"]),
        (["--since", "last 2 days"], ["lab2"]),
        (["--until", "2 days ago"], ["lab1"]),
        (["--since", "4 days ago", "--until", "2 days ago"], ["lab1"]),
        (["--action", "start"], []),
        (["--limit", "1"], ["lab2"]),
    ],
)
def test_history_is_narrowed(arguments: list[str], hosts: list[str]) -> None:
    said = relaunch(*arguments, "--json")
    assert [row["host"] for row in json.loads(said.stdout)["rows"]] == hosts


def test_the_first_line_is_the_answer() -> None:
    assert relaunch("--host", "lab1", "--action", "stop").stdout.startswith("@U0ANA stopped small on lab1")
    assert relaunch("--action", "fail").stdout.startswith("Nothing failed.")


@pytest.mark.parametrize("arguments", [["--since", "whenever"], ["--action", "dance"]])
def test_words_that_mean_nothing_are_refused(arguments: list[str]) -> None:
    said = relaunch(*arguments)
    assert said.exit_code == 2
    # a terminal of a CI is in colours, letter by letter
    assert arguments[0] in re.sub(r"\x1b\[[0-9;]*m", "", said.output)
