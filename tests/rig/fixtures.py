"""Pytest fixtures that give real parts; see tests/README.md for what each needs."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.rig.sshd import Sshd


@pytest.fixture
def sshd_factory(tmp_path: Path) -> Iterator[Callable[..., Sshd]]:
    """Makes private sshds: `sshd_factory(["MaxSessions 1"], name="jump")`."""
    made: list[Sshd] = []

    def make(options: Sequence[str] = (), *, name: str = "gpu1") -> Sshd:
        folder = tmp_path / f"sshd{len(made)}"
        folder.mkdir()
        made.append(Sshd(folder, options, name=name))
        return made[-1]

    yield make
    for sshd in reversed(made):
        sshd.close()


@pytest.fixture
def sshd(sshd_factory: Callable[..., Sshd]) -> Sshd:
    """A private sshd on loopback that lets the user who runs the tests in."""
    return sshd_factory()
