"""The installed engine knows the model's architecture, and may run code that the model brings along."""

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.reading import Known, Unknown
from bot.core.facts import architecture, model_files
from bot.core.planning.situation import Check, Situation, finding, unknown


def judge(situation: Situation) -> tuple[Finding, ...]:
    reading = situation.facts.reading(architecture.FACT)
    files = situation.facts.reading(model_files.FACT)
    if isinstance(files, Known) and files.value.path.endswith(".gguf"):
        return ()
    if isinstance(reading, Unknown):
        return unknown("architecture", "whether the engine knows the model's architecture", reading.reason)
    names, found = reading.value.names, reading.value.found
    if not names:
        return unknown("architecture", "the model's architecture", "config.json names none")
    if not any(name in found for name in names):
        return (
            finding(
                "architecture",
                Judgement.WARN,
                f"the installed {situation.engine.name} does not speak of {', '.join(names)}",
                remedy="a newer engine may know it; some engines fall back to Transformers, much slower",
            ),
        )
    own_code = isinstance(files, Known) and (files.value.config or {}).get("auto_map")
    if own_code and "trust-remote-code" not in situation.line.flags:
        return (
            finding(
                "architecture",
                Judgement.WARN,
                "the model brings code of its own and the launch does not allow it",
                "config.json has auto_map",
                remedy="add --trust-remote-code if you trust the model's source and the start fails without",
            ),
        )
    evidence = tuple(f"{name}: {file}" for name, file in found.items())
    return (finding("architecture", Judgement.OK, f"{', '.join(names)} is known", *evidence),)


CHECK: Check = Check(judge=judge, needs=("architecture", "model_files"))
