"""Words with their place and role, in clauses."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from bot.core.language.lexicon import CONTRACTIONS

_TOKEN = re.compile(
    r"""
    (?P<channel>\ue000[^\ue001]*\ue001)
  | (?P<code>`[^`\n]+`)
  | (?P<flag>(?<![\w.])--?[A-Za-z][\w.-]*(?:=(?:"[^"\n]*"|'[^'\n]*'|(?:[^\s,;]|,(?=\w[^\s,;=]*(?:[\s,;]|$)))*))?)
  | (?P<json>(?<=[\s=])'\{[^'\n]*\}')
  | (?P<quote>"[^"\n]+"|(?<![\w'])'[^'\n]+'(?!\w))
  | (?P<env>\b(?-i:[A-Z][A-Z0-9_]{2,})=(?:[^\s,;]|,(?=\w[^\s,;=]*(?:[\s,;]|$)))*
        |\b(?:[A-Z][A-Z0-9_]{2,}|[a-z]+_[a-z_]*)=[^\s,;]*)
  | (?P<clock>\b\d{1,2}:\d{2}\s?(?:[ap]\.?m\b\.?)?|\b\d{1,2}\s?[ap]m\b|\b\d{1,2}h\d{2}\b)
  | (?P<person>@[\w.-]+)
  | (?P<grouped>\b\d{1,3}(?:,\d{3})+\b)
  | (?P<word>\#?\w(?:[\w.+/%@'-]*[\w%+])?/?|/[\w./-]*\w|\.\d+)
  | (?P<newline>\n)
  | (?P<mark>\.\.\.|[.,;:!?()=&|<>+*-]|\S)
    """,
    re.VERBOSE | re.IGNORECASE,
)
#: the env alternative must not swallow `port=9000`, written in capitals or not
_ENV = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)


@dataclass(slots=True)
class Token:
    """One word. `text` is lower case and spelled right; `raw` is what was typed."""

    text: str
    raw: str
    #: "word", "mark", "flag", "env", "json", "clock", "channel", "person", "newline", "literal"
    kind: str
    #: place in the normalised text
    start: int
    end: int
    #: number of the code span or quotation that it stands in
    span: int | None = None
    code: bool = False
    #: what the token was used for: "" until a slot takes it
    role: str = ""
    #: how the spelling was corrected: "", "swap" (letters moved, doubled or missing) or "other" (a letter replaced)
    fixed: str = ""


@dataclass(slots=True)
class Clause:
    """A stretch of words between separators. `link` is what joins it to the one before: "", ",", "and", "because" …"""

    tokens: list[Token]
    link: str = ""
    #: the mark that ends it: "." "!" "?" "," ";" ":" ")" or ""
    end: str = ""
    sentence: int = 0
    words: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.words = [t.text for t in self.tokens]


def tokenise(text: str) -> list[Token]:
    """Words of a normalised text; contractions become two words of the same place."""
    return list(_tokens(text, 0, None, False, 0))


def _tokens(text: str, base: int, span: int | None, code: bool, depth: int) -> Iterator[Token]:
    for match in _TOKEN.finditer(text):
        kind, raw = match.lastgroup or "mark", match.group()
        start, end = base + match.start(), base + match.end()
        if kind in ("code", "quote"):
            inner = raw[1:-1]
            number = span if span is not None else base + match.start()
            if depth < 2:
                yield from _tokens(inner, start + 1, number, code or kind == "code", depth + 1)
            continue
        if kind == "env" and not re.match(r"[A-Z_]{3}|ld_|[a-z]+_[a-z_]*preload|dyld_|path_|python", raw):
            name, value = raw.split("=", 1)
            yield Token(name.lower(), name, "word", start, start + len(name), span, code)
            if value:
                yield Token(value.lower(), value, "word", start + len(name) + 1, end, span, code)
            continue
        if kind == "flag":
            raw = raw.rstrip(".,;!?") if "'" not in raw and '"' not in raw else raw
        if kind == "clock":
            yield Token(raw.lower().replace(" ", ""), raw, kind, start, end, span, code)
            continue
        if kind == "grouped":
            kind, raw = "word", raw.replace(",", "")
        lower = raw.lower() if kind in ("word", "mark", "flag") else raw
        if kind == "word" and lower in CONTRACTIONS:
            for part in CONTRACTIONS[lower].split():
                yield Token(part, raw, "word", start, end, span, code)
            continue
        if kind == "word" and lower.endswith("'s"):
            lower = lower[:-2]
        yield Token(lower, raw, kind, start, end, span, code)
