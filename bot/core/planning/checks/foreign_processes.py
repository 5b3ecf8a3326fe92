"""Other people's processes on the wanted GPUs. A training run is never disturbed: refuse, name it, offer other GPUs."""

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Known, Unknown
from bot.core.facts import gpu_processes, gpus
from bot.core.facts.gpu_processes import GpuProcess
from bot.core.facts.gpus import Gpu
from bot.core.planning.situation import Check, Situation, finding, unknown, who

#: a desktop or a monitor holds less; a model or a training run more
_SMALL_MIB = 600


def judge(situation: Situation) -> tuple[Finding, ...]:
    wanted, reading = situation.wanted_gpus(), situation.facts.reading(gpu_processes.FACT)
    if isinstance(wanted, Unknown):
        return unknown("foreign_processes", "processes on the GPUs", wanted.reason)
    if isinstance(reading, Unknown):
        return unknown("foreign_processes", "processes on the GPUs", reading.reason)
    uuids = {gpu.uuid: gpu for gpu in wanted.value}
    others = [one for one in reading.value if one.gpu_uuid in uuids and not situation.is_replaced(one.process)]
    if not others:
        return (finding("foreign_processes", Judgement.OK, "nobody else is on the wanted GPUs"),)
    return tuple(
        found
        for found in (
            _judge_group(situation, [one for one in others if _large(one)], uuids, reading.value),
            _small([one for one in others if not _large(one)], uuids),
        )
        if found is not None
    )


def _judge_group(
    situation: Situation, large: list[GpuProcess], uuids: dict[str, Gpu], everything: tuple[GpuProcess, ...]
) -> Finding | None:
    if not large:
        return None
    ours = all(situation.is_ours(one.process) for one in large)
    numbers = sorted({uuids[one.gpu_uuid].index for one in large})
    taken = " and ".join(map(str, numbers))
    cards = f"GPU {taken} is" if len(numbers) == 1 else f"GPUs {taken} are"
    owners = ", ".join(sorted({one.process.owner or "somebody who cannot be seen" for one in large}))
    whose = "another launch of Relaunch" if ours else owners
    return finding(
        "foreign_processes",
        Judgement.REFUSE,
        f"{cards} in use by {whose}",
        *(_words(one, uuids) for one in large),
        remedy=_offer(situation, everything, ours=ours),
    )


def _small(small: list[GpuProcess], uuids: dict[str, Gpu]) -> Finding | None:
    if not small:
        return None
    return finding(
        "foreign_processes",
        Judgement.WARN,
        "small processes of others are on the wanted GPUs",
        *(_words(one, uuids) for one in small),
        remedy="they can stay; ask their owners when the speed matters",
    )


def _offer(situation: Situation, everything: tuple[GpuProcess, ...], *, ours: bool) -> str:
    """Free GPUs to take instead, else to wait."""
    reading = situation.facts.reading(gpus.FACT)
    busy = {one.gpu_uuid for one in everything if _large(one)}
    free = [gpu for gpu in reading.value if gpu.uuid not in busy] if isinstance(reading, Known) else []
    needed = situation.engine.gpus_needed(situation.line) or 1
    if len(free) >= needed:
        return f"GPU {', '.join(str(gpu.index) for gpu in free[:needed])} would be free: start it there"
    return (
        "stop that launch first, or restart it"
        if ours
        else "ask the owner, start it when they are done, or use another host"
    )


def _large(one: GpuProcess) -> bool:
    """Memory that is not said counts as large."""
    return one.memory_mib is None or one.memory_mib >= _SMALL_MIB


def _words(one: GpuProcess, uuids: dict[str, Gpu]) -> str:
    memory = "memory not said" if one.memory_mib is None else f"{one.memory_mib} MiB"
    return f"GPU {uuids[one.gpu_uuid].index}, {memory}, {who(one.process)}"


CHECK: Check = Check(judge=judge, needs=("gpus", "gpu_processes"))
