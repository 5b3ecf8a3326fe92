"""Practice hosts and workspace in the test's process, bots in others; and what can be seen of it all from outside."""

import base64
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from bot.practice.hosts.shell import processes
from bot.practice.run import Practice
from tests.acceptance.bot_process import Point, Process
from tests.acceptance.thread import Talk

#: the first line of a practice SGLang; one for each time that its program was executed
_EXECUTED = "server_args=ServerArgs("


class Stage:
    """One practice and the bots that were started on it. `folder`: a folder for the bots' data and output;
    `database_url`: PostgreSQL; None: SQLite files in that folder."""

    def __init__(self, practice: Practice, folder: Path, *, database_url: str | None = None) -> None:
        self.practice = practice
        self.talk = Talk(practice)
        self.folder = folder
        self.bots: list[Process] = []
        self._environment = _environment(practice, folder / "data")
        if database_url is not None:
            self._environment["RELAUNCH_DATABASE_URL"] = database_url
        only_reads = f"sqlite:///file:{folder}/data/relaunch.db?mode=ro&uri=true"
        self._database = create_engine(database_url or only_reads, poolclass=NullPool)

    # --- the bot

    def set_up(self) -> None:
        """Migrate and import the practice's catalog."""
        self.relaunch("catalog", "import", str(self.practice.catalog_file), "--yes")

    def bot(self, dies_at: Point | None = None) -> Process:
        """Start `relaunch run`."""
        output = self.folder / f"bot{len(self.bots)}.log"
        self.bots.append(Process(["run"], self._environment, output, dies_at=dies_at))
        return self.bots[-1]

    def relaunch(self, *arguments: str, status: int = 0) -> str:
        """Run another `relaunch` command to its end; gives its output."""
        output = self.folder / "command.log"
        output.unlink(missing_ok=True)
        process = Process(arguments, self._environment, output)
        assert process.end() == status, process.text()
        return process.text()

    def close(self) -> None:
        """End all bots."""
        for bot in self.bots:
            if bot.running:
                bot.kill()

    # --- what can be seen

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Rows of the bot's database."""
        with self._database.connect() as connection:
            return [tuple(row) for row in connection.execute(text(query))]

    def launches(self) -> list[tuple[Any, ...]]:
        """(number, config, state) of the history, oldest first."""
        return self.rows("SELECT number, config, state FROM launches ORDER BY number")

    def connected(self) -> None:
        """Wait until a bot listens."""
        self.talk.workspace.wait_for(lambda: self.talk.workspace.connections, 30)

    def ended(self) -> bool:
        """Whether nothing is proposed or running."""
        return not self.rows("SELECT id FROM operations WHERE state IN ('running', 'proposed')")

    def executed(self, host: str = "ct129") -> list[int]:
        """For each unit on the host, how often its program was executed."""
        logs = sorted(self.practice.fleet.hosts[host].home.glob(".local/state/relaunch/*/log"))
        return [log.read_text("utf-8", "replace").count(_EXECUTED) for log in logs]

    def journal(self, host: str = "ct129") -> list[str]:
        """What the host's user manager and its units said."""
        file = self.practice.fleet.hosts[host].shell.state / "journal" / "user.jsonl"
        lines = file.read_bytes().splitlines() if file.exists() else []
        return [base64.b64decode(json.loads(line)["m"]).decode("utf-8", "replace") for line in lines]

    def runs_on_host(self, words: str, host: str = "ct129") -> list[int]:
        """Processes of the host with `words` in their command line."""
        found = []
        for pid in processes(self.practice.fleet.hosts[host].shell.mark):
            try:
                line = Path(f"/proc/{pid}/cmdline").read_bytes()
            except OSError:
                continue
            if words.encode() in line:
                found.append(pid)
        return found

    def posted(self, ts: str) -> Counter[str]:
        """How often each message of a thread was posted, by the last part of its key ("ready", "progress" …)."""
        keys: list[str] = []
        for message in self.talk.replies(ts):
            if message.get("files"):
                keys.append("picture")
                continue
            payload: Mapping[str, Any] = (message.get("metadata") or {}).get("event_payload") or {}
            keys.append(str(payload.get("key", "no key")).rpartition(":")[2])
        return Counter(keys)

    def complaints(self) -> list[str]:
        """What Slack would have refused, but for what a killed bot left unacknowledged; and tracebacks of bots."""
        unheard = ("no ack: ", "ack: ")
        refused = [one for one in self.talk.workspace.refusals() if not one.startswith(unheard)]
        return refused + [bot.text() for bot in self.bots if "Traceback" in bot.text()]

    def private(self) -> list[str]:
        """Everything that was shown to one person only."""
        return [str(m["text"]) for user in ("U0ANA", "U0BOB") for m in self.talk.workspace.ephemerals(user)]


def _environment(practice: Practice, data: Path) -> dict[str, str]:
    access = {f"RELAUNCH_ACCESS__{name.upper()}": json.dumps(value) for name, value in practice.access().items()}
    return access | {
        "RELAUNCH_SLACK_BOT_TOKEN": practice.bot_token,
        "RELAUNCH_SLACK_APP_TOKEN": practice.app_token,
        "RELAUNCH_SLACK_TEAM_ID": practice.team_id,
        "RELAUNCH_SLACK_API_URL": practice.slack_api_url,
        "RELAUNCH_DATA_DIR": str(data),
        "RELAUNCH_SSH_CONFIG": str(practice.ssh_config_file),
        "RELAUNCH_SSH_KNOWN_HOSTS": str(practice.known_hosts_file),
        "RELAUNCH_MEASURE_CONCURRENCY": "[1]",
        "RELAUNCH_MEASURE_OUTPUT_TOKENS": "32",
        "RELAUNCH_MEASURE_LEVEL_S": "1",
        "RELAUNCH_LOG_LEVEL": "INFO",
    }
