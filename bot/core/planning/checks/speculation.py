"""Speculative flags against each other and the model, by the engine's own rules."""

from bot.core.domain.finding import Finding
from bot.core.domain.reading import Known
from bot.core.facts import model_files
from bot.core.planning.situation import Check, Situation


def judge(situation: Situation) -> tuple[Finding, ...]:
    reading = situation.facts.reading(model_files.FACT)
    config = reading.value.config if isinstance(reading, Known) else None
    return situation.engine.check_speculation(situation.line, config)


CHECK: Check = Check(judge=judge, needs=("model_files",))
