"""Protected hosts: nothing happens there without an approval."""

from bot.core.domain.finding import Finding, Judgement
from bot.core.planning.situation import Check, Situation, finding


def judge(situation: Situation) -> tuple[Finding, ...]:
    if not situation.host.protected:
        return ()
    return (
        finding(
            "protected_host",
            Judgement.WARN,
            f"{situation.host.name} is protected",
            remedy="an approval is needed",
        ),
    )


CHECK: Check = Check(judge=judge)
