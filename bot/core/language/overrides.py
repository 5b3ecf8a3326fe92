"""Settings said in words: "64k context", "tp 2", "without cuda graphs". Each token used gets the role "override"."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.core.domain.command import Relative
from bot.core.language import lexicon as lex
from bot.core.language.numbers import is_k, number, whole
from bot.core.language.setting_names import KINDS, NUMBERS, Number
from bot.core.language.tokens import Token

ROLE = "override"
_GLUE = lex.words("= : of to at with is a the size length limit count up value down")


@dataclass(slots=True)
class Settings:
    """What was found. `faults`: (code, name, words)."""

    values: dict[str, Any] = field(default_factory=dict)
    faults: list[tuple[str, str, str]] = field(default_factory=list)
    words: dict[str, str] = field(default_factory=dict)
    #: changes of what a config has; the config gives the values
    relative: tuple[Relative, ...] = ()

    def put(self, name: str, value: object, words: str) -> None:
        """Set a value; another value for the same name is a contradiction."""
        if name in self.values and self.values[name] != value:
            self.faults.append(("contradiction", name, words))
        self.values[name] = value
        self.words[name] = words


_PHRASES = sorted(
    ((tuple(noun.split()), rule) for rule in NUMBERS for noun in rule.nouns), key=lambda p: len(p[0]), reverse=True
)
#: first word -> the phrases that begin so, longest first
_BY_FIRST: dict[str, list[tuple[tuple[str, ...], Number]]] = {}
for _words, _rule in _PHRASES:
    _BY_FIRST.setdefault(_words[0], []).append((_words, _rule))
_GLUED = re.compile(r"(tp|dp|ctx|port|topk)[-_]?(\d+k?)")


def read(tokens: list[Token], settings: Settings) -> None:
    """Find settings among the tokens that have no role yet."""
    for step in (_numbers, _cuda_graphs, _kinds, _gpus, _lone_k):
        step(tokens, settings)


def typed(tokens: list[Token]) -> str:
    """The words as they were typed."""
    return " ".join(t.raw for t in tokens)


def take(tokens: list[Token]) -> None:
    """Mark tokens as used by a setting."""
    for token in tokens:
        token.role = ROLE


def free(token: Token) -> bool:
    """Whether no slot has used a token yet."""
    return not token.role and token.kind in ("word", "clock", "mark")


def _numbers(tokens: list[Token], settings: Settings) -> None:
    at = 0
    while at < len(tokens):
        match = _GLUED.fullmatch(tokens[at].text) if free(tokens[at]) else None
        if match and (rule := next((r for p, r in _PHRASES if p == (match[1],)), None)):
            _put(settings, rule, match[2], [tokens[at]])
            at += 1
            continue
        found = phrase(tokens, at)
        at += _around(tokens, at, *found, settings) if found else 1


_JOINED = {"".join(words): rule for words, rule in reversed(_PHRASES)}


def phrase(tokens: list[Token], at: int) -> tuple[Number, int] | None:
    """The setting that is named at `at`, and by how many tokens."""
    if free(tokens[at]) and ("-" in tokens[at].text or "_" in tokens[at].text or len(tokens[at].text) > 8):
        rule = _JOINED.get(re.sub(r"[-_]", "", tokens[at].text))
        if rule is not None:
            return rule, 1
    if not free(tokens[at]):
        return None
    for words, rule in _BY_FIRST.get(tokens[at].text, ()):
        piece = tokens[at : at + len(words)]
        if len(piece) == len(words) and all(free(t) and t.text == w for t, w in zip(piece, words, strict=True)):
            return rule, len(words)
    return None


def _around(tokens: list[Token], at: int, rule: Number, length: int, settings: Settings) -> int:
    """The number beside a noun: before it ("3 steps"), else after it ("steps = 3"). Gives how far to go on."""
    before = at - 1
    while (
        before >= 0
        and free(tokens[before])
        and tokens[before].text in ("of", "the", "gpu", "speculative", "a", "max", "x", "only")
    ):
        before -= 1
    first = tokens[before] if before >= 0 else None
    after = at + length
    while after < len(tokens) and free(tokens[after]) and tokens[after].text in _GLUE | {"please", ","}:
        after += 1
    last = tokens[after] if after < len(tokens) else None
    takes_after = rule.after and last is not None and free(last) and _fits(rule, last.text)
    takes_before = rule.before and first is not None and free(first) and _fits(rule, first.text)
    if takes_before and takes_after and last is not None and _belongs_to_next(tokens, after):
        takes_after = False
    if takes_before and first is not None and not (takes_after and rule.name == "tensor_parallel"):
        _put(settings, rule, first.text, tokens[before : at + length])
        return length
    if takes_after and last is not None:
        _put(settings, rule, last.text, tokens[at : after + 1])
        return after + 1 - at
    return length


def _belongs_to_next(tokens: list[Token], at: int) -> bool:
    """Whether the number at `at` has its own noun behind it: "3 steps 4 draft tokens"."""
    return at + 1 < len(tokens) and phrase(tokens, at + 1) is not None


def _fits(rule: Number, text: str) -> bool:
    if text in ("half", "zero", "hundred") and not rule.fraction:
        return text == "zero"
    return number(text) is not None and (rule.fraction or whole(text) is not None)


def _put(settings: Settings, rule: Number, text: str, tokens: list[Token]) -> None:
    value = number(text) or 0.0
    if rule.fraction and text == "half":
        value = 0.5
    if rule.fraction and 1.0 < value <= 100.0:
        value = round(value / 100.0, 6)
    if not rule.low <= value <= rule.high:
        settings.faults.append(("bad_value", rule.name, text))
    else:
        settings.put(rule.name, value if rule.fraction else int(value), typed(tokens))
    take(tokens)


_ON = lex.words("on enabled enable with true use using")
_OFF = lex.words("off disabled disable without no not false skip")


def _cuda_graphs(tokens: list[Token], settings: Settings) -> None:
    for at, token in enumerate(tokens):
        if not free(token):
            continue
        following = tokens[at + 1].text if at + 1 < len(tokens) else ""
        graphs = token.text in ("cudagraph", "cudagraphs", "cuda-graph", "cuda-graphs", "cuda_graphs", "cuda_graph")
        length = 1 if graphs else 2
        eager = token.text in ("eager", "enforce-eager") or (token.text, following) == ("enforce", "eager")
        if not graphs and not eager and not (token.text == "cuda" and following in ("graph", "graphs")):
            continue
        near = tokens[max(0, at - 3) : at] + tokens[at + length : at + length + 2]
        off = any(t.text in _OFF for t in near if free(t))
        on = eager or any(t.text in _ON for t in near if free(t))
        if on or off:
            used = [t for t in near if t.text in _OFF | _ON | {"capture"} and free(t)]
            settings.put("cuda_graphs", eager == off if eager else not off, typed(tokens[at : at + length]))
            take([*used, *tokens[at : at + length]])
            if eager and at + length < len(tokens) and tokens[at + 1].text == "mode":
                take([tokens[at + 1]])


def _kinds(tokens: list[Token], settings: Settings) -> None:
    """Settings whose value is a word."""
    for at, token in enumerate(tokens):
        if not free(token):
            continue
        for names, values, setting, mapping in KINDS:
            both = f"{token.text} {_next(tokens, at)}" in names
            if both or token.text in names:
                length = 2 if both else 1
                _kind(tokens, at, length, values, setting, mapping, settings)
                break
    _bare_dtype(tokens, settings)
    _served_name(tokens, settings)


def _next(tokens: list[Token], at: int) -> str:
    return tokens[at + 1].text if at + 1 < len(tokens) else ""


def _kind(
    tokens: list[Token],
    at: int,
    length: int,
    values: frozenset[str],
    setting: str,
    mapping: Mapping[str, str],
    into: Settings,
) -> None:
    """The value just before the noun, or after it past small words."""
    after = at + length
    while after < len(tokens) and tokens[after].text in _GLUE | {"dtype", "in", "as", "type", "backend", "using"}:
        after += 1
    for place in (at - 1, after):
        if 0 <= place < len(tokens) and free(tokens[place]) and tokens[place].text in values:
            value = tokens[place].text
            used = tokens[min(place, at) : max(place + 1, at + length)]
            into.put(setting, mapping.get(value, value), typed(used))
            take(used)
            return


def _bare_dtype(tokens: list[Token], settings: Settings) -> None:
    for at, token in enumerate(tokens):
        if free(token) and token.text in lex.DTYPES and token.text != "half":
            before = tokens[at - 1].text if at else ""
            if before in ("in", "with", "as", "at", "use", "using", "and", ",", "to") or at == len(tokens) - 1:
                settings.put("dtype", lex.DTYPES[token.text], token.raw)
                take([token])
        elif at and free(token) and token.text in lex.ATTENTION_BACKENDS - {"wave", "triton"}:
            if tokens[at - 1].text not in ("with", "use", "using", "to"):
                continue
            settings.put("attention_backend", token.text, token.raw)
            take([token])


_SERVED = re.compile(
    r"(?:served?|serve it|expose|exposed|expose it) as|served (?:model )?name|model name|as model name"
    r"|under (?:the )?name"
)


def _served_name(tokens: list[Token], settings: Settings) -> None:
    words = [t.text if free(t) else "\x00" for t in tokens]
    for at in range(len(words)):
        for length in (3, 2):
            piece = " ".join(words[at : at + length])
            if _SERVED.fullmatch(piece):
                place = at + length
                while place < len(tokens) and tokens[place].text in _GLUE | {"model", "name", "it"}:
                    place += 1
                if place < len(tokens) and re.fullmatch(r"[A-Za-z0-9][\w.:/-]{0,95}", tokens[place].raw):
                    settings.put("served_name", tokens[place].raw, typed(tokens[at : place + 1]))
                    take(tokens[at : place + 1])
                    return
    _served_as(tokens, settings)


def _served_as(tokens: list[Token], settings: Settings) -> None:
    """ "serve X as NAME"."""
    for at, token in enumerate(tokens[:-1]):
        earlier = {t.text for t in tokens[:at]}
        name = tokens[at + 1]
        if (
            token.text != "as"
            or not free(token)
            or not free(name)
            or not earlier & {"serve", "expose", "host", "publish"}
            or "same" in earlier
        ):
            continue
        if name.text not in lex.FILLERS | lex.COMMON and re.fullmatch(r"[A-Za-z0-9][\w.:/-]{0,95}", name.raw):
            settings.put("served_name", name.raw, typed(tokens[at : at + 2]))
            take(tokens[at : at + 2])
            return


_GPU_LIST = re.compile(r"\d{1,2}(?:[,-]\d{1,2})*")


def _gpus(tokens: list[Token], settings: Settings) -> None:
    """ "gpus 0,1", "gpu 4-7", "on gpus 2 and 3" are GPU numbers; "on 2 gpus" is a tensor-parallel size."""
    for at, token in enumerate(tokens):
        if not free(token) or token.text not in ("gpu", "gpus", "cards", "devices", "card"):
            continue
        chosen: list[int] = []
        place = at + 1
        while place < len(tokens):
            if free(tokens[place]) and _GPU_LIST.fullmatch(tokens[place].text):
                chosen += _expand(tokens[place].text)
            elif not (
                tokens[place].text in (",", "and", "&", "-", "to", "#", "=")
                and place + 1 < len(tokens)
                and _GPU_LIST.fullmatch(tokens[place + 1].text)
            ):
                break
            elif tokens[place].text in ("-", "to") and chosen:
                chosen += range(chosen[-1] + 1, int(re.split(r"[,-]", tokens[place + 1].text)[0]))
            place += 1
        if chosen:
            settings.put("gpus", ",".join(map(str, chosen)), typed(tokens[at:place]))
            take(tokens[at:place])
            continue
        before = tokens[at - 1] if at else None
        if (
            before is not None
            and free(before)
            and (count := whole(before.text))
            and 1 <= count <= 64
            and (token.text not in ("gpu", "card") or count == 1)
        ):
            near = {t.text for t in tokens[max(0, at - 4) : at]}
            if (
                near & {"on", "with", "across", "over", "using", "use", "all"}
                and "tensor_parallel" not in settings.values
            ):
                settings.put("tensor_parallel", count, typed(tokens[at - 1 : at + 1]))
                take(tokens[at - 1 : at + 1])


def _expand(text: str) -> list[int]:
    found: list[int] = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        found += range(int(low), int(high or low) + 1)
    return found


def _lone_k(tokens: list[Token], settings: Settings) -> None:
    """ "with 64k": tokens of context, when nothing else is said about it."""
    if "context_length" in settings.values:
        return
    for at, token in enumerate(tokens):
        if (
            free(token)
            and is_k(token.text)
            and (
                tokens[at - 1].text in ("with", "at", "to", "and", ",", "it", "for", "@")
                if at
                else all(t.text in lex.POLITE for t in tokens[1:])
            )
        ):
            _put(settings, next(r for r in NUMBERS if r.name == "context_length"), token.text, [token])


Reader = Callable[[list[Token], Settings], None]
