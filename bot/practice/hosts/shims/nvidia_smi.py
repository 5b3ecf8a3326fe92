"""nvidia-smi: CSV queries, -L, pmon and the plain table, from gpus.json and the processes that hold memory."""

import os
import sys
import time

from .view import JsonObject, alive, complain, read_json, root

_DRIVER = "580.159.04"
_CUDA = "13.0"
_UNITS = {
    "memory.total": "MiB",
    "memory.used": "MiB",
    "memory.free": "MiB",
    "used_memory": "MiB",
    "used_gpu_memory": "MiB",
    "utilization.gpu": "%",
    "utilization.memory": "%",
    "power.draw": "W",
    "power.limit": "W",
    "clocks.sm": "MHz",
    "clocks.current.sm": "MHz",
    "clocks.max.sm": "MHz",
}
_HEADINGS = {"used_memory": "used_gpu_memory"}


def holdings() -> list[JsonObject]:
    """Processes that hold memory: {"pid", "name", "gpus": {index: MiB}}."""
    found = []
    for path in sorted((root() / "gpu").glob("[0-9]*.json")):
        holding = read_json(path)
        if holding and alive(holding["pid"]):
            found.append(holding)
    return found


def cards() -> list[JsonObject]:
    """All cards with what they show now."""
    content = read_json(root() / "gpu" / "gpus.json") or {"gpus": []}
    held = holdings()
    shown = []
    for card in content["gpus"]:
        used = sum(h["gpus"].get(str(card["index"]), 0) for h in held)
        busy = any(h.get("busy") and str(card["index"]) in h["gpus"] for h in held)
        total = card["memory_mib"]
        shown.append(
            {
                "index": card["index"],
                "uuid": card["uuid"],
                "gpu_uuid": card["uuid"],
                "name": card["name"],
                "gpu_name": card["name"],
                "count": len(content["gpus"]),
                "pci.bus_id": f"00000000:{card['index'] + 1:02X}:00.0",
                "gpu_bus_id": f"00000000:{card['index'] + 1:02X}:00.0",
                "memory.total": total,
                "memory.used": min(total, used + 10 if used else 4),
                "memory.free": max(0, total - used - 620),
                "utilization.gpu": 97 if busy else 0,
                "utilization.memory": 60 if busy else 0,
                "temperature.gpu": 71 if busy else 44 if used else 33,
                "power.draw": "412.31" if busy else "126.87" if used else "31.20",
                "power.limit": f"{card.get('power_limit', 300):.2f}",
                "clocks.sm": 1980 if used else 210,
                "clocks.current.sm": 1980 if used else 210,
                "clocks.max.sm": card.get("clock_mhz", 2100),
                "pstate": "P0" if used else "P8",
                "driver_version": _DRIVER,
                "compute_cap": card.get("compute_cap", "8.6"),
                "clocks_event_reasons.active": "0x0000000000000000" if used else "0x0000000000000001",
                "persistence_mode": "Enabled",
                "ecc.errors.uncorrected.volatile.total": 0,
                "mig.mode.current": "Disabled",
                "pcie.link.gen.current": 5 if used else 1,
                "pcie.link.width.current": 16,
                "serial": "[N/A]",
                "vbios_version": "96.00.74.00.01",
            }
        )
    return shown


def main(arguments: list[str]) -> int:
    """Run with these arguments."""
    options = _options(arguments)
    chosen = [c for c in cards() if options.get("--id", "") in ("", str(c["index"]), c["uuid"])]
    form = options.get("--format", "")
    if "--query-gpu" in options:
        return _rows(chosen, options["--query-gpu"].split(","), form, "Field {!r} is not a valid field to query.")
    if "--query-compute-apps" in options:
        return _rows(
            _apps(chosen), options["--query-compute-apps"].split(","), form, "Field {!r} is not a valid field to query."
        )
    if "-L" in options or "--list-gpus" in options:
        for card in chosen:
            print(f"GPU {card['index']}: {card['name']} (UUID: {card['uuid']})")
        return 0
    if "pmon" in options:
        return _pmon()
    if "--help" in options or "-h" in options:
        print(f"NVIDIA System Management Interface -- v{_DRIVER}")
        return 0
    return _table(chosen)


def _options(arguments: list[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    names = {"-i": "--id", "--id": "--id"}
    rest = list(arguments)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if name in names and not equals and rest:
            value = rest.pop(0)
        options[names.get(name, name)] = value
    return options


def _apps(chosen: list[JsonObject]) -> list[JsonObject]:
    by_index = {str(c["index"]): c for c in chosen}
    return [
        {
            "pid": holding["pid"],
            "name": holding["name"],
            "process_name": holding["name"],
            "used_memory": mib,
            "used_gpu_memory": mib,
            "gpu_uuid": by_index[index]["uuid"],
            "gpu_name": by_index[index]["name"],
            "gpu_bus_id": by_index[index]["gpu_bus_id"],
        }
        for holding in holdings()
        for index, mib in holding["gpus"].items()
        if index in by_index
    ]


def _rows(items: list[JsonObject], fields: list[str], form: str, unknown: str) -> int:
    fields = [f.strip() for f in fields]
    known = set(_UNITS) | {k for c in cards() for k in c} | {"pid", "process_name", "used_memory", "gpu_uuid"}
    for field in fields:
        if field not in known:
            return complain(unknown.format(field), 2)
    if "noheader" not in form:
        heads = [_HEADINGS.get(f, f) for f in fields]
        print(", ".join(h + (f" [{_UNITS[f]}]" if f in _UNITS else "") for h, f in zip(heads, fields, strict=True)))
    units = {} if "nounits" in form else _UNITS
    for item in items:
        print(", ".join(f"{item.get(f, '[N/A]')}" + (f" {units[f]}" if f in units else "") for f in fields))
    return 0


def _pmon() -> int:
    print("# gpu         pid   type     sm    mem    enc    dec    jpg    ofa    command ")
    print("# Idx           #    C/G      %      %      %      %      %      %    name ")
    for holding in holdings():
        for index in holding["gpus"]:
            idle = "C      2      0      -      -      -      -    "
            print(f"{index:>5} {holding['pid']:>10}     {idle}{holding['name'][:15]:15}")
    return 0


def _table(chosen: list[JsonObject]) -> int:
    line = "+" + "-" * 41 + "+" + "-" * 24 + "+" + "-" * 22 + "+"
    wide = "+" + "-" * 89 + "+"
    print(time.strftime("%a %b %e %H:%M:%S %Y       "))
    print(wide)
    print(f"| NVIDIA-SMI {_DRIVER:<23}Driver Version: {_DRIVER:<15}CUDA Version: {_CUDA:<9}|")
    print(line)
    print("| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |")
    print("| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |")
    print("|                                         |                        |               MIG M. |")
    print(line.replace("-", "=").replace("+", "|"))
    for c in chosen:
        power = f"{float(c['power.draw']):.0f}W / {float(c['power.limit']):>4.0f}W"
        memory = f"{c['memory.used']}MiB / {c['memory.total']}MiB"
        print(f"| {c['index']:>3}  {c['name'][:27]:<27}     On  | {c['pci.bus_id']:>18} Off |                    0 |")
        print(
            f"| N/A  {c['temperature.gpu']:>3}C    {c['pstate']:<3}         {power:>14} | {memory:>22} |"
            f"  {c['utilization.gpu']:>5}%      Default |"
        )
        print("|                                         |                        |             Disabled |")
        print(line)
    print()
    print(wide)
    print(f"| {'Processes:':<88}|")
    print("|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |")
    print("|        ID   ID                                                               Usage      |")
    print("|" + "=" * 89 + "|")
    for holding in holdings():
        for index, mib in holding["gpus"].items():
            usage = f"{mib}MiB" if mib < 100_000 else f"{str(mib)[:5]}..."
            print(f"| {index:>4}   N/A  N/A {holding['pid']:>15}      C   {holding['name'][:34]:<34}{usage:>12} |")
    print(wide)
    return 0


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C")
    sys.exit(main(sys.argv[1:]))
