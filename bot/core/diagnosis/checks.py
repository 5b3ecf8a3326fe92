"""Conditions on the numbers of a match, named by rules."""

from collections.abc import Callable, Mapping

Groups = Mapping[str, str]


def _n(groups: Groups, name: str) -> float | None:
    try:
        return float(groups.get(name, "").replace(",", ""))
    except ValueError:
        return None


def _taken_by_another(groups: Groups) -> bool:
    """(free/total GiB): a twelfth of the card or more is in use before this server has loaded anything."""
    free, total = _n(groups, "free"), _n(groups, "total")
    return free is not None and total is not None and total > 0 and (total - free) / total >= 0.08


def _mostly_free(groups: Groups) -> bool:
    return not _taken_by_another(groups)


def _other_processes(groups: Groups) -> bool:
    """PyTorch's own share of what is in use is less than half: somebody else has the rest."""
    free, total, mine = _n(groups, "free"), _n(groups, "total"), _n(groups, "mine")
    if free is None or total is None or mine is None:
        return False
    if groups.get("freeunit", "gib") == "mib":
        free /= 1024
    if groups.get("mineunit", "gib") == "mib":
        mine /= 1024
    used = total - free
    return used - mine > 4 and mine < used / 2


def _little_left(groups: Groups) -> bool:
    """Less than 6 GB free on the card before a byte of the weights is read."""
    available = _n(groups, "avail")
    return available is not None and available < 6


def _few_mib_free(groups: Groups) -> bool:
    free = _n(groups, "free")
    return free is not None and free < 2500


def _negative(groups: Groups) -> bool:
    value = _n(groups, "value")
    return value is not None and value <= 0


def _low_limit(groups: Groups) -> bool:
    value = _n(groups, "value")
    return value is not None and value <= 4096


def _many_restarts(groups: Groups) -> bool:
    value = _n(groups, "count")
    return value is not None and value >= 4


def _accept_none(groups: Groups) -> bool:
    """Not one draft token in ten is accepted."""
    value = _n(groups, "accept")
    return value is not None and value <= 1.1


def _accept_low(groups: Groups) -> bool:
    value = _n(groups, "accept")
    return value is not None and 1.1 < value <= 1.6


def _rate_low(groups: Groups) -> bool:
    value = _n(groups, "rate")
    return value is not None and value < 0.2


def _power_capped(groups: Groups) -> bool:
    limit, default = _n(groups, "limit"), _n(groups, "default")
    return limit is not None and default is not None and limit < default * 0.95


def _crawling(groups: Groups) -> bool:
    """At least one request, and almost no tokens."""
    speed, requests = _n(groups, "speed"), _n(groups, "requests")
    return speed is not None and requests is not None and requests >= 1 and 0 < speed < 5


def _few_tokens(groups: Groups) -> bool:
    speed = _n(groups, "speed")
    return speed is not None and 0 < speed < 5


def _frozen(groups: Groups) -> bool:
    speed, requests = _n(groups, "speed"), _n(groups, "requests")
    return speed == 0 and requests is not None and requests >= 1


def _stuck_clock(groups: Groups) -> bool:
    clock, top = _n(groups, "clock"), _n(groups, "top")
    return clock is not None and top is not None and clock < top * 0.6


def _heartbeat_old(groups: Groups) -> bool:
    """The engine's last sign of life is a minute or more before the health check (HH:MM:SS, same day)."""
    seconds = []
    for name in ("tick", "beat"):
        parts = groups.get(name, "").split(":")
        if len(parts) != 3:
            return False
        seconds.append(int(parts[0]) * 3600 + int(parts[1]) * 60 + int(parts[2]))
    return (seconds[0] - seconds[1]) % 86400 >= 60


def _pointer_size(groups: Groups) -> bool:
    size = _n(groups, "size")
    return size is not None and 100 <= size <= 200


CHECKS: Mapping[str, Callable[[Groups], bool]] = {
    "taken_by_another": _taken_by_another,
    "mostly_free": _mostly_free,
    "other_processes": _other_processes,
    "little_left": _little_left,
    "few_mib_free": _few_mib_free,
    "negative": _negative,
    "low_limit": _low_limit,
    "many_restarts": _many_restarts,
    "accept_none": _accept_none,
    "accept_low": _accept_low,
    "rate_low": _rate_low,
    "power_capped": _power_capped,
    "crawling": _crawling,
    "few_tokens": _few_tokens,
    "frozen": _frozen,
    "stuck_clock": _stuck_clock,
    "pointer_size": _pointer_size,
    "heartbeat_old": _heartbeat_old,
}
