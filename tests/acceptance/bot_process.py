"""The bot in processes of its own, which can be killed: from outside, or by themselves at an exact point.

Processes are forked from one that has imported everything, so that a start takes a second and not ten. What runs in
them is `relaunch` itself. A process that is to die at a point differs in one thing: the ports of its App tell of each
call before and after it is made (production code knows nothing of that).
"""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import bot.commands
import bot.core.engines
import bot.core.facts
import bot.core.health
import bot.core.planning.checks
import bot.core.runners
from bot.app import App, set_up_logging
from bot.cli.main import main
from bot.cli.serve import listen
from bot.settings import Settings, load
from bot.workflows.ports import Messenger
from bot.workflows.services import Services

#: folders of plug-ins, which the app loads when it opens
_PLUGINS = (bot.commands, bot.core.engines, bot.core.facts, bot.core.health, bot.core.planning.checks, bot.core.runners)
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    [__name__, "pytest", *(f"{one.__name__}.{found.name}" for one in _PLUGINS for found in iter_modules(one.__path__))]
)
#: how long a process may take to end by itself
_END_S = 60.0


@dataclass(frozen=True, kw_only=True)
class Point:
    """A call of a port: its method, words in its arguments, and whether to die before it or after it."""

    method: str
    words: str
    after: bool = True


class Process:
    """`relaunch …` in a process of its own, with `environment` on top of ours; its output goes to the file `output`."""

    def __init__(
        self, arguments: Sequence[str], environment: Mapping[str, str], output: Path, *, dies_at: Point | None = None
    ) -> None:
        self.output = output
        self._process: ForkServerProcess = _FORKS.Process(
            target=_work, args=(list(arguments), dict(environment), output, dies_at), daemon=True
        )
        self._process.start()

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.is_alive()

    def kill(self) -> None:
        """kill -9, and wait for the end."""
        self._process.kill()
        self.end()

    def terminate(self) -> int:
        """SIGTERM; gives the exit status."""
        self._process.terminate()
        return self.end()

    def end(self) -> int:
        """Wait for the end; gives the exit status, negative for a signal."""
        self._process.join(_END_S)
        status = self._process.exitcode
        assert status is not None, f"still running: {self.text()}"
        return status

    def text(self) -> str:
        """What it printed so far, on stdout and stderr."""
        return self.output.read_text("utf-8", "replace") if self.output.exists() else ""


def _work(arguments: list[str], environment: Mapping[str, str], output: Path, dies_at: Point | None) -> None:
    with output.open("ab") as file:
        os.dup2(file.fileno(), sys.stdout.fileno())
        os.dup2(file.fileno(), sys.stderr.fileno())
    os.environ.update(environment)
    os.chdir(output.parent)
    if dies_at is not None:
        settings = load()
        set_up_logging(settings)
        listen(MortalApp(settings, dies_at))
        return
    sys.argv = ["relaunch", *arguments]
    main()


class MortalApp(App):
    """The app, whose process is killed at a call of the SSH port, the messenger, the inbox, or the memory of posts."""

    def __init__(self, settings: Settings, dies_at: Point) -> None:
        super().__init__(settings)
        self._dies_at = dies_at
        self.remote = _Told(self.remote, dies_at)  # type: ignore[assignment]  # passes everything on
        self.posts = _Told(self.posts, dies_at)  # type: ignore[assignment]  # passes everything on

    def open(self, *, slack: Messenger | None = None, work: bool = True) -> Services:
        """The same, with a messenger that tells."""
        return super().open(slack=_Told(slack, self._dies_at), work=work)

    def inbox(self) -> Any:
        """The same, telling."""
        return _Told(super().inbox(), self._dies_at)


class _Told:
    """Passes each call on, and dies at the one that is waited for."""

    def __init__(self, inner: object, dies_at: Point) -> None:
        self._inner = inner
        self._dies_at = dies_at

    def __getattr__(self, name: str) -> Any:
        method: Callable[..., Any] = getattr(self._inner, name)

        def call(*arguments: Any, **named: Any) -> Any:
            point = self._dies_at
            hit = name == point.method and point.words in f"{arguments} {named}"
            if hit and not point.after:
                os.kill(os.getpid(), signal.SIGKILL)
            result = method(*arguments, **named)
            if hit:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return call
