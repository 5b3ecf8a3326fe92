"""Other people's processes on the wanted GPUs. A training run is never disturbed: refuse, name it, offer other GPUs."""

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Unknown
from bot.core.facts import gpu_processes
from bot.core.facts.gpu_processes import GpuProcess
from bot.core.facts.gpus import Gpu
from bot.core.planning.free import free_sets, large
from bot.core.planning.situation import Check, Situation, finding, unknown, who


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
            _judge_group(situation, [one for one in others if large(one)], uuids),
            _small([one for one in others if not large(one)], uuids),
        )
        if found is not None
    )


def _judge_group(situation: Situation, held: list[GpuProcess], uuids: dict[str, Gpu]) -> Finding | None:
    if not held:
        return None
    ours = all(situation.is_ours(one.process) for one in held)
    numbers = sorted({uuids[one.gpu_uuid].index for one in held})
    taken = " and ".join(map(str, numbers))
    cards = f"GPU {taken} is" if len(numbers) == 1 else f"GPUs {taken} are"
    owners = ", ".join(sorted({one.process.owner or "somebody who cannot be seen" for one in held}))
    whose = "another launch of Relaunch" if ours else owners
    return finding(
        "foreign_processes",
        Judgement.REFUSE,
        f"{cards} in use by {whose}",
        *(_words(one, uuids) for one in held),
        remedy=_offer(situation, ours=ours),
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


def _offer(situation: Situation, *, ours: bool) -> str:
    """Free GPUs to take instead, else to wait."""
    sets = free_sets(situation, ())
    if sets:
        return f"GPU {', '.join(map(str, sets[0]))} would be free: start it there"
    return (
        "stop that launch first, or restart it"
        if ours
        else "ask the owner, start it when they are done, or use another host"
    )


def _words(one: GpuProcess, uuids: dict[str, Gpu]) -> str:
    memory = "memory not said" if one.memory_mib is None else f"{one.memory_mib} MiB"
    return f"GPU {uuids[one.gpu_uuid].index}, {memory}, {who(one.process)}"


CHECK: Check = Check(judge=judge, needs=("gpus", "gpu_processes"))
