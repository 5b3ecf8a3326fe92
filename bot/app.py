"""The composition root: the only place that names concrete adapters."""

import logging
import threading
from collections.abc import Callable, Collection
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import structlog
from jinja2 import Environment, FileSystemLoader, StrictUndefined

import bot.commands
import bot.core.facts
import bot.core.health
import bot.core.planning.checks
import bot.core.runners
from bot import plugins
from bot.adapters.clock.scheduler import ReportScheduler
from bot.adapters.clock.system import SystemClock
from bot.adapters.durable.client import ClientOperations
from bot.adapters.durable.operations import DbosOperations
from bot.adapters.local_python import SubprocessPython
from bot.adapters.model_server import HttpModelServer
from bot.adapters.plots.plotter import MatplotlibPlotter
from bot.adapters.slack.app import Slack, SlackSettings
from bot.adapters.ssh.remote import SshRemote
from bot.adapters.store.catalogs import SqlCatalog
from bot.adapters.store.database import Database, make_folder
from bot.adapters.store.helps import SqlHelps
from bot.adapters.store.hosts import SqlHosts
from bot.adapters.store.launches import SqlLaunches
from bot.adapters.store.operations import SqlAudit, SqlOperations
from bot.adapters.store.schedules import SqlHealthSamples, SqlPosts, SqlSchedules
from bot.adapters.store.terminal import SqlTerminal
from bot.adapters.store.waits import SqlWaits
from bot.adapters.terminal.messenger import RoutedMessenger, TerminalMessenger
from bot.commands._spec import CommandSpec
from bot.core.access import TERMINAL, AccessPolicy, Grant
from bot.core.domain.command import Intent
from bot.core.domain.engine import Engine
from bot.core.domain.measurement import Workload
from bot.core.domain.message import Message
from bot.core.domain.operation import Actor, Permission, Schedule
from bot.core.domain.runner import Runner
from bot.core.engines import engines_by_name
from bot.core.facts import Fact
from bot.core.health import Probe
from bot.core.language.vocabulary import Vocabulary
from bot.core.planning import Check
from bot.core.rendering.render import environment, render
from bot.errors import PermanentError, SettingsError
from bot.resources import directory
from bot.settings import Access, Settings
from bot.workflows import actions, bench, carry_out, conversation, home, report, sweep, wait_look
from bot.workflows.inbox_durable import DurableInbox
from bot.workflows.ports import Messenger, Operations
from bot.workflows.services import Services

_log = structlog.get_logger()
#: stored steps of a run that ended; long past any redelivery of the message that began it
_RUNS_KEPT = timedelta(days=30)


class App:
    """Everything wired. `open` it, then work; `close` ends it and leaves running operations to the next process."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        make_folder(settings.data_dir.expanduser())
        self.database = Database(settings.main_database)
        self.posts = SqlPosts(self.database)
        self.terminal = SqlTerminal(self.database)
        self.clock = SystemClock()
        self.templates = environment(FileSystemLoader(directory("templates") / "slack"))
        self._terminal_messenger = TerminalMessenger(self.terminal, self.posts, self.templates)
        self._scheduler: ReportScheduler | None = None
        self._durable: DbosOperations | ClientOperations | None = None
        self._slack: Slack | None = None
        self.services: Services | None = None
        self.remote = SshRemote(
            known_hosts=settings.data_dir.expanduser() / "known_hosts",
            user_config=_path(settings.ssh_config),
            user_known_hosts=_path(settings.ssh_known_hosts),
            connect_timeout_s=settings.ssh_connect_timeout_s,
        )

    @property
    def ready(self) -> Services:
        """The services; the app must be open."""
        if self.services is None:
            raise PermanentError("the app is not open")
        return self.services

    def slack(self) -> Slack:
        """The connection to the workspace. Raises SlackError when the token is not accepted."""
        settings = self.settings
        secret = settings.slack_bot_token
        if secret is None:
            raise SettingsError(["RELAUNCH_SLACK_BOT_TOKEN is not set"])
        self._slack = Slack(
            SlackSettings(
                bot_token=secret.get_secret_value(),
                app_token=settings.slack_app_token.get_secret_value() if settings.slack_app_token else None,
                signing_secret=settings.slack_signing_secret.get_secret_value()
                if settings.slack_signing_secret
                else None,
                api_url=settings.slack_api_url,
                team=settings.slack_team_id,
                groups=policy_of(settings.access).groups,
                time_zone=settings.time_zone,
            ),
            posts=self.posts,
            clock=self.clock,
            render=lambda message: render(message, self.templates),
        )
        return self._slack

    def _publish_home(self, actor: Actor, message: Message) -> None:
        if self._slack is not None:
            self._slack.messenger.publish_home(actor, message)

    def open(self, *, slack: Messenger | None = None, work: bool = True) -> Services:
        """Wire services. `work`: carry out durable runs here and fire schedules; else only submit them to the process
        that does. Raises PermanentError when the schema is not current, or another process works on the same file."""
        self.database.require_current()
        messenger = RoutedMessenger(self._terminal_messenger, slack)
        handlers = _handlers()
        box: list[Services] = []
        if work:
            workflows: dict[str, Any] = {
                "converse_v1": lambda run, args: conversation.converse(box[0], handlers, run, args),
                "act_v1": lambda run, args: actions.act(box[0], handlers, run, args),
                "carry_out_v1": lambda run, args: carry_out.carry_out(box[0], run, args),
                "bench_v1": lambda run, args: bench.bench(box[0], run, args),
                "report_v1": lambda run, args: report.report(box[0], run, args),
                "wait_v1": lambda run, args: wait_look.look_again(box[0], run, args),
                "joined_v1": lambda run, args: home.joined(box[0], run, args),
            }
            durable: DbosOperations | ClientOperations = DbosOperations(
                url=self.settings.durable_database, workflows=workflows
            )
        else:
            durable = ClientOperations(self.settings.durable_database)
        self._durable = durable
        box.append(self._services(durable, messenger))
        self.services = box[0]
        if isinstance(durable, DbosOperations):
            durable.launch()
            self._scheduler = ReportScheduler(self.services.schedules.all, self._fire, self._sweep, self._tidy)
            self._scheduler.start()
        return self.services

    def inbox(self) -> DurableInbox:
        """Where requests go in."""
        return DurableInbox(self.ready, self._publish_home)

    def close(self) -> None:
        """End; what runs is carried on by the next process."""
        if self._slack is not None:
            self._slack.close()
        if self._scheduler is not None:
            self._scheduler.stop()
        if self._durable is not None:
            self._durable.close()
        self.remote.close()
        self.database.close()

    def _fire(self, schedule: Schedule, slot: str) -> None:
        report.fire(self.ready, schedule, slot)

    def _person(self, actor: Actor) -> Actor:
        if self._slack is None or actor.id.startswith(TERMINAL):
            return actor
        return self._slack.people.actor(actor.id)

    def _sweep(self) -> None:
        sweep.sweep(self.ready)

    def _tidy(self) -> None:
        if isinstance(self._durable, DbosOperations):
            services = self.ready
            self._durable.forget(services.clock.now() - _RUNS_KEPT, keep=sweep.needed_runs(services))

    def _services(self, runs: Operations, messenger: Messenger) -> Services:
        settings, database = self.settings, self.database
        hosts, catalog = SqlHosts(database), SqlCatalog(database)
        engines = engines_by_name()
        return Services(
            clock=self.clock,
            remote=self.remote,
            messenger=messenger,
            model_server=HttpModelServer(),
            runs=runs,
            hosts=hosts,
            catalog=catalog,
            launches=SqlLaunches(database),
            operations=SqlOperations(database),
            waits=SqlWaits(database),
            helps=SqlHelps(database),
            audit=SqlAudit(database),
            schedules=SqlSchedules(database),
            health_samples=SqlHealthSamples(database),
            engines=engines,
            facts=cast(dict[str, Fact[Any]], plugins.load(bot.core.facts, "FACT")),
            probes=cast(dict[str, Probe], plugins.load(bot.core.health, "PROBE")),
            runners={r.name: r for r in cast(dict[str, Runner], plugins.load(bot.core.runners, "RUNNER")).values()},
            checks=cast(dict[str, Check], plugins.load(bot.core.planning.checks, "CHECK")),
            vocabulary=_vocabulary(hosts, catalog, engines),
            script=script_renderer(),
            local_python=SubprocessPython(),
            plotter=MatplotlibPlotter(),
            policy=policy_of(settings.access),
            approve_own=settings.access.approve_own,
            approval_lifetime=settings.approval_lifetime,
            wait_lifetime=settings.wait_lifetime,
            person=self._person,
            ready_timeout_s=60 * settings.ready_timeout_minutes,
            workload=Workload(
                concurrency=tuple(settings.measure_concurrency),
                output_tokens=settings.measure_output_tokens,
                max_level_s=settings.measure_level_s,
            ),
        )


def _handlers() -> dict[Intent, conversation.Handler]:
    found = cast(dict[str, CommandSpec], plugins.load(bot.commands, "COMMAND")).values()
    handlers: dict[Intent, conversation.Handler] = {spec.intent: (spec.permission, spec.run) for spec in found}
    missing = set(Intent) - set(handlers)
    if missing:
        raise PermanentError(f"no command for {', '.join(sorted(missing))}")
    return handlers


def script_renderer() -> Callable[..., str]:
    """Renders templates/scripts and templates/units. Values must come quoted: these are shell and unit files."""
    scripts = Environment(
        loader=FileSystemLoader(directory("templates")),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        # no HTML: values are quoted for sh by whoever gives them
        autoescape=False,
    )

    def render(template: str, **values: object) -> str:
        return scripts.get_template(template).render(**values)

    return render


def _vocabulary(hosts: SqlHosts, catalog: SqlCatalog, engines: dict[str, Engine]) -> Callable[[], Vocabulary]:
    """The index of all names, built anew when catalog or inventory changed."""
    kept: list[tuple[Any, Vocabulary]] = []
    lock = threading.Lock()

    def vocabulary() -> Vocabulary:
        now = (catalog.catalog(), hosts.inventory())
        with lock:
            if not kept or kept[0][0] != now:
                kept[:] = [(now, Vocabulary.of(*now, engines))]
            return kept[0][1]

    return vocabulary


def policy_of(access: Access) -> AccessPolicy:
    """Settings to grants. Per host, a list replaces the general one of that level."""
    everyone_reads = "*" in access.readers
    levels = [
        (Permission.APPROVE, access.approvers, {name: own.approvers for name, own in access.hosts.items()}),
        (Permission.OPERATE, access.operators, {name: own.operators for name, own in access.hosts.items()}),
        (Permission.READ, access.readers, {name: own.readers for name, own in access.hosts.items()}),
    ]
    grants = [_grant(Permission.ADMINISTER, access.administrators)]
    for permission, general, by_host in levels:
        own = {host: people for host, people in by_host.items() if people is not None}
        grants.append(_grant(permission, general, access.channels, except_hosts=own))
        grants += [_grant(permission, people, access.channels, hosts=[host]) for host, people in own.items()]
    restricted = {host for host, own in access.hosts.items() if own.readers is not None and "*" not in own.readers}
    return AccessPolicy(
        grants=tuple(grant for grant in grants if grant.users or grant.groups or grant.everyone),
        default=Permission.READ if everyone_reads else Permission.NOTHING,
        host_defaults=dict.fromkeys(restricted, Permission.NOTHING),
    )


def _grant(
    permission: Permission,
    people: list[str],
    channels: Collection[str] = (),
    hosts: Collection[str] = (),
    except_hosts: Collection[str] = (),
) -> Grant:
    return Grant(
        permission=permission,
        users=frozenset(one for one in people if one[:1] in "UW"),
        groups=frozenset(one for one in people if one[:1] == "S"),
        everyone="*" in people,
        channels=frozenset(channels),
        hosts=frozenset(hosts),
        except_hosts=frozenset(except_hosts),
    )


def _path(path: Path | None) -> Path | None:
    return path.expanduser() if path is not None else None


def set_up_logging(settings: Settings) -> None:
    """structlog on stderr: JSON in production, readable otherwise. Other libraries at WARNING."""
    renderer: Any = (
        structlog.processors.JSONRenderer()
        if settings.log_format == "json"
        else structlog.dev.ConsoleRenderer(colors=_stderr().isatty())
    )
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("paramiko").setLevel(logging.CRITICAL)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[settings.log_level]),
        logger_factory=structlog.PrintLoggerFactory(_stderr()),
    )


def _stderr() -> Any:
    import sys

    return sys.stderr
