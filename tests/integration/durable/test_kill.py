"""A killed process is followed by one that carries on at the right step."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

_WORKER = Path(__file__).with_name("worker.py")
_STEPS = ["first", "unreachable", "second gpu1 3", "third"]


def _run(url: str, log: Path, kill_at: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(_WORKER), url, str(log), kill_at],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=_WORKER.parents[3],
        env={"PYTHONPATH": str(_WORKER.parents[3]), "PATH": "/usr/bin:/bin"},
    )


_POINTS = [
    ("first:before", set()),
    ("first:after", {"first"}),
    ("between", set()),
    ("second gpu1 3:after", {"second gpu1 3"}),
    ("third:after", {"third"}),
    ("end", set()),
]


@pytest.mark.parametrize(("kill_at", "twice"), _POINTS)
def test_a_killed_run_is_carried_on(tmp_path: Path, kill_at: str, twice: set[str]) -> None:
    _is_carried_on(f"sqlite:///{tmp_path / 'durable.db'}", tmp_path / "log", kill_at, twice)


@pytest.mark.postgres
@pytest.mark.parametrize(("kill_at", "twice"), _POINTS[1:4])
def test_a_peer_takes_a_killed_run_over(empty_postgres_url: str, tmp_path: Path, kill_at: str, twice: set[str]) -> None:
    _is_carried_on(empty_postgres_url, tmp_path / "log", kill_at, twice)


def _is_carried_on(url: str, log: Path, kill_at: str, twice: set[str]) -> None:
    assert _run(url, log, kill_at).returncode == -9
    done = _run(url, log, "")
    assert done.stdout.splitlines()[-1:] == ["success"], done.stderr
    counts = Counter(log.read_text().splitlines())
    assert counts == Counter({step: 2 if step in twice else 1 for step in _STEPS})


def test_a_second_process_on_the_same_sqlite_file_is_refused(tmp_path: Path) -> None:
    from bot.adapters.durable.operations import _lock_file
    from bot.errors import PermanentError

    url = f"sqlite:///{tmp_path / 'durable.db'}"
    _lock_file(url)
    with pytest.raises(PermanentError, match="another process"):
        _lock_file(url)


def test_old_runs_are_forgotten_but_for_those_that_are_needed(tmp_path: Path) -> None:
    done = _run(f"sqlite:///{tmp_path / 'durable.db'}", tmp_path / "log", "forget")
    assert done.stdout.splitlines() == ["success", "0 0 success 1 None"], done.stderr
