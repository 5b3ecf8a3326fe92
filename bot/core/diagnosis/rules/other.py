"""Lines that alarm without harm."""

from bot.core.diagnosis.rule import Rule

RULES: tuple[Rule, ...] = (
    Rule(
        kind="benign_warning",
        weight=60,
        pattern=r"this (?:warning|error|message) (?:is (?:normal|expected|harmless)|can be (?:safely )?ignored)"
        r"|you can (?:safely )?ignore this",
        never=r"traceback \(most|exiting due to",
        cause="The alarming line says itself that it is normal; the server goes on after it.",
    ),
)
