"""A command, variables, folder and account that a process can be given; a wrong one may come from a found launch."""

from bot.core.domain.finding import Finding, Judgement
from bot.core.domain.startable import startable_faults
from bot.core.planning.situation import Check, Situation, finding


def judge(situation: Situation) -> tuple[Finding, ...]:
    one = situation.revision
    faults = startable_faults(
        argv=one.argv, env=one.env, cwd=one.cwd, user=one.user, wrappers=one.wrappers, container=one.container
    )
    return tuple(
        finding("command", Judgement.REFUSE, fault, remedy="correct the launch config, then start it again")
        for fault in faults
    ) or (finding("command", Judgement.OK, "the command can be started as it is written"),)


CHECK: Check = Check(judge=judge, needs=())
