"""The login user's own manager, where there is no root. It needs lingering: else the server ends with the login."""

from bot.core.domain.runner import Runner
from bot.core.runners._systemd import SystemdRunner

RUNNER: Runner = SystemdRunner(name="systemd-user", scope="user")
