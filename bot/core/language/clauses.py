"""Tokens to clauses: split at punctuation, at words that open a side sentence, and before a further request."""

from bot.core.language import lexicon as lex
from bot.core.language.tokens import Clause, Token

_ENDS = lex.words(". ! ? ; ...")
_BREAKS = lex.words(", : ( ) — ; - |")
_REASON = lex.words("because")
_CONDITION = lex.words("if unless until till while whilst once after before whenever")
_CONTRAST = lex.words("but though although however except")
#: after these words a pronoun opens a side sentence
_WITH_SUBJECT = lex.words("since as so cause that for and or when where")
_PRONOUNS = lex.words("i we it they he she you there someone somebody people users everyone")
_VERBS = (
    (lex.START_VERBS | lex.STOP_VERBS | lex.RESTART_VERBS | lex.PARTICLE_STOP | lex.SWITCH_VERBS | lex.READ_VERBS)
    | lex.SAVE_VERBS
    | lex.words("use try make cancel post send run set change please can could")
)
#: verbs that are nouns as often: after "and" they open a request only with an object behind them
_NOUNY = lex.words(
    "load host process run test tests report status log logs launch profile watch cut call name pin "
    "tag note set use "
    "count print view record question label mark drop put power clear free close end store get have "
    "light roll open stream"
)


def split(tokens: list[Token]) -> list[Clause]:
    """Clauses in order, without their marks."""
    clauses: list[Clause] = []
    current: list[Token] = []
    link, sentence = "", 0

    def flush(end: str, next_link: str) -> None:
        nonlocal current, link, sentence
        if current:
            clauses.append(Clause(current, link=link, end=end, sentence=sentence))
            current = []
            link = next_link
        elif clauses and end in _ENDS:
            clauses[-1].end = end
        if end in _ENDS or end == "\n":
            sentence += 1
            link = ""

    for at, token in enumerate(tokens):
        if token.kind == "newline":
            flush("\n", "")
        elif token.kind == "mark":
            if token.text in _ENDS:
                flush(token.text, "")
            elif token.text == "," and _between_numbers(tokens, at):
                current.append(token)
            elif token.text in _BREAKS:
                flush(token.text, token.text)
            elif token.text in ("=", "&", "*"):
                current.append(token)
        else:
            opened = _opens(tokens, at, current)
            if opened:
                flush("", token.text)
                if opened == "skip":
                    link = token.text
                    continue
                link = token.text
            current.append(token)
    flush("", "")
    return clauses


def _between_numbers(tokens: list[Token], at: int) -> bool:
    return 0 < at < len(tokens) - 1 and tokens[at - 1].text.isdigit() and tokens[at + 1].text[:1].isdigit()


def _opens(tokens: list[Token], at: int, current: list[Token]) -> str:
    """Whether a new clause begins at this token: "" no, "keep" with it, "skip" after it."""
    word = tokens[at].text
    following = [t for t in tokens[at + 1 : at + 5] if t.kind not in ("mark", "newline")]
    after = following[0].text if following else ""
    second = following[1].text if len(following) > 1 else ""
    if tokens[at].span is not None:
        return ""
    if word in _REASON or word in _CONTRAST:
        return "skip"
    if current and _condition_later(tokens, at, current):
        return "keep"
    if word == "if" and any(t.text in _LOOKING for t in current):
        return ""
    if word in _CONDITION and current and not _last_time(word, after, current):
        return "keep"
    if word in _WITH_SUBJECT and after in _PRONOUNS and current:
        if word == "that" and current[-1].text not in lex.START_VERBS:
            return ""  # "the config that we had": part of the name
        if word == "as" and after == "it" and second == "was":
            return ""
        if word in ("and", "or", "that", "for") and not _finite(second):
            return ""
        return "keep" if word in ("when", "where") else "skip"
    if word in ("and", "then", "&") and current:
        while after in ("then", "also", "please", "just", "now", "finally", "maybe", "again") and len(following) > 1:
            following = following[1:]
            after = following[0].text
            second = following[1].text if len(following) > 1 else ""
        if after in _VERBS and (after not in _NOUNY or second in lex.FILLERS or word == "then"):
            return "skip"
        if after in ("do", "not", "never") and second in ("not", *_VERBS):
            return "skip"
        if after in ("stopped", "started", "restarted", "killed") and current:
            return "skip"
    if word in _PRONOUNS and len(current) > 1 and (_finite(after) or after in _SUBJECT_VERBS):
        return "" if _part_of_question(current) else "keep"
    return ""


_SUBJECT_VERBS = lex.words(
    "need want think have hang hangs keep see get am just do know hope guess believe wish still "
    "already really also "
    "never always only forgot said told heard saw tried found suspect"
)


def _finite(word: str) -> bool:
    return word in lex.FINITE or word in lex.PAST_FORMS or word in _SUBJECT_VERBS


def _part_of_question(current: list[Token]) -> bool:
    """ "when did we", "what can i", "should we", "if it": the pronoun is the subject of what is there."""
    last = current[-1].text
    return (
        last in lex.COPULA
        or last in lex.HYPOTHETICAL
        or last in ("can", "do", "did", "does", "will", "that", "what", "which", "if", "when", "whether", "why", "how")
        or last in ("until", "once", "after", "before", "while", "because", "since", "as", "so", "than", "like", "or")
        or last
        in (
            "everything",
            "anything",
            "all",
            "whatever",
            "stuff",
            "things",
            "and",
            "us",
            "not",
            "where",
            "who",
            "unless",
            "whenever",
            "config",
            "one",
        )
        or (last in ("let", "make", "have", "get", "stop", "start", "restart", "kill", "bring", "take", "with"))
    )


_LOOKING = lex.words("show tell know ask say see check remember find let wonder")


def _condition_later(tokens: list[Token], at: int, current: list[Token]) -> bool:
    """ "… when the eval is done", "… as soon as X is free", "… in case it hangs"."""
    word = tokens[at].text
    following = [t.text for t in tokens[at + 1 : at + 9]]
    if word == "as":
        return following[:2] == ["soon", "as"]
    if word == "in":
        return following[:1] == ["case"]
    if word not in ("when", "whenever") or any(t.text in _LOOKING for t in current):
        return False
    return any(w in lex.FINITE for w in following)


def _last_time(word: str, after: str, current: list[Token]) -> bool:
    """ "same as before", "what we had before the upgrade", "after that": the word looks back, it sets no condition."""
    if word in ("before", "after"):
        before = {t.text for t in current}
        return bool(
            before & {"same", "had", "as", "like", "ran", "from", "used", "config", "setup", "what", "day", "the"}
        ) and (not after or after not in _PRONOUNS)
    return False
