"""Enough GPUs for the launch."""

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Unknown
from bot.core.planning.situation import Check, Situation, finding, unknown


def judge(situation: Situation) -> tuple[Finding, ...]:
    needed = situation.engine.gpus_needed(situation.line)
    if needed == 0:
        return (finding("gpu_count", Judgement.OK, "the launch uses no GPU"),)
    wanted = situation.wanted_gpus()
    if isinstance(wanted, Unknown):
        return unknown("gpu_count", "GPUs of the host", wanted.reason, remedy="check nvidia-smi on the host")
    evidence = tuple(f"GPU {gpu.index}: {gpu.name}, {gpu.memory_total_mib or '?'} MiB" for gpu in wanted.value)
    devices = situation.environment.get("CUDA_VISIBLE_DEVICES")
    if devices is not None:
        evidence = (f"CUDA_VISIBLE_DEVICES={devices}", *evidence)
    if not wanted.value:
        return (
            finding(
                "gpu_count",
                Judgement.REFUSE,
                "the launch would see no GPU",
                *evidence,
                remedy="correct CUDA_VISIBLE_DEVICES, or choose other GPUs",
            ),
        )
    if needed is not None and len(wanted.value) < needed:
        return (
            finding(
                "gpu_count",
                Judgement.REFUSE,
                f"the launch needs {needed} GPUs and would see {len(wanted.value)}",
                *evidence,
                remedy=f"use a tensor parallel size of {len(wanted.value)}, or a host with {needed} GPUs",
            ),
        )
    named = " and ".join(str(gpu.index) for gpu in wanted.value)
    return (finding("gpu_count", Judgement.OK, f"GPU {named}: {wanted.value[0].name}", *evidence),)


CHECK: Check = Check(judge=judge, needs=("gpus",))
