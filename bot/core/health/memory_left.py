"""RAM that is left."""

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Unknown
from bot.core.facts import HostFacts, memory
from bot.core.health._probe import Probe

LEAST_SHARE = 0.05


def judge(facts: HostFacts) -> tuple[Finding, ...]:
    """Warn below 5 % available."""
    reading = facts.reading(memory.FACT)
    if isinstance(reading, Unknown):
        summary = f"free RAM is not known: {reading.reason}"
        return (Finding(check="memory_left", judgement=Judgement.UNKNOWN, summary=summary),)
    value = reading.value
    if value.available_mib >= LEAST_SHARE * value.total_mib:
        return (Finding(check="memory_left", judgement=Judgement.OK, summary="enough free RAM"),)
    return (
        Finding(
            check="memory_left",
            judgement=Judgement.WARN,
            summary=f"only {value.available_mib} MiB of {value.total_mib // 1024} GiB RAM are available",
            remedy="the kernel kills processes next; see who uses it",
        ),
    )


PROBE = Probe(needs=("memory",), judge=judge)
