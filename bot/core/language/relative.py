"""Settings said by what they were: "double the context", "one more step", "2 draft tokens less", "more context"."""

from bot.core.domain.command import Relative
from bot.core.language import lexicon as lex
from bot.core.language.numbers import number
from bot.core.language.overrides import Settings, free, phrase, take, typed
from bot.core.language.setting_names import Number
from bot.core.language.tokens import Token

_FACTORS = {
    "double": 2.0, "doubled": 2.0, "twice": 2.0, "2x": 2.0, "half": 0.5, "halve": 0.5, "halved": 0.5, "halving": 0.5,
    "doubling": 2.0, "triple": 3.0, "tripled": 3.0, "3x": 3.0, "4x": 4.0, "quadruple": 4.0, "quarter": 0.25,
}  # fmt: skip
_MORE = lex.words("more extra additional further")
_LESS = lex.words("less fewer")
_LONGER = _MORE | lex.words("bigger larger longer higher greater wider")
_SHORTER = _LESS | lex.words("smaller shorter lower tighter")
_RAISE = lex.words("increase raise bump up grow extend add expand push")
_LOWER = lex.words("decrease reduce lower drop cut shrink shorten subtract remove")
_SMALL = lex.words("the a an of its our that this as much many number amount current")
_ARTICLES = lex.words("the a an its our that this current of")
#: a noun that says a part of the GPU's memory, not a setting: half of it is 0.5
_WHOLE_MEMORY = lex.words("memory mem vram gpu")
_NEVER = frozenset({"port"})


def read(tokens: list[Token], settings: Settings) -> None:
    """Changes with an amount, before plain numbers are read. Their tokens get a role."""
    for at in range(len(tokens)):
        found = phrase(tokens, at)
        if found is None or found[0].name in _NEVER:
            continue
        rule, length = found
        end = at + length
        _factor(tokens, at, end, rule, settings) or _amount(tokens, at, end, rule, settings) or _by(
            tokens, at, end, rule, settings
        )


def read_open(tokens: list[Token], settings: Settings) -> None:
    """Changes without an amount, after plain numbers were read: which value is asked."""
    for at in range(len(tokens)):
        found = phrase(tokens, at)
        if found is None or found[0].name in _NEVER or found[0].name in settings.values:
            continue
        before = _back(tokens, at - 1, _ARTICLES)
        if before < 0 or not free(tokens[before]):
            continue
        word, earlier = tokens[before].text, tokens[before - 1].text if before else ""
        compares = word in _LONGER | _SHORTER and before == at - 1 and earlier not in ("no", "any", "not")
        if compares or word in (_RAISE | _LOWER) - {"up", "remove", "add", "drop", "cut", "push"}:
            piece = tokens[before : at + found[1]]
            settings.faults.append(("no_value", found[0].name, typed(piece)))
            take(piece)


def _back(tokens: list[Token], at: int, words: frozenset[str]) -> int:
    while at >= 0 and free(tokens[at]) and tokens[at].text in words:
        at -= 1
    return at


def _put(settings: Settings, rule: Number, piece: list[Token], *, factor: float = 1.0, add: float = 0.0) -> bool:
    change = Relative(name=rule.name, factor=factor, add=add, words=typed(piece))
    settings.relative = (*(r for r in settings.relative if r.name != rule.name), change)
    take(piece)
    return True


def _factor(tokens: list[Token], at: int, end: int, rule: Number, settings: Settings) -> bool:
    """ "double the context", "twice as many steps", "half of the mem fraction", "context doubled", "3 times the …"."""
    before = _back(tokens, at - 1, _SMALL)
    if before >= 0 and free(tokens[before]):
        word = tokens[before].text
        part = rule.fraction and {t.text for t in tokens[at:end]} <= _WHOLE_MEMORY | {"of", "the"}
        if word in _FACTORS and not part:
            return _put(settings, rule, tokens[before:end], factor=_FACTORS[word])
        times = number(tokens[before - 1].text) if word == "times" and before else None
        if times:
            return _put(settings, rule, tokens[before - 1 : end], factor=times)
    if end < len(tokens) and free(tokens[end]) and tokens[end].text in ("doubled", "halved", "tripled"):
        return _put(settings, rule, tokens[at : end + 1], factor=_FACTORS[tokens[end].text])
    return False


def _value(token: Token) -> float | None:
    if token.text in ("a", "an", "another"):
        return 1.0
    return None if token.text in ("half", "hundred") or token.text.endswith("%") else number(token.text)


def _amount(tokens: list[Token], at: int, end: int, rule: Number, settings: Settings) -> bool:
    """ "one more step", "an extra step", "2 steps more", "add 2 steps", "+1 step", "another step"."""
    before = tokens[at - 1] if at else None
    if before is None or not free(before):
        return False
    second = tokens[at - 2] if at > 1 and free(tokens[at - 2]) else None
    value = _value(before)
    after = tokens[end].text if end < len(tokens) and free(tokens[end]) else ""
    if before.text in _MORE | _LESS and second is not None and (said := _value(second)):
        sign = 1 if before.text in _MORE else -1
        return _put(settings, rule, tokens[at - 2 : end], add=sign * said)
    if not value:
        return False
    if before.text == "another" and not rule.fraction:
        return _put(settings, rule, tokens[at - 1 : end], add=1.0)
    if after in _MORE | _LESS:
        return _put(settings, rule, tokens[at - 1 : end + 1], add=value if after in _MORE else -value)
    signed = second is not None and second.text in ("+", "add", "plus", "-", "minus", "subtract")
    if second is not None and signed and not (second.text == "-" and at > 2 and free(tokens[at - 3])):
        adds = second.text in ("+", "add", "plus")
        return _put(settings, rule, tokens[at - 2 : end], add=value if adds else -value)
    return False


def _by(tokens: list[Token], at: int, end: int, rule: Number, settings: Settings) -> bool:
    """ "increase the context by 16k", "lower the mem fraction by 0.05", "steps + 1", "reduce the context by half"."""
    if end + 1 >= len(tokens) or not free(tokens[end]) or not free(tokens[end + 1]):
        return False
    sign, value = tokens[end].text, tokens[end + 1]
    if sign in ("+", "plus") and (said := _value(value)):
        return _put(settings, rule, tokens[at : end + 2], add=said)
    before = _back(tokens, at - 1, _ARTICLES)
    verb = tokens[before].text if before >= 0 else ""
    if sign != "by" or verb not in _RAISE | _LOWER:
        return False
    piece = tokens[before : end + 2]
    if value.text == "half":
        return _put(settings, rule, piece, factor=0.5 if verb in _LOWER else 1.5)
    if value.text.endswith("%") and not rule.fraction and (share := number(value.text)):
        return _put(settings, rule, piece, factor=1 - share if verb in _LOWER else 1 + share)
    if said := _value(value):
        return _put(settings, rule, piece, add=said if verb in _RAISE else -said)
    settings.faults.append(("no_value", rule.name, typed(piece)))
    take(piece)
    return True
