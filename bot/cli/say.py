"""`relaunch say`: the same sentence through the same workflows, reported in the terminal."""

import hashlib
import secrets
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from bot.cli.wiring import me, opened, print_json
from bot.core.domain.button import ButtonValue, ButtonValueError
from bot.core.domain.message import Conversation, Payload, Posted
from bot.core.domain.operation import OperationState
from bot.core.rendering.terminal import render_terminal
from bot.errors import RefusedError
from bot.workflows.propose import run_of

if TYPE_CHECKING:
    from bot.app import App

_ENDED = ("success", "error", "cancelled", "max_recovery_attempts_exceeded")
_OPEN = (OperationState.PROPOSED, OperationState.RUNNING)
#: messages that say that what was asked for was not done
_NOT_DONE = frozenset(
    ("error", "failed", "host_key", "not_acted", "not_permitted", "not_understood", "problem", "question",
     "refusal")
)  # fmt: skip


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(say)


def say(
    text: Annotated[str, typer.Argument(help="What you would type in Slack.")],
    yes: Annotated[bool, typer.Option("--yes", help="Approve what asks for an approval.")] = False,
    thread: Annotated[str, typer.Option(help="Name of the terminal thread, for follow-ups.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the messages as JSON.")] = False,
) -> None:
    """Say it to the bot, and follow what it does. Exit code 1 when it was refused or failed."""
    with opened() as app:
        talk = Talk(app, thread or secrets.token_hex(4), as_json=as_json)
        ok = talk.say(text, approve=yes)
    if not ok:
        raise typer.Exit(1)


class Talk:
    """One terminal conversation."""

    def __init__(self, app: "App", thread: str, *, as_json: bool = False) -> None:
        self.app = app
        self.actor = me(app.settings)
        self.conversation = Conversation(channel=self.actor.id, thread_ts=thread)
        self.as_json = as_json
        self.shown: list[dict[str, Any]] = []
        self._last = app.terminal.begin(self.actor.id)
        self._out = Console(stderr=as_json, soft_wrap=True, highlight=False)
        self._failed = False

    def say(self, text: str, *, approve: bool) -> bool:
        """Say one sentence and follow it to its end."""
        request_id = f"{self.conversation.thread_ts}:{secrets.token_hex(4)}"
        self.app.inbox().message(request_id, self.actor, self.conversation, text)
        self._follow(f"say:{request_id}")
        while operation := self._open_operation():
            services = self.app.ready
            if services.operations.state(operation) is OperationState.PROPOSED:
                if not self._approve(operation, approve):
                    break
            else:
                self._follow(f"bench:{operation}" if operation.startswith("m") else run_of(operation))
        if self.as_json:
            print_json(self.shown)
        return not self._failed

    def _open_operation(self) -> str | None:
        operations = self.app.ready.operations
        found = [one for one in operations.in_thread(self.conversation) if operations.state(one) in _OPEN]
        return found[0] if found else None

    def _follow(self, run_id: str) -> None:
        """Print what is said until the run has ended."""
        runs = self.app.ready.runs
        while True:
            state = runs.state(run_id)
            self._print_new()
            if state in _ENDED:
                break
            self.app.clock.sleep(0.2)
        self._print_new()
        self._failed = self._failed or state != "success"

    def _print_new(self) -> None:
        for number, kind, ts, payload in self.app.terminal.after(self.conversation.channel, self._last):
            self._last = number
            if kind == "update":
                continue
            self.shown.append({"kind": kind, "ts": ts, **payload})
            shown = Payload(text=str(payload["text"]), blocks=list(payload["blocks"]))
            self._out.print(render_terminal(shown), markup=False)
            self._out.print()
            self._failed = self._failed or payload.get("template") in _NOT_DONE

    def _approve(self, operation: str, approve: bool) -> bool:
        """Ask the person at the terminal; without one, leave it open."""
        services = self.app.ready
        approval = services.operations.approval(operation)
        if approval is None or approval.decided_at is not None:
            return False
        if not approve:
            if not sys.stdin.isatty():
                self._out.print("Waits for an approval: say it with --yes, or approve it in Slack.", markup=False)
                self._failed = True
                return False
            approve = typer.confirm("Approve?", default=False)
        action = "approve" if approve else "reject"
        value = ButtonValue(action=action, operation=operation, fingerprint=approval.fingerprint)
        press = hashlib.sha256(f"{operation}{action}{secrets.token_hex(4)}".encode()).hexdigest()[:12]
        card = Posted(
            channel=self.conversation.channel, ts=f"{operation}:approval", thread_ts=self.conversation.thread_ts
        )
        try:
            self.app.inbox().action(press, self.actor, self.conversation, card, value)
        except ButtonValueError as error:
            raise RefusedError(str(error)) from error
        self._follow(f"act:{press}")
        return approve
