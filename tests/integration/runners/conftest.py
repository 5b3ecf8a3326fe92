"""Runners on a real systemd host."""

from collections.abc import Callable

import pytest

from bot.core.runners.process import RUNNER as PROCESS
from bot.core.runners.systemd import RUNNER as SYSTEMD
from bot.core.runners.systemd_user import RUNNER as SYSTEMD_USER
from tests.integration.runners.driver import Driver
from tests.rig.host import RigHost

RUNNERS = {runner.name: runner for runner in (SYSTEMD, SYSTEMD_USER, PROCESS)}


@pytest.fixture(scope="session")
def lingering_host(shared_rig_host: RigHost) -> RigHost:
    """The shared host with an account "keep" whose manager outlives its logins."""
    shared_rig_host.add_user("keep")
    shared_rig_host.run("loginctl enable-linger keep")
    return shared_rig_host


@pytest.fixture
def driver_for(lingering_host: RigHost) -> Callable[[str, str], Driver]:
    """Drivers for (runner, account) on the shared host."""

    def make(runner: str, user: str) -> Driver:
        return Driver(RUNNERS[runner], lingering_host, lingering_host.remote(), user)

    return make


@pytest.fixture(params=["systemd ops", "systemd-user keep", "process dev"])
def driver(request: pytest.FixtureRequest, driver_for: Callable[[str, str], Driver]) -> Driver:
    """Each runner with an account that may use it."""
    return driver_for(*request.param.split())
