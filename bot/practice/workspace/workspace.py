"""The workspace in a thread of its own, for tests and for `relaunch practice`."""

import asyncio
import copy
import threading
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from aiohttp import web

from bot.practice.workspace import interaction, people
from bot.practice.workspace.manifest import EVERYTHING, Manifest, read_manifest
from bot.practice.workspace.office import APP_TOKEN, BOT_TOKEN, Office
from bot.practice.workspace.roster import fresh_state
from bot.practice.workspace.server import Server
from bot.practice.workspace.socket_mode import Timing
from bot.practice.workspace.state import Channel, JsonObject, Timestamps

T = TypeVar("T")
_CALL_S = 30.0


class PracticeWorkspace:
    """A Slack workspace on 127.0.0.1.

    `manifest` is the app's manifest.yaml (None: every scope and event). `rate_limits` switches 429 answers. `now` gives
    epoch seconds for message timestamps (`state.fixed_clock()` makes them the same in every run). All methods may be
    called from any thread; channels are ids or names ("ml-serving"), users are ids ("U0ANA").
    """

    bot_token = BOT_TOKEN
    app_token = APP_TOKEN

    def __init__(
        self,
        manifest: Path | Manifest | None = None,
        *,
        rate_limits: bool = False,
        timing: Timing | None = None,
        now: Callable[[], float] | None = None,
        suggestions: list[str] | None = None,
        notes: JsonObject | None = None,
    ) -> None:
        granted = read_manifest(manifest) if isinstance(manifest, Path) else manifest or EVERYTHING
        self.office = Office(
            state=fresh_state(granted.name), manifest=granted, stamps=Timestamps(now), timing=timing or Timing()
        )
        self.office.limits.on = rate_limits
        self._change = threading.Event()
        self.office.changed = self._change.set
        self._server = Server(self.office, suggestions, notes)
        self._loop = asyncio.new_event_loop()
        self._thread: threading.Thread | None = None
        self._runner: web.AppRunner | None = None

    # --- life

    def start(self, port: int = 0) -> str:
        """Listen; 0 picks a free port. Gives the base URL, "http://127.0.0.1:PORT"."""
        self._thread = threading.Thread(target=self._loop.run_forever, name="practice-workspace", daemon=True)
        self._thread.start()
        return self._run(self._listen(port))

    async def _listen(self, port: int) -> str:
        self._runner = web.AppRunner(self._server.application(), access_log=None, shutdown_timeout=0.5)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        await site.start()
        bound = self._runner.addresses[0][1]
        self.office.base_url = f"http://127.0.0.1:{bound}"
        return self.office.base_url

    def stop(self) -> None:
        """Stop listening and drop all connections."""
        if self._thread is None:
            return
        self._run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._thread = None

    async def _close(self) -> None:
        await self.office.close()
        if self._runner is not None:
            await self._runner.cleanup()

    def __enter__(self) -> "PracticeWorkspace":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """Address of the page."""
        return self.office.base_url

    @property
    def api_url(self) -> str:
        """`base_url` for slack_sdk's WebClient."""
        return f"{self.office.base_url}/api/"

    # --- people

    def say(self, user: str, channel: str, text: str, thread_ts: str | None = None) -> str:
        """Send a message as this person types it ("@Relaunch status"). Gives its ts."""
        return str(self._do(lambda: people.say(self.office, user, self._channel(channel), text, thread_ts)["ts"]))

    def edit(self, channel: str, ts: str, text: str) -> None:
        """Edit a person's message."""
        self._do(lambda: people.edit(self.office, self._channel(channel), ts, text))

    def command(self, user: str, channel: str, line: str) -> bool:
        """Use a slash command. Whether the app acknowledged it in time."""
        return self._run(interaction.command(self.office, user, self._channel(channel), line)) is not None

    def click(self, user: str, channel: str, message_ts: str, action: str, *, chosen: JsonObject | None = None) -> bool:
        """Use the element with this action_id or label. Whether the app acknowledged it in time."""
        work = interaction.click(self.office, user, self._channel(channel), message_ts, action, chosen=chosen)
        return self._run(work) is not None

    def submit(self, user: str, values: dict[str, JsonObject] | None = None) -> JsonObject:
        """Submit this person's topmost modal: {"closed": …}, {"errors": …} or {"timeout": True}."""
        return self._run(interaction.submit(self.office, user, self.office.state.stacks[user][-1], values))

    def open_home(self, user: str, tab: str = "home") -> None:
        """Open the app's Home or Messages tab."""
        self._do(lambda: people.open_home(self.office, user, tab))

    def invite(self, user: str, channel: str, invited: str | None = None) -> None:
        """Invite the app (or a person) into a channel."""
        whom = invited or self.office.state.bot_user
        self._do(lambda: people.invite(self.office, user, self._channel(channel), whom))

    def disconnect(self, reason: str = "refresh_requested") -> None:
        """Tell the app to reconnect: warning, refresh_requested or link_disabled."""
        self._run(self.office.socket.disconnect(reason))

    # --- looking

    def messages(self, channel: str) -> list[JsonObject]:
        """All messages of a channel, replies too, oldest first."""
        return self._do(lambda: copy.deepcopy(self._channel(channel).messages))

    def thread(self, channel: str, ts: str) -> list[JsonObject]:
        """A thread: root, then replies."""
        return self._do(lambda: copy.deepcopy(self._channel(channel).thread(ts)))

    def ephemerals(self, user: str) -> list[JsonObject]:
        """What only this person was shown, oldest first."""
        return self._do(lambda: copy.deepcopy([m for u, _, m in self.office.state.ephemerals if u == user]))

    def modals(self, user: str) -> list[JsonObject]:
        """This person's open modals, topmost last."""
        state = self.office.state
        return self._do(lambda: copy.deepcopy([state.views[v] for v in state.stacks.get(user, [])]))

    def home(self, user: str) -> JsonObject | None:
        """This person's App Home, if the app has published one."""
        return self._do(lambda: copy.deepcopy(self.office.state.homes.get(user)))

    def refusals(self) -> list[str]:
        """What Slack would have refused so far: "chat.postMessage: invalid_blocks …"."""
        return self._do(lambda: [f"{e.name}: {e.refusal}" for e in self.office.traffic.refusals])

    def calls(self, method: str) -> list[JsonObject]:
        """Arguments of the kept calls of one Web API method, oldest first."""
        return self._do(
            lambda: [e.request for e in self.office.traffic.entries if e.kind == "api" and e.name == method]
        )

    @property
    def connections(self) -> int:
        """Open Socket Mode connections."""
        return self.office.socket.connections

    def wait_for(self, predicate: Callable[[], T], timeout: float = 10.0) -> T:
        """Wait until `predicate` gives something true, and give that. TimeoutError names the refusals so far."""
        until = time.monotonic() + timeout
        while True:
            self._change.clear()
            found = predicate()
            if found:
                return found
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"not within {timeout:g} s; refused so far: {self.refusals()}")
            # connections and acks change without a message: look again at least this often
            self._change.wait(min(left, 0.1))

    # --- switches

    def limit_next(self, method: str, times: int = 1) -> None:
        """Answer 429 to the next calls of a method."""
        self._do(lambda: self.office.limits.forced.__setitem__(method, times))

    # --- inside

    def _channel(self, name: str) -> Channel:
        channel = self.office.state.channel_named(name)
        if channel is None:
            raise KeyError(name)
        return channel

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_CALL_S)

    def _do(self, work: Callable[[], T]) -> T:
        async def on_loop() -> T:
            return work()

        return self._run(on_loop())
