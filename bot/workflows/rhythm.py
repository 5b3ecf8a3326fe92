"""A schedule's rhythm in words: "every 30 minutes", "daily at 08:30 (Europe/Berlin)"."""

import re

from bot.core.domain.operation import Schedule

_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_UNITS = ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))
_PLAIN = re.compile(r"(\d+) (\d+) \* \* (\*|[0-7](?:-[0-7])?(?:,[0-7])*)")


def rhythm(schedule: Schedule) -> str:
    """In words; a cron line that has no short name is shown as it is."""
    if schedule.every_s is not None:
        for size, unit in _UNITS:
            if schedule.every_s % size == 0:
                count = schedule.every_s // size
                return f"every {unit}" if count == 1 else f"every {count} {unit}s"
    plain = _PLAIN.fullmatch(schedule.cron or "")
    if plain is None:
        return f"at cron {schedule.cron} ({schedule.time_zone})"
    at = f"{int(plain[2]):02}:{int(plain[1]):02} ({schedule.time_zone})"
    if plain[3] == "*":
        return f"daily at {at}"
    if plain[3] == "1-5":
        return f"on weekdays at {at}"
    days = [" to ".join(_DAYS[int(end)] for end in part.split("-")) for part in plain[3].split(",")]
    return f"every {', '.join(days)} at {at}"
