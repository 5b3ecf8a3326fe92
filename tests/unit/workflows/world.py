"""Services over a real database and fakes of the other ports: one host whose facts are texts."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import bot.commands
import bot.core.facts
import bot.core.health
import bot.core.planning.checks
import bot.core.runners
from bot import plugins
from bot.adapters.store.catalogs import SqlCatalog
from bot.adapters.store.database import Database
from bot.adapters.store.helps import SqlHelps
from bot.adapters.store.hosts import SqlHosts
from bot.adapters.store.launches import SqlLaunches
from bot.adapters.store.operations import SqlAudit, SqlOperations
from bot.adapters.store.schedules import SqlHealthSamples, SqlSchedules
from bot.adapters.store.waits import SqlWaits
from bot.app import script_renderer
from bot.commands._spec import CommandSpec
from bot.core.access import AccessPolicy, Grant
from bot.core.domain.button import ButtonValue
from bot.core.domain.catalog import LaunchConfig, Revision
from bot.core.domain.host import Host
from bot.core.domain.measurement import Workload
from bot.core.domain.message import Conversation, Message, Posted
from bot.core.domain.operation import Actor, OperationState, Permission
from bot.core.domain.records import to_json
from bot.core.domain.runner import Runner
from bot.core.engines import engines_by_name
from bot.core.facts import Fact
from bot.core.health import Probe
from bot.core.language.vocabulary import Vocabulary
from bot.core.planning import Check
from bot.workflows import actions, conversation, sweep, wait_look
from bot.workflows.services import Services
from tests.fakes.conversation import FakeClock, FakeMessenger, FakeRuns
from tests.fakes.host import FactHost
from tests.fakes.model_server import FakeModelServer
from tests.unit.core.planning.launches import CASES

ANA = Actor(id="U0ANA", name="ana", team="T1")
BOB = Actor(id="U0BOB", name="bob", team="T1")
THREAD = Conversation(channel="C0OPS", thread_ts="1796000000.000100")
HOST = "gpu1"
CONFIG = "small"
COMMAND = "/opt/env/bin/python3 -m sglang.launch_server --model-path /models/a --tp 1 --port 30000"
GOOD: dict[str, str] = json.loads((CASES / "host.json").read_text())["facts"]
_CARD = "{0}, GPU-{0}, 49140, {1}, {2}, 0, 40, 20, 300, 210, 2100, P8, 580.1, NVIDIA RTX A6000"


def cards(*used_mib: int) -> str:
    """The fact "gpus" for cards with so much memory used."""
    rows = "\n".join(_CARD.format(at, used, 49140 - used) for at, used in enumerate(used_mib))
    capabilities = "\n".join(f"{at}, 8.6" for at in range(len(used_mib)))
    return f"{rows}\n---\n{capabilities}\n---\n"


def training(*on: int, owner: str = "dana") -> dict[str, str]:
    """A training run on these of two cards; nobody where there are none."""
    rows = "".join(f"GPU-{card}, 4711, 40000, python\n" for card in on)
    described = f"pid 4711\nowner {owner}\nage 90000\ncommand python train.py --bs 8\nparent 1 init\n\n" if on else ""
    used = [40400 if card in on else 400 for card in (0, 1)]
    return {"gpus": cards(*used), "gpu_processes": f"{rows}---\n{described}"}


class World:
    """A bot without Slack, SSH and threads; `database`: a migrated one."""

    def __init__(self, database: Path) -> None:
        self.clock = FakeClock()
        self.host = FactHost(facts=dict(GOOD))
        self.messenger = FakeMessenger(self.clock)
        self.runs = FakeRuns()
        self.database = Database(f"sqlite:///{database}")
        self.operators = {ANA.id, BOB.id}
        self.model_server = FakeModelServer()
        found = cast(dict[str, CommandSpec], plugins.load(bot.commands, "COMMAND")).values()
        self.handlers = {spec.intent: (spec.permission, spec.run) for spec in found}
        self.services = self._services()
        self.services.hosts.save(Host(name=HOST, address="gpu1.invalid"))
        revision = Revision(engine="sglang", model="/models/a", argv=tuple(COMMAND.split()))
        self.services.catalog.save(LaunchConfig(name=CONFIG, revisions=(revision,), host=HOST))
        self.revision = revision
        self._clicks = 0
        self.runs.workflows = {
            "converse_v1": lambda run, args: conversation.converse(self.services, self.handlers, run, args),
            "act_v1": lambda run, args: actions.act(self.services, self.handlers, run, args),
            "wait_v1": lambda run, args: wait_look.look_again(self.services, run, args),
        }

    def close(self) -> None:
        """End the database."""
        self.database.close()

    def say(self, text: str, actor: Actor = ANA, *, thread: str | None = None) -> None:
        """A person says something in the thread, or another one, and it is carried out."""
        self._clicks += 1
        arguments = {
            "request_id": f"said{self._clicks}", "actor": to_json(actor), "text": text,
            "conversation": to_json(replace(THREAD, thread_ts=thread or THREAD.thread_ts)),
        }  # fmt: skip
        self.runs.submit("converse_v1", run_id=f"say:{self._clicks}", partition=None, arguments=arguments)
        self.runs.work()

    def click(self, label: str, actor: Actor = ANA, *, work: bool = True) -> None:
        """A person presses the newest button with this label."""
        self._press(*self._button(label), actor)
        if work:
            self.runs.work()

    def press(self, action: str, extra: dict[str, Any], *, template: str, actor: Actor = ANA) -> None:
        """A person presses a button with this value on the newest message of a template."""
        ts = [at for at, message in self.messenger.shown.items() if message.template == template][-1]
        posted = Posted(channel=THREAD.channel, ts=ts, thread_ts=THREAD.thread_ts)
        self._press(posted, ButtonValue(action=action, operation="", extra=extra), actor)
        self.runs.work()

    def _press(self, posted: Posted, value: ButtonValue, actor: Actor) -> None:
        self._clicks += 1
        arguments = {
            "request_id": f"click{self._clicks}", "actor": to_json(actor), "conversation": to_json(THREAD),
            "posted": to_json(posted), "value": value.encode(),
        }  # fmt: skip
        self.runs.submit("act_v1", run_id=f"act:{self._clicks}", partition=None, arguments=arguments)

    def pass_time(self, seconds: float, *, step_s: float = 5.0) -> None:
        """The sweep comes by every few seconds, and what it submits is carried out."""
        until = self.clock.at + timedelta(seconds=seconds)
        while self.clock.at < until:
            self.clock.sleep(step_s)
            sweep.sweep(self.services)
            self.runs.work()

    def carried_out(self) -> list[str]:
        """Operations that were submitted to be carried out."""
        return [str(args["operation"]) for name, args in self.runs.submitted.values() if name == "carry_out_v1"]

    def end(self, operation: str, state: OperationState = OperationState.SUCCEEDED) -> None:
        """What was carried out is over."""
        self.services.operations.set_state(operation, state, at=self.clock.now())

    def permit(self, **levels: Permission) -> None:
        """Who may do what from now on, by user id."""
        grants = tuple(Grant(permission=level, users=frozenset({user})) for user, level in levels.items())
        self.services = replace(self.services, policy=AccessPolicy(grants=grants, default=Permission.READ))

    def _button(self, label: str) -> tuple[Posted, ButtonValue]:
        for ts, message in reversed(self.messenger.shown.items()):
            for one in _buttons(message):
                if one["label"] == label:
                    extra = one.get("extra") or {}
                    value = ButtonValue(action=one["action"], operation=one.get("operation", ""), extra=extra)
                    return Posted(channel=THREAD.channel, ts=ts, thread_ts=THREAD.thread_ts), value
        raise AssertionError(f"no button {label}: {[m.template for m in self.messenger.shown.values()]}")

    def _services(self) -> Services:
        catalog, hosts, engines = SqlCatalog(self.database), SqlHosts(self.database), engines_by_name()
        grants = (Grant(permission=Permission.OPERATE, users=frozenset(self.operators)),)
        return Services(
            clock=self.clock,
            remote=self.host,
            messenger=self.messenger,
            model_server=self.model_server,
            runs=self.runs,
            hosts=hosts,
            catalog=catalog,
            launches=SqlLaunches(self.database),
            operations=SqlOperations(self.database),
            waits=SqlWaits(self.database),
            helps=SqlHelps(self.database),
            audit=SqlAudit(self.database),
            schedules=SqlSchedules(self.database),
            health_samples=SqlHealthSamples(self.database),
            engines=engines,
            facts=cast(dict[str, Fact[Any]], plugins.load(bot.core.facts, "FACT")),
            probes=cast(dict[str, Probe], plugins.load(bot.core.health, "PROBE")),
            runners={r.name: r for r in cast(dict[str, Runner], plugins.load(bot.core.runners, "RUNNER")).values()},
            checks=cast(dict[str, Check], plugins.load(bot.core.planning.checks, "CHECK")),
            vocabulary=lambda: Vocabulary.of(catalog.catalog(), hosts.inventory(), engines),
            script=script_renderer(),
            local_python=cast(Any, None),
            plotter=cast(Any, None),
            policy=AccessPolicy(grants=grants, default=Permission.READ),
            approve_own=False,
            approval_lifetime=timedelta(minutes=15),
            wait_lifetime=timedelta(hours=24),
            person=lambda actor: actor,
            ready_timeout_s=3600.0,
            workload=Workload(),
        )


def _buttons(message: Message) -> list[dict[str, Any]]:
    """Buttons that a context names, and those of templates that have their own."""
    context = message.context
    offers = list(context.get("offers") or ())
    if isinstance(context.get("offer"), dict):
        offers.append(context["offer"])
    if message.template == "waiting_free" and context["state"] == "waiting":
        offers.append({"label": "Cancel", "action": "cancel_wait", "extra": {"wait": context["wait"]}})
    return offers
