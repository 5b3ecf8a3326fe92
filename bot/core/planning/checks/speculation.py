"""Speculative flags against each other and the model, by the engine's own rules."""

from dataclasses import replace

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Known
from bot.core.facts import model_files
from bot.core.planning.situation import Check, Situation


def judge(situation: Situation) -> tuple[Finding, ...]:
    reading = situation.facts.reading(model_files.FACT)
    config = reading.value.config if isinstance(reading, Known) else None
    findings = situation.engine.check_speculation(situation.line, config)
    version = situation.engine_version()
    known = situation.engine.newer_than_known(version)
    if known is None:
        return findings
    return tuple(_less_sure(one, f"{situation.engine.name} {version}", known) for one in findings)


def _less_sure(finding: Finding, installed: str, known: str) -> Finding:
    """The rules of another version may not hold: they warn, the engine decides."""
    if finding.judgement is not Judgement.REFUSE:
        return finding
    evidence = (*finding.evidence, f"{installed} is installed; the rule is known up to {known}")
    return replace(finding, judgement=Judgement.WARN, evidence=evidence)


CHECK: Check = Check(judge=judge, needs=("model_files", "engine_version"))
