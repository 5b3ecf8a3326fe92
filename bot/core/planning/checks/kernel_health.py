"""What the kernel said of the GPUs and of killed processes lately."""

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Unknown
from bot.core.facts import kernel_log
from bot.core.planning.situation import Check, Situation, finding, unknown

#: codes after which a GPU wants a reset or a look (NVIDIA, "Xid Errors")
_SERIOUS = {48: "double-bit memory error", 63: "memory row remapped", 64: "row remapping failed", 74: "NVLink error",
            79: "the GPU fell off the bus", 94: "contained memory error", 95: "uncontained memory error",
            119: "the GPU's firmware does not answer", 120: "GPU firmware error"}  # fmt: skip


def judge(situation: Situation) -> tuple[Finding, ...]:
    reading = situation.facts.reading(kernel_log.FACT)
    if isinstance(reading, Unknown):
        return unknown("kernel_health", "the kernel's log", reading.reason)
    serious = [xid for xid in reading.value.xids if xid.code in _SERIOUS]
    kills = reading.value.oom_kills
    if serious:
        last = serious[-1]
        return (
            finding(
                "kernel_health",
                Judgement.WARN,
                f"the kernel logged Xid {last.code} ({_SERIOUS[last.code]}) at {last.at}",
                *(f"{xid.at} {xid.pci} Xid {xid.code}" for xid in serious[-5:]),
                remedy="reset the GPU or reboot the host before relying on it",
            ),
        )
    if kills:
        return (
            finding(
                "kernel_health",
                Judgement.WARN,
                f"the kernel killed {kills[-1].name} for memory at {kills[-1].at}",
                *(f"{kill.at} pid {kill.pid} {kill.name}" for kill in kills[-5:]),
                remedy="see what else uses main memory there",
            ),
        )
    return (finding("kernel_health", Judgement.OK, "no GPU error and no kill for memory in the kernel's log"),)


CHECK: Check = Check(judge=judge, needs=("kernel_log",))
