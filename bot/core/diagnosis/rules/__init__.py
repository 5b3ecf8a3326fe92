"""The rules, one table per family. A rule names a mechanism: what some software prints when that thing happens."""

from bot.core.diagnosis.rule import Rule
from bot.core.diagnosis.rules import communication, environment, flags, host, memory, model, other, slow

RULES: tuple[Rule, ...] = (
    *memory.RULES,
    *flags.RULES,
    *model.RULES,
    *environment.RULES,
    *host.RULES,
    *communication.RULES,
    *slow.RULES,
    *other.RULES,
)
