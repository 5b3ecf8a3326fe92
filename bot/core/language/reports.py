"""Scheduled reports: asked for by a rhythm, ended by many words."""

from bot.core.domain.command import Intent
from bot.core.language import lexicon as lex
from bot.core.language import schedule
from bot.core.language.message import ASKING
from bot.core.language.slots import Slots
from bot.core.language.speech import Act

#: what must not go on, behind "do not": "do not post health here"
_POSTING = lex.words(
    "post send report ping show spam notify message update remind need want give get schedule do"
) | frozenset({""})
#: words for one report that are also words for other things
_SINGLE = frozenset({"status", "check", "message", "ping", "post", "update"})


def intent(act: Act, found: Slots) -> Intent | None:
    """SCHEDULE, UNSCHEDULE, or None when the clause is not about reports."""
    words = set(act.clause.words)
    nouns = words & lex.REPORT_NOUNS
    recurring = bool(words & lex.RECURRENCE) and "everything" not in words
    recurring = recurring or (schedule.days_of_range(act.clause.words) is not None and "at" in words)
    asking = act.kind in ASKING
    if _ends(act, words, asking) and nouns and (nouns - _SINGLE or recurring):
        if act.kind == "negated":
            return Intent.UNSCHEDULE if act.verb in _POSTING else None
        if not found.names.positive:
            return Intent.UNSCHEDULE
    if act.verb in ("unschedule", "unsubscribe") and asking:
        return Intent.UNSCHEDULE
    if not asking and act.kind not in ("fragment", "social", "joke"):
        return None
    if recurring and (
        nouns or (act.verb in lex.SCHEDULE_VERBS and (words & lex.HEALTH_WORDS or words >= {"how", "doing"}))
    ):
        return Intent.SCHEDULE
    if recurring and act.verb in ("check", "ping", "monitor", "probe") and found.target:
        return Intent.SCHEDULE
    lists = words & {"list", "show"}
    return Intent.SCHEDULE if act.verb == "schedule" and nouns and asking and not lists else None


def _ends(act: Act, words: set[str], asking: bool) -> bool:
    no_more = "no" in words and "more" in words and "no more" in " ".join(act.clause.words)
    return (asking and act.verb in lex.END_VERBS) or no_more or act.kind == "negated"
