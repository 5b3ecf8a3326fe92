"""Pin a host's key, and say which key a host shows."""

from bot.core.domain.message import Message
from bot.core.domain.operation import Actor, AuditEvent
from bot.errors import HostKeyError, RelaunchError
from bot.workflows.propose import known_host
from bot.workflows.services import Services


def trust(services: Services, name: str, fingerprint: str, actor: Actor) -> None:
    """Pin the key that a host shows now, if it still is this one. Raises HostKeyError."""
    services.remote.trust(known_host(services, name), fingerprint)
    services.audit.add(
        AuditEvent(
            at=services.clock.now(), actor=actor.id, action="trust", host=name, outcome="key pinned", detail=fingerprint
        )
    )


def key_message(services: Services, error: HostKeyError) -> Message:
    """An unknown or changed key as a message; an administrator may pin an unknown one by button."""
    host = services.hosts.inventory().hosts.get(error.host or "")
    fingerprint = error.fingerprint
    if not fingerprint and host is not None:
        try:
            fingerprint = services.remote.fingerprint(host)
        except RelaunchError:
            fingerprint = "unknown"
    return Message(
        template="host_key",
        context={
            "host": error.host or "",
            "address": host.address if host else "",
            "fingerprint": fingerprint,
            "changed": error.changed,
            "known": None,
            "operation": "",
        },
    )
