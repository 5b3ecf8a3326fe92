"""Code spans and quotations: a name in backticks is part of the request, a whole command is only talked about."""

from itertools import groupby

from bot.core.language import lexicon as lex
from bot.core.language.speech import ACTION_VERBS, classify
from bot.core.language.tokens import Clause, Token


def unquote(tokens: list[Token]) -> tuple[list[Token], tuple[str, ...], bool]:
    """(tokens without quoted commands, the quoted texts, whether a quoted command is the whole message)."""
    spans = {t.span for t in tokens if t.span is not None}
    if not spans:
        return tokens, (), False
    outside = [t for t in tokens if t.span is None and t.kind not in ("mark", "newline") and t.text not in lex.OPENERS]
    quoted: list[str] = []
    dropped: set[int] = set()
    for span, group in groupby([t for t in tokens if t.span is not None], key=lambda t: t.span):
        inner = list(group)
        if span is not None and _is_command(inner):
            quoted.append(" ".join(t.raw for t in inner))
            dropped.add(span)
    if not dropped:
        return tokens, (), False
    if not outside:
        for token in tokens:
            token.span = None
        return tokens, (), True
    return [t for t in tokens if t.span not in dropped], tuple(quoted), False


def _is_command(inner: list[Token]) -> bool:
    words = [t for t in inner if t.kind != "mark"]
    if not words:
        return False
    act = classify(Clause(words))
    acts = act.kind in ("request", "wish", "desire", "negated", "hypothetical") and (
        act.verb in ACTION_VERBS or act.verb in lex.PARTICLE_STOP | lex.PARTICLE_START
    )
    return acts and (len(words) > 1 or words[0].text in ACTION_VERBS)
