"""Look at hosts: one batched, read-only probe per host, all hosts at once. Looking never changes anything."""

import secrets
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from bot.core.domain.host import Host
from bot.core.facts import HostFacts, ProbeTarget, parse_probe, probe_command, probe_context, probe_limit_s
from bot.core.planning.revision import unit_words
from bot.errors import CommandTimeoutError, RelaunchError
from bot.workflows.services import Services

#: at most this many hosts at the same time
_PARALLEL = 32
#: for the connection and the way of the answer
_MARGIN_S = 15.0


def look(services: Services, host: Host, target: ProbeTarget | None = None, *, only: Iterable[str] = ()) -> HostFacts:
    """Readings of one host. `only`: names of the facts to look at (empty: all that the target names).

    Raises UnreachableError and the other errors of the Remote port; a probe that was cut short gives what it had."""
    target = target or ProbeTarget(unit_words=_all_unit_words(services))
    wanted = frozenset(only)
    facts = [fact for name, fact in services.facts.items() if not wanted or name in wanted]
    nonce = secrets.token_hex(8)
    script = services.script("scripts/probe.sh.j2", **probe_context(facts, target, nonce))
    try:
        timeout_s = probe_limit_s(facts, target) + _MARGIN_S
        output = services.remote.run(host, probe_command(script, timeout_s=timeout_s)).stdout
    except CommandTimeoutError as error:
        if not error.stdout:
            raise
        output = error.stdout
    return parse_probe(output, facts, target, nonce, taken_at=services.clock.now())


def _all_unit_words(services: Services) -> tuple[str, ...]:
    """Words by which units of any engine are seen."""
    return tuple(dict.fromkeys(word for engine in services.engines.values() for word in unit_words(engine)))


def look_everywhere(
    services: Services, hosts: Iterable[Host], *, only: Iterable[str] = ()
) -> Mapping[str, HostFacts | RelaunchError]:
    """Readings of many hosts, or why one could not be looked at."""
    wanted = tuple(only)

    def one(host: Host) -> HostFacts | RelaunchError:
        try:
            return look(services, host, only=wanted)
        except RelaunchError as error:
            return error

    listed = list(hosts)
    if not listed:
        return {}
    with ThreadPoolExecutor(max_workers=min(_PARALLEL, len(listed)), thread_name_prefix="look") as pool:
        return dict(zip((host.name for host in listed), pool.map(one, listed), strict=True))
