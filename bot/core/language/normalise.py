"""What Slack sends as plain text: escapes, mentions, links and marks undone; quotes taken out; tricks noticed."""

import re
import unicodedata
from dataclasses import dataclass

from bot.core.language import lexicon as lex

#: longer texts are never acted on, characters
LONGEST = 1500
_PRIVATE_OPEN, _PRIVATE_CLOSE = "\ue000", "\ue001"

_SMART = str.maketrans(
    {
        "\u2018": "'", "\u2019": "'", "\u201a": "'", "\u201b": "'", "\u2032": "'", "\u00b4": "'",
        "\u201c": '"', "\u201d": '"', "\u201e": '"', "\u00ab": '"', "\u00bb": '"', "\u2033": '"',
        "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2212": "-",
        "\u2026": "...", "\u00a0": " ", "\u202f": " ", "\u2007": " ", "\u2009": " ", "\u3000": " ",
        "\u2192": "->", "\u27a1": "->", "\u00d7": "x", "\r": "\n", "\t": " ", "\u2028": "\n", "\u2029": "\n",
        "\ufe0f": "", "\u00bf": "", "\u00a1": "",
    }
)  # fmt: skip

#: letters of other scripts that look like Latin ones (Unicode confusables, the single-letter part)
_LOOKALIKES = dict(
    zip(
        "аеорсухѕіјԁһԛԝкмтвнгАВЕКМНОРСТУХЅІЈԚԜαοτνρικυχεΑΒΕΖΗΙΚΜΝΟΡΤΥΧɡɑıꜱօոսցհԍӏ",
        "aeopcyxsijdhqwkmtbhrABEKMHOPCTYXSIJQWaotvpikuxeABEZHIKMNOPTYXgaisonughGl",
        strict=False,
    )
)

_MENTION = re.compile(r"<@([A-Z0-9]+)(?:\|[^>]*)?>")
_CHANNEL = re.compile(r"<#([A-Z0-9]+)(?:\|([^>]*))?>")
_SPECIAL = re.compile(r"<!([^>]*)>")
_LINK = re.compile(r"<((?:https?|mailto|tel):[^|>]*)(?:\|([^>]*))?>")
_EMOJI = re.compile(r"(?<![\w:]):[a-z0-9_+'-]*[a-z_+][a-z0-9_+'-]*:(?![\w:])", re.IGNORECASE)
_EMOTICON = re.compile(
    r"(?:(?<=\s)|^)(?:[:;=8xX][-']?[()DPpoO/\\|\]\[3*]+|<3|\^\^|:'\(|>:\(|\\o/|¯\\_\(ツ\)_/¯)(?=\s|$|[.,!?])"
)
_STRIKE = re.compile(r"(?<![\w~])~(?=\S)([^~\n]+)(?<=\S)~(?![\w~])")
_MARKS = re.compile(r"(?<![\w*_`])([*_])(?=\S)([^*_\n`]+?)(?<=\S)\1(?![\w*_])")
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
#: a line of a pasted conversation
_SAID_BY = re.compile(
    r"\s*(?:\[[^\]]{1,30}\]\s*)?@?[A-Z][\w.-]{1,20}(?: [A-Z][\w.]{1,20})?\s*(?:[\[(][^\])]{1,30}[\])])?:\s+\S"
    r"|\s*\w{2,20}\s+\[?\d{1,2}:\d{2}(?:\s?[AP]M)?\]?\s*(?:$|\S)"
)
_ARROW = re.compile(r"(?<=[\w\s])->(?=[\w\s])|(?<=\s)=>(?=\s)")
_LONG_DASH = re.compile(r"(?:(?<=\s)|^)[\u2013\u2014](?=[A-Za-z]{2,}[\w-]*)")
_DASH = re.compile(r"\s*[\u2013\u2014]\s*")
#: what a shell would act on, outside quotes of ours
_SHELL = re.compile(r"\$[({\w]|&&|\|\||[|\\`{}]|>>|<<|>|<(?!-)|['\"]\s*=\s*['\"]|\x00|\.\./|%[0-9a-fA-F]{2}")


#: programs that a pasted second command begins with
_PROGRAMS = lex.words(
    "rm curl wget sh bash zsh dash sudo su dd mkfs chmod chown nc ncat python python3 perl ruby eval exec "
    "export echo touch mv cp ls cat tee scp ssh poweroff init systemctl docker podman kubectl crontab "
    "nohup shutdown reboot source id whoami env printenv drop"
)
#: what a sentence goes on with behind ";"
_PROSE = (
    lex.FILLERS
    | lex.COMMON
    | lex.OPENERS
    | lex.SUBJECTS
    | lex.POLITE
    | lex.START_VERBS
    | lex.STOP_VERBS
    | lex.RESTART_VERBS
    | lex.READ_VERBS
    | lex.CHANGE_VERBS
    | frozenset(lex.CONTRACTIONS)
    | {"because"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Normalised:
    """Text to be read. Private-use characters frame what Slack marked: \\ue000C123|name\\ue001 is a channel."""

    text: str
    #: codes with the characters or words: "hidden_characters", "lookalike_letters", "shell_characters", "too_long",
    #: "control_characters"
    suspicions: tuple[tuple[str, str], ...] = ()
    #: lines that were quoted, code blocks, struck text
    quoted: tuple[str, ...] = ()
    #: the message is to another person
    other_person: bool = False
    #: several lines of code or a quote were all there was
    only_quoted: bool = False


def normalise(text: str, bot_user: str | None = None) -> Normalised:
    """Undo Slack's markup. Suspicious characters are taken out and reported."""
    suspicions: list[tuple[str, str]] = []
    if len(text) > LONGEST:
        suspicions.append(("too_long", str(len(text))))
        text = text[:LONGEST]
    text = _hidden(text, suspicions)
    text, other_person = _mentions(text, bot_user)
    text = _CHANNEL.sub(lambda m: f"{_PRIVATE_OPEN}{m.group(1)}|{m.group(2) or ''}{_PRIVATE_CLOSE}", text)
    text = _SPECIAL.sub(" ", text)
    text = _LINK.sub(lambda m: m.group(2) or m.group(1), text)
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    text = _LONG_DASH.sub("--", text).translate(_SMART)
    text = _lookalikes(text, suspicions)
    quoted: list[str] = []
    text = _quotes(text, quoted)
    text = _EMOJI.sub(" ", text)
    text = _EMOTICON.sub(" ", text)
    text = _MARKS.sub(lambda m: m.group(2), text)
    text = _DASH.sub(" , ", _ARROW.sub(" to ", text))
    text = "".join(" " if _is_symbol(c) else c for c in text)
    if found := _shell(_without_spans(text)):
        suspicions.append(("shell_characters", found))
    return Normalised(
        text=text.strip(),
        suspicions=tuple(suspicions),
        quoted=tuple(quoted),
        other_person=other_person,
        only_quoted=bool(quoted) and not text.strip(),
    )


def _shell(text: str) -> str | None:
    """What a shell would act on: its marks, and a command behind ";" or at the start of a further line."""
    if match := _SHELL.search(text):
        return match.group()
    if match := re.search(r";[^;\n]*\s(?:-{1,2}[A-Za-z]|/\w)", text):
        return match.group()[:40]
    for match in re.finditer(r"(;|\n)\s*([^\s;]+)", text):
        mark, word = match.groups()
        plain = word.strip(".,!?()'\"").lower()
        prose = plain in _PROSE or plain.split("'")[0] in _PROSE
        if plain in _PROGRAMS or (mark == ";" and not prose):
            return match.group().strip()
    return None


def _hidden(text: str, suspicions: list[tuple[str, str]]) -> str:
    kept: list[str] = []
    hidden: set[str] = set()
    control: set[str] = set()
    for at, char in enumerate(text):
        category = unicodedata.category(char)
        if category == "Cf" or category == "Co":
            # joiners and tags belong to emoji when they stand beside a symbol
            beside = text[max(0, at - 1) : at] + text[at + 1 : at + 2]
            if not any(unicodedata.category(c) in ("So", "Sk", "Mn") for c in beside):
                hidden.add(f"U+{ord(char):04X}")
            continue
        if category in ("Cc", "Cs") and char not in "\n\r\t":
            control.add(f"U+{ord(char):04X}")
            continue
        if category in ("Mn", "Me") and char != "\ufe0f" and unicodedata.normalize("NFC", text[at - 1 : at] + char)[1:]:
            hidden.add(f"U+{ord(char):04X}")
            continue
        kept.append(char)
    if hidden:
        suspicions.append(("hidden_characters", " ".join(sorted(hidden))))
    if control:
        suspicions.append(("control_characters", " ".join(sorted(control))))
    return "".join(kept)


def _mentions(text: str, bot_user: str | None) -> tuple[str, bool]:
    """Drop mentions of the bot (without `bot_user`: the leading one); others become "@user"."""
    users = _MENTION.findall(text)
    to_bot = bot_user in users if bot_user else bool(users)
    leading = _MENTION.match(text.lstrip())
    first = bot_user or (leading.group(1) if leading else None)
    other = bool(bot_user and leading and leading.group(1) != bot_user and not to_bot)
    return _MENTION.sub(lambda m: " " if m.group(1) == first else " @user ", text), other


def _lookalikes(text: str, suspicions: list[tuple[str, str]]) -> str:
    found: list[str] = []

    def word(match: re.Match[str]) -> str:
        original = match.group()
        if original.isascii():
            return original
        plain = "".join(_LOOKALIKES.get(c, c) for c in unicodedata.normalize("NFKC", original))
        plain = "".join(str(unicodedata.digit(c, c)) if not c.isascii() and c.isdigit() else c for c in plain)
        if plain.isascii() and plain != original:
            found.append(original)
            return plain
        return original

    text = re.sub(r"[^\s`\"'.,;:!?()<>\ue000\ue001|]+", word, text)
    if found:
        suspicions.append(("lookalike_letters", " ".join(found[:5])))
    return text


def _quotes(text: str, quoted: list[str]) -> str:
    def keep(match: re.Match[str]) -> str:
        quoted.append(match.group().strip("`~ \n"))
        return " \n "

    text = _FENCE.sub(keep, text)
    text = _STRIKE.sub(keep, text)
    lines = []
    said = [bool(_SAID_BY.match(line)) for line in text.split("\n")]
    for by_someone, line in zip(said, text.split("\n"), strict=True):
        if by_someone and sum(said) > 1:
            quoted.append(line.strip())
            continue
        if line.lstrip().startswith(">"):
            quoted.append(line.strip(" >"))
            continue
        lines.append(line)
    return "\n".join(lines)


def _is_symbol(char: str) -> bool:
    return not char.isascii() and unicodedata.category(char) in ("So", "Sk", "Mn")


def _without_spans(text: str) -> str:
    """The text without well-formed code spans' marks, emphasis and JSON values of flags."""
    text = re.sub(r"`([^`\n]+)`", r"\1", text)
    return re.sub(r"(?<=[\s=])'\{[\w\s\":,.\[\]-]*(?:\{[\w\s\":,.\[\]-]*\}[\w\s\":,.\[\]-]*)*\}'", " ", text)
