"""The system manager: root, or sudo. The usual runner."""

from bot.core.domain.runner import Runner
from bot.core.runners._systemd import SystemdRunner

RUNNER: Runner = SystemdRunner(name="systemd", scope="system")
