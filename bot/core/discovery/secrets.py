"""Recognising secrets by name, by place and by shape, and keeping only a reference to where they live."""

import json
import re
from dataclasses import replace

from bot.core.domain.catalog import Revision, SecretRef, Word

MARK = "<secret>"
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET_WORDS = frozenset(
    ("password", "passwd", "passphrase", "secret", "secrets", "credential", "credentials", "apikey", "accesskey",
     "secretkey", "privatekey", "pat", "pw", "pass", "auth", "bearer", "authorization", "cookie")
)  # fmt: skip
#: words that are written together with what they belong to: PGPASSWORD
_SECRET_ENDS = ("password", "passwd", "passphrase", "apikey", "secretkey", "accesskey", "privatekey")
#: behind these a value is a place or a number, not the secret itself
_HARMLESS_ENDS = frozenset(
    ("file", "path", "dir", "url", "uri", "name", "host", "port", "sock", "mode", "method", "type", "len", "length",
     "count", "limit", "size", "enabled", "timeout", "ttl", "header", "format", "env", "var", "prefix", "usage")
)  # fmt: skip
#: "<word> token" that is about text
_TEXT_TOKENS = frozenset(
    ("eos", "bos", "pad", "unk", "sep", "cls", "mask", "image", "video", "audio", "stop", "per", "next",
     "last", "first", "think", "draft", "special", "start", "end", "new", "each", "output", "input", "prompt", "max",
     "min", "num")
)  # fmt: skip
#: whole names that look like secrets and are none
_HARMLESS_NAMES = frozenset(("KEY", "TOKEN_MAP"))
_USERINFO = re.compile(r"(\b[A-Za-z][A-Za-z0-9+.-]{0,20}://)([^\s/@:'\"<>]*):([^\s/@'\"<>]+)@")
_USER_TOKEN = re.compile(r"(\b[A-Za-z][A-Za-z0-9+.-]{0,20}://)([^\s/@:'\"<>]{16,})@")
_SHAPES = re.compile(
    r"(?<![A-Za-z0-9_])(?:hf_[A-Za-z0-9]{8,}|sk-[A-Za-z0-9_-]{8,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}"
    r"|glpat-[A-Za-z0-9_-]{12,}|nvapi-[A-Za-z0-9_-]{12,}|xox[a-z]-[A-Za-z0-9-]{6,}|(?:AKIA|ASIA)[0-9A-Z]{16}"
    r"|AIza[A-Za-z0-9_-]{30,}|pypi-[A-Za-z0-9_-]{16,}|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?)"
)
_BEARER = re.compile(r"\b((?:Bearer|Basic|Token)\s+)[A-Za-z0-9+/=_.~-]{4,}", re.IGNORECASE)
_NAMED = re.compile(r"([A-Za-z0-9_.-]{2,60})(\\?[\"']?\s*[:=]\s*\\?[\"']?)([^\s\"'\\,;&}]+)")
#: shortest text that is taken for a secret wherever it stands
_LONG_ENOUGH = 6


def is_secret_name(name: str) -> bool:
    """Whether a variable, flag or key of this name holds a secret: HF_TOKEN, --api-key; not --api-key-file."""
    if name.lstrip("-") in _HARMLESS_NAMES:
        return False
    parts = [part.lower() for part in _PART.findall(name) if not part.isdigit()]
    if not parts or parts[-1] in _HARMLESS_ENDS:
        return False
    for number, part in enumerate(parts):
        before = parts[number - 1] if number else ""
        last = number == len(parts) - 1
        if part in _SECRET_WORDS and (last or part not in ("pass", "auth", "pat", "pw", "cookie")):
            return True
        if part.endswith(_SECRET_ENDS):
            return True
        token = part == "token" or (part.endswith("token") and last)
        if token and before not in _TEXT_TOKENS and (last or parts[number + 1] in ("id", "value")):
            return True
        if part == "key" and (last or (before in ("access", "api", "secret") and parts[number + 1] == "id")):
            return before != "" or name.isupper()
    return False


class Masker:
    """Takes secrets out of text: those of known shape or place, and every value that was met as a secret before."""

    def __init__(self) -> None:
        self._values: set[str] = set()
        self._pattern: re.Pattern[str] | None = None

    def learn(self, value: str) -> None:
        """Remember a value as a secret."""
        value = value.strip()
        if len(value) >= _LONG_ENOUGH and MARK not in value and value not in self._values:
            self._values.add(value)
            self._pattern = None

    def learn_from(self, text: str) -> None:
        """Remember the passwords of URLs and the tokens of known shape in a text."""
        for match in _USERINFO.finditer(text):
            self.learn(match[3])
        for match in _SHAPES.finditer(text):
            self.learn(match[0])

    def text(self, text: str) -> str:
        """The text with secrets replaced by "<secret>"."""
        text = _USERINFO.sub(rf"\1\2:{MARK}@", text)
        text = _USER_TOKEN.sub(rf"\1{MARK}@", text)
        text = _SHAPES.sub(MARK, text)
        text = _BEARER.sub(rf"\1{MARK}", text)
        text = _NAMED.sub(self._named, text)
        return self._known().sub(MARK, text) if self._values else text

    def is_known(self, text: str) -> bool:
        """Whether the whole text is a secret that was met before."""
        return text.strip() in self._values

    def _known(self) -> re.Pattern[str]:
        if self._pattern is None:
            forms = {form for value in self._values for form in (value, json.dumps(value)[1:-1])}
            self._pattern = re.compile("|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True)))
        return self._pattern

    @staticmethod
    def _named(match: re.Match[str]) -> str:
        harmless = match[3].startswith("$") or match[3] in ("null", "None", "true", "false") or MARK in match[3]
        if harmless or not is_secret_name(match[1].rpartition(".")[2]):
            return match[0]
        return f"{match[1]}{match[2]}{MARK}"


def without_secrets(revision: Revision, source: str) -> Revision:
    """The revision with each secret that stands in its command or environment as a reference to `source`."""
    env = tuple((name, _reference(name, value, source)) for name, value in revision.env)
    words: list[Word] = []
    for word in revision.argv:
        flag, equals, value = word.partition("=") if isinstance(word, str) and word.startswith("-") else ("", "", "")
        if equals and _reference(flag, value, source) != value:
            # a reference is a word of its own; every engine reads "--flag value" as "--flag=value"
            words += [flag, SecretRef(source)]
            continue
        before = str(words[-1]) if words else ""
        words.append(_reference(before if before.startswith("--") else "", word, source))
    return replace(revision, argv=tuple(words), env=env)


def _reference(name: str, value: Word, source: str) -> Word:
    if isinstance(value, SecretRef) or not value or value.startswith(("-", "$")):
        return value
    return SecretRef(source) if is_secret_name(name) or _SHAPES.search(value) or _USERINFO.search(value) else value
