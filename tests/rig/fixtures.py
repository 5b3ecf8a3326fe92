"""Pytest fixtures that give real parts; see tests/README.md for what each needs."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.rig import host as rig_host
from tests.rig import needs, postgres
from tests.rig.containers import ContainerHost
from tests.rig.host import RigHost
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


@pytest.fixture(scope="session")
def _rig_hosts() -> Iterator[Callable[[], RigHost]]:
    rig_host.build()
    names = rig_host.hosts()
    made: list[RigHost] = []

    def make() -> RigHost:
        host = next(names)
        made.append(host)
        try:
            host.up()
        except RuntimeError as error:
            needs.missing(f"systemd hosts cannot be booted here: {error}")
        return host

    yield make
    for host in made:
        host.down()


@pytest.fixture(scope="session")
def shared_rig_host(_rig_hosts: Callable[[], RigHost]) -> RigHost:
    """A systemd host for tests that leave it as it was. Accounts: root, "ops" (passwordless sudo), "dev" (no sudo)."""
    host = _rig_hosts()
    host.add_user("ops", sudo=True)
    host.add_user("dev")
    return host


@pytest.fixture
def rig_host_factory(_rig_hosts: Callable[[], RigHost]) -> Callable[[], RigHost]:
    """Boots systemd hosts (about a second each) that a test may break; they end with the test run."""
    return _rig_hosts


@pytest.fixture(scope="session")
def container_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContainerHost]:
    """This machine over SSH with a podman of its own, for tests that leave no container behind."""
    host = ContainerHost(tmp_path_factory.mktemp("boxes"))
    yield host
    host.close()


@pytest.fixture(scope="session")
def docker_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContainerHost]:
    """The same with a dockerd, where one is installed: the rig's packages do not bring it."""
    if shutil.which("dockerd", path="/usr/sbin:/usr/bin:/usr/local/bin") is None:
        pytest.skip("dockerd is not installed; podman takes the same words")
    host = ContainerHost(tmp_path_factory.mktemp("docker"), "docker")
    yield host
    host.close()


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """URL of an empty PostgreSQL database in a cluster of our own (RELAUNCH_TEST_POSTGRES_URL: that one)."""
    yield from postgres.cluster()


@pytest.fixture
def empty_postgres_url(postgres_url: str) -> Iterator[str]:
    """URL of a new, empty PostgreSQL database."""
    yield from postgres.empty_database(postgres_url)
