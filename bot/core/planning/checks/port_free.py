"""The port is free. Engines bind it late: without this look a second copy of the model is loaded first."""

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Unknown
from bot.core.facts import ports
from bot.core.facts.ports import Listener
from bot.core.planning.situation import Check, Situation, finding, unknown, who


def judge(situation: Situation) -> tuple[Finding, ...]:
    port = situation.port
    if not 0 < port < 65536:
        return (finding("port_free", Judgement.REFUSE, f"{port} is no port", remedy="use a port from 1 to 65535"),)
    own = next((one for one in situation.running if one.port == port and one not in situation.replaces), None)
    if own is not None:
        return (
            finding(
                "port_free",
                Judgement.REFUSE,
                f"{own.what} serves on port {port}",
                remedy="restart it, stop it first, or use another port",
            ),
        )
    reading = situation.facts.reading(ports.FACT)
    if isinstance(reading, Unknown):
        return unknown("port_free", f"port {port}", reading.reason)
    listeners = [one for one in reading.value if one.port == port]
    taken = [one for one in listeners if one.process is None or not situation.is_replaced(one.process)]
    if taken and not (situation.replaces and all(one.process is None for one in taken)):
        owner = taken[0].process
        return (
            finding(
                "port_free",
                Judgement.REFUSE,
                f"port {port} is taken",
                *(f"{one.address}: {_owner(one)}" for one in taken),
                remedy="use another port" + (", or ask its owner" if owner else ""),
            ),
        )
    if listeners:
        return (finding("port_free", Judgement.OK, f"port {port} is free once the running launch is stopped"),)
    return (finding("port_free", Judgement.OK, f"port {port} is free"),)


def _owner(listener: Listener) -> str:
    if listener.process is not None:
        return who(listener.process)
    return f"a process of {listener.owner}" if listener.owner else "owner not visible"


CHECK: Check = Check(judge=judge, needs=("ports",))
