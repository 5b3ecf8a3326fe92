"""Which runner starts a server: a system unit where we may write one, the user's own manager where it outlives the
log-out, else a plain process of its own session."""

from bot.core.domain.plan import Refusal
from bot.core.domain.reading import Reading, Unknown
from bot.core.facts.system import System


def choose_runner(system: Reading[System], *, user: str | None) -> str | Refusal:
    """ "systemd", "systemd-user" or "process", or why none will do. `user`: account that the server must run as."""
    if isinstance(system, Unknown):
        return Refusal(
            reason=f"it is not known how servers can be started there: {system.reason}",
            remedy="try again; check the login by hand if it stays so",
        )
    may_become_root = system.value.root or system.value.sudo
    if user is not None and user != system.value.user and not may_become_root:
        return Refusal(
            reason=f"the server must run as {user}, and {system.value.user} may not become {user} there",
            remedy=f"log in as {user}, or allow sudo without a password",
        )
    if system.value.systemd and may_become_root:
        return "systemd"
    if system.value.systemd and system.value.user_manager and system.value.lingers:
        return "systemd-user"
    return "process"
