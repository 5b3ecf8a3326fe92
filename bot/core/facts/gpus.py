"""GPUs as nvidia-smi's CSV query gives them (forms seen with drivers 535 to 580). The text table cuts its columns."""

from dataclasses import dataclass

from bot.core.domain.reading import Known, Reading, Unknown
from bot.core.facts._csv import fields, number, text, whole
from bot.core.facts._fact import Fact, ProbeTarget

_FIELDS = (
    "index", "uuid", "memory.total", "memory.used", "memory.free", "utilization.gpu", "temperature.gpu", "power.draw",
    "power.limit", "clocks.sm", "clocks.max.sm", "pstate", "driver_version", "name",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One GPU; None where the driver has no value."""

    index: int
    name: str
    uuid: str
    memory_total_mib: int | None
    memory_used_mib: int | None
    memory_free_mib: int | None
    utilization_pct: int | None
    temperature_c: int | None
    power_w: float | None
    power_limit_w: float | None
    clock_sm_mhz: int | None
    clock_max_sm_mhz: int | None
    pstate: str | None
    driver: str | None
    #: "9.0"; None with drivers that cannot say
    compute_capability: str | None = None
    #: reasons for lowered clocks, as nvidia-smi's bit mask
    throttle_mask: int | None = None


def snippet(target: ProbeTarget) -> str:
    """Three queries, as one unknown field makes a whole query fail."""
    return f"""
query() {{ nvidia-smi --query-gpu="$1" --format=csv,noheader,nounits; }}
query {",".join(_FIELDS)} || exit $?
printf '%s\\n' --- ; query index,compute_cap 2>/dev/null
printf '%s\\n' --- ; query index,clocks_event_reasons.active 2>/dev/null ||
  query index,clocks_throttle_reasons.active 2>/dev/null
exit 0
"""


def parse(output: str) -> Reading[tuple[Gpu, ...]]:
    """Rows of the first query, completed by the others'."""
    main, capabilities, throttles = [*output.split("\n---\n"), "", ""][:3]
    capability = _by_index(capabilities)
    throttle = _by_index(throttles)
    gpus = []
    for line in main.splitlines():
        if not line.strip():
            continue
        row = fields(line, len(_FIELDS))
        if row is None or whole(row[0]) is None:
            return Unknown(f"nvidia-smi: {line.strip()[:200]}")
        gpus.append(_gpu(row, capability.get(row[0]), throttle.get(row[0])))
    return Known(tuple(gpus)) if gpus else Unknown("nvidia-smi listed no GPU")


def _gpu(row: list[str], capability: str | None, throttle: str | None) -> Gpu:
    mask = text(throttle or "")
    return Gpu(
        index=int(row[0]),
        uuid=row[1],
        memory_total_mib=whole(row[2]),
        memory_used_mib=whole(row[3]),
        memory_free_mib=whole(row[4]),
        utilization_pct=whole(row[5]),
        temperature_c=whole(row[6]),
        power_w=number(row[7]),
        power_limit_w=number(row[8]),
        clock_sm_mhz=whole(row[9]),
        clock_max_sm_mhz=whole(row[10]),
        pstate=text(row[11]),
        driver=text(row[12]),
        name=row[13],
        compute_capability=text(capability or ""),
        throttle_mask=int(mask, 16) if mask and mask.lower().startswith("0x") else None,
    )


def _by_index(part: str) -> dict[str, str]:
    rows = (fields(line, 2) for line in part.splitlines() if not line.startswith("---"))
    return {row[0]: row[1] for row in rows if row}


FACT: Fact[tuple[Gpu, ...]] = Fact(name="gpus", snippet=snippet, parse=parse, timeout_s=15)
