"""GPUs: readable at all, too hot, or held back by heat or power.

Throttle bits are NVML's clocks event reasons: 0x4 software power cap, 0x8 hardware slowdown, 0x20 software thermal,
0x40 hardware thermal, 0x80 hardware power brake."""

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Unknown
from bot.core.facts import HostFacts, gpus
from bot.core.facts.gpus import Gpu
from bot.core.health._probe import Probe

HOT_C = 87
_THERMAL = 0x8 | 0x20 | 0x40
_BRAKE = 0x80


def judge(facts: HostFacts) -> tuple[Finding, ...]:
    """One finding per trouble."""
    reading = facts.reading(gpus.FACT)
    if isinstance(reading, Unknown):
        return (
            Finding(
                check="gpu_state",
                judgement=Judgement.UNKNOWN,
                summary=f"GPUs cannot be read: {reading.reason}",
                remedy="run nvidia-smi on the host by hand",
            ),
        )
    return tuple(found for gpu in reading.value for found in _one(gpu)) or (
        Finding(check="gpu_state", judgement=Judgement.OK, summary=f"{len(reading.value)} GPUs cool and unthrottled"),
    )


def _one(gpu: Gpu) -> tuple[Finding, ...]:
    found = []
    if gpu.temperature_c is not None and gpu.temperature_c >= HOT_C:
        found.append(
            Finding(
                check="gpu_state",
                judgement=Judgement.WARN,
                summary=f"GPU {gpu.index} is at {gpu.temperature_c} °C",
                remedy="check fans and airflow: hot GPUs lower their clocks",
            )
        )
    if gpu.throttle_mask is not None and gpu.throttle_mask & (_THERMAL | _BRAKE):
        why = "heat" if gpu.throttle_mask & _THERMAL else "the power brake"
        found.append(
            Finding(
                check="gpu_state",
                judgement=Judgement.WARN,
                summary=f"GPU {gpu.index} is slowed by {why}",
                evidence=(f"throttle mask {gpu.throttle_mask:#x}, {gpu.clock_sm_mhz} of {gpu.clock_max_sm_mhz} MHz",),
                remedy="numbers measured now are too low",
            )
        )
    return tuple(found)


PROBE = Probe(needs=("gpus",), judge=judge)
