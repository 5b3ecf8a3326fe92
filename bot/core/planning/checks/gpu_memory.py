"""Free memory on the wanted GPUs against what the launch claims at start, and memory that nobody visible holds."""

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Known, Unknown
from bot.core.facts import gpu_processes
from bot.core.facts.gpus import Gpu
from bot.core.planning.free import IDLE_MIB
from bot.core.planning.situation import Check, Situation, finding, unknown


def judge(situation: Situation) -> tuple[Finding, ...]:
    wanted = situation.wanted_gpus()
    if isinstance(wanted, Unknown):
        return unknown("gpu_memory", "free GPU memory", wanted.reason)
    return tuple(one for gpu in wanted.value for one in _judge_gpu(situation, gpu))


def _judge_gpu(situation: Situation, gpu: Gpu) -> tuple[Finding, ...]:
    name = f"GPU {gpu.index}"
    if gpu.memory_total_mib is None or gpu.memory_free_mib is None or gpu.memory_used_mib is None:
        return unknown("gpu_memory", f"free memory of {name}", "nvidia-smi gives no figure")
    held, freed = _held(situation, gpu)
    free = gpu.memory_free_mib + freed
    budget, arithmetic = situation.engine.memory_budget(situation.line, gpu.memory_total_mib, free)
    evidence = [f"{gpu.memory_free_mib} of {gpu.memory_total_mib} MiB free", arithmetic]
    if freed:
        evidence.insert(1, f"{freed} MiB more once the running launch is stopped")
    if budget > free:
        return (
            finding(
                "gpu_memory",
                Judgement.REFUSE,
                f"{name} has {free:.0f} MiB free and the launch claims {budget:.0f} MiB at start",
                *evidence,
                remedy="free the GPU, choose another one, or lower the memory fraction",
            ),
        )
    if held is not None and gpu.memory_used_mib - held > IDLE_MIB:
        return (
            finding(
                "gpu_memory",
                Judgement.WARN,
                f"{gpu.memory_used_mib - held} MiB of {name} are held by nobody who can be seen",
                *evidence,
                remedy="look for containers or processes that just ended (nvidia-smi on the machine itself)",
            ),
        )
    return (finding("gpu_memory", Judgement.OK, f"{name}: {free:.0f} MiB free", *evidence),)


def _held(situation: Situation, gpu: Gpu) -> tuple[int | None, int]:
    """(MiB held by visible processes, None when not known; MiB of those that the plan stops first)."""
    reading = situation.facts.reading(gpu_processes.FACT)
    if not isinstance(reading, Known):
        return None, 0
    mine = [one for one in reading.value if one.gpu_uuid == gpu.uuid]
    freed = sum(one.memory_mib or 0 for one in mine if situation.is_replaced(one.process))
    if any(one.memory_mib is None for one in mine):
        return None, freed
    return sum(one.memory_mib or 0 for one in mine), freed


CHECK: Check = Check(judge=judge, needs=("gpus", "gpu_processes"))
