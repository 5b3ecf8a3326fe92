"""Start the practice: workspace, page and hosts. `relaunch practice` adds the real bot; nothing outside is reached."""

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

import bot
from bot.practice.fleet import Fleet, start_fleet
from bot.practice.hosts import keeper
from bot.practice.workspace import PracticeWorkspace
from bot.practice.workspace.roster import ANA, BOB, EXTERNAL, GUEST, ONCALL, OPS, SERVING
from bot.practice.workspace.state import TEAM_ID


@dataclass(frozen=True, kw_only=True)
class Practice:
    """A running practice, and what the bot needs to know of it."""

    workspace: PracticeWorkspace
    fleet: Fleet
    data_dir: Path
    #: address of the page
    url: str
    slack_api_url: str
    bot_token: str
    app_token: str
    team_id: str
    #: the catalog file to import (hosts and configs, as `relaunch catalog import` reads it)
    catalog_file: Path
    #: pinned host keys, in the form of known_hosts
    known_hosts_file: Path
    #: the key that all practice hosts accept
    identity_file: Path
    #: an ssh_config that names the identity for 127.0.0.1
    ssh_config_file: Path
    admin_user: str = BOB
    approver_group: str = ONCALL
    operators: tuple[str, ...] = (ANA,)
    people: dict[str, str] = field(
        default_factory=lambda: {"requester": ANA, "approver": BOB, "guest": GUEST, "external": EXTERNAL}
    )
    channels: dict[str, str] = field(default_factory=lambda: {"serving": SERVING, "ops": OPS})

    def access(self) -> dict[str, Any]:
        """The `access` settings of the practice: Ana starts, Bob approves and administers."""
        return {
            "administrators": [self.admin_user],
            "approvers": [self.approver_group],
            "operators": list(self.operators),
            "readers": ["*"],
        }


@contextlib.contextmanager
def run(
    port: int = 0,
    data_dir: Path | None = None,
    *,
    manifest: Path | None = None,
    rate_limits: bool = True,
    start_s: float = 10.0,
    speed: float = 1.0,
    hosts: list[str] | None = None,
) -> Iterator[Practice]:
    """Start workspace and hosts; on leaving, everything that was started is ended.

    `port`: of the page, 0 picks one. `data_dir`: state of the practice (None: a temporary folder, removed at the end).
    `manifest`: scopes and events of the app (None: the project's own manifest).
    `start_s`: seconds from a server's start to ready; `speed`: factor on all speeds; `hosts`: only these of the fleet.
    """
    with contextlib.ExitStack() as stack:
        if data_dir is None:
            folder = tempfile.TemporaryDirectory(prefix="relaunch-", ignore_cleanup_errors=True)
            data_dir = Path(stack.enter_context(folder))
        data = data_dir.resolve()
        data.mkdir(parents=True, exist_ok=True)
        settings = {"PRACTICE_START_S": str(start_s), "PRACTICE_SPEED": str(speed)}
        fleet = start_fleet(data / "hosts", data / "keys" / "id_practice", settings, only=hosts)
        stack.callback(fleet.stop)
        stack.enter_context(_kept(fleet))
        workspace = PracticeWorkspace(
            manifest or _own_manifest(), rate_limits=rate_limits, suggestions=fleet.suggestions, notes=_notes(fleet)
        )
        workspace.start(port)
        stack.callback(workspace.stop)
        yield _practice(data, fleet, workspace)


@contextlib.contextmanager
def _kept(fleet: Fleet) -> Iterator[None]:
    """A keeper beside the hosts: what runs on them ends even if this process is killed."""
    process = keeper.watch(host.shell.mark for host in fleet.hosts.values())
    try:
        yield
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait()


def _practice(data: Path, fleet: Fleet, workspace: PracticeWorkspace) -> Practice:
    """Write the files that the bot reads."""
    identity = data / "keys" / "id_practice"
    catalog, known_hosts, ssh_config = data / "catalog.yaml", data / "known_hosts", data / "ssh_config"
    catalog.write_text(yaml.safe_dump(fleet.catalog, sort_keys=False, width=10_000), encoding="utf-8")
    lines = [host.known_hosts_line for host in fleet.hosts.values()]
    known_hosts.write_text("\n".join(lines) + "\n", encoding="utf-8")
    ssh_config.write_text(
        f"Host 127.0.0.1\n  IdentityFile {identity}\n  IdentitiesOnly yes\n  UserKnownHostsFile {known_hosts}\n",
        encoding="utf-8",
    )
    return Practice(
        workspace=workspace,
        fleet=fleet,
        data_dir=data,
        url=workspace.url,
        slack_api_url=workspace.api_url,
        bot_token=workspace.bot_token,
        app_token=workspace.app_token,
        team_id=TEAM_ID,
        catalog_file=catalog,
        known_hosts_file=known_hosts,
        identity_file=identity,
        ssh_config_file=ssh_config,
    )


def _own_manifest() -> Path | None:
    """The project's manifest.yaml: beside the package in a checkout, within it when installed."""
    package = Path(bot.__file__).parent
    places = (package / "_data" / "manifest.yaml", package.parent / "manifest.yaml")
    return next((p for p in places if p.is_file()), None)


def _notes(fleet: Fleet) -> dict[str, Any]:
    """What the page tells of the hosts."""
    hint = "Ana asks, Bob approves: choose who you are at the top right."
    return {"hint": hint, "hosts": [{"name": n, "gpus": fleet.catalog["hosts"][n]["gpus"]} for n in fleet.hosts]}
