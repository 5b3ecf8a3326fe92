"""Take secrets out of text before anybody sees it. When in doubt, out: a hidden word costs less than a leaked one."""

import re

HIDDEN = "[redacted]"

_PEM = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----"
    r"(?:(?:\\n|\s)*(?:[A-Za-z0-9+/=]{16,}|[A-Za-z-]{3,20}: [^\n\\]*|[A-Za-z0-9+/=]{1,15}(?=(?:\\n|\s)*-----END)))*"
    r"(?:(?:\\n|\s)*-----END [A-Z0-9 ]*PRIVATE KEY-----)?"
)
#: tokens that are known by their shape
_TOKENS = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"hf_[A-Za-z0-9]{8,}"
    r"|sk-[A-Za-z0-9_-]{8,}"
    r"|xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{6,}"
    r"|xapp-[A-Za-z0-9-]{6,}"
    r"|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}"
    r"|glpat-[A-Za-z0-9_-]{16,}"
    r"|nvapi-[A-Za-z0-9_-]{16,}"
    r"|(?:AKIA|ASIA)[0-9A-Z]{16}"
    r"|AIza[A-Za-z0-9_-]{30,}"
    r"|pypi-[A-Za-z0-9_-]{16,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"
    r")"
)
_BEARER = re.compile(r"\b(Bearer(?:\s+|%20|:\s*))[A-Za-z0-9+/=_.~-]{4,}", re.IGNORECASE)
_BASIC = re.compile(
    r"\b(Basic\s+)(?:[A-Za-z0-9+/]{8,}={1,2}|(?=[A-Za-z+/]{0,60}[0-9])[A-Za-z0-9+/]{12,})", re.IGNORECASE
)
_USERINFO = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{1,20}://)(?:[^\s/@:'\"]*:[^\s/@'\"]+|[^\s/@:'\"]{12,})@")
_WEBHOOK = re.compile(r"(hooks\.slack\.com/(?:services|actions|commands|triggers|workflows)/)[^\s\"'<>]+")

#: "name =", "name:", '"name": '
_ASSIGNED = re.compile(r"(?<![A-Za-z0-9_.-])([A-Za-z0-9_.-]{1,200})\\?[\"']?[ \t]?[=:][ \t]?")
#: "--name " before a value
_FLAG = re.compile(r"(?<!\S)--?([A-Za-z][A-Za-z0-9_-]{1,80})[ \t]+(?!-)")
_VALUE = re.compile(r"\\?\"(?:[^\"\n\\]|\\(?!\").)*\\?\"?|'[^'\n]*'?|[^\s,;&\"')\]}]+")
_SCHEME = re.compile(r"(?:bearer|basic|digest|token)\b", re.IGNORECASE)
#: values that are no secret: nothing, a word for nothing, a reference, something already hidden
_HARMLESS = re.compile(
    r"\\?[\"']?(?:none|null|nil|true|false|unset|empty|yes|no|\*+|<[^<>]*>|\[redacted|\$\{?\w+\}?|\$\(.*|)\]?\\?[\"']?",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[\"']?-?\d{1,9}(?:\.\d+)?[\"']?")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET_PARTS = frozenset(
    [
        "password",
        "passwd",
        "passphrase",
        "passwort",
        "pwd",
        "secret",
        "secrets",
        "credential",
        "credentials",
        "cookie",
        "apikey",
        "accesskey",
        "privatekey",
        "secretkey",
    ]
)
_KEY_OWNERS = frozenset(
    [
        "api",
        "access",
        "private",
        "secret",
        "signing",
        "encryption",
        "master",
        "license",
        "auth",
        "account",
        "storage",
        "subscription",
        "admin",
        "service",
    ]
)
#: "<word> token" that is about text, not about access
_TEXT_TOKENS = frozenset(
    [
        "eos",
        "bos",
        "pad",
        "unk",
        "sep",
        "cls",
        "mask",
        "image",
        "video",
        "audio",
        "stop",
        "per",
        "next",
        "last",
        "first",
        "think",
        "draft",
        "special",
        "start",
        "end",
        "new",
        "each",
        "output",
        "input",
        "prompt",
        "cached",
        "prefill",
        "decode",
    ]
)


def redact(text: str) -> str:
    """The text with secrets replaced by "[redacted]".

    Known are: private keys, tokens by their shape (hf_, sk-, xox?-, xapp-, gh?_, glpat-, nvapi-, AKIA, JWT …),
    Authorization values, passwords in URLs, Slack webhook paths, and values of secret-sounding names (`NAME=value`,
    `"name": "value"`, `--name value`). Names such as max_tokens, tokenizer or eos_token are left alone.
    """
    if "-----BEGIN" in text:
        text = _PEM.sub(HIDDEN, text)
    if "://" in text:
        text = _USERINFO.sub(rf"\1{HIDDEN}@", text)
    if "hooks.slack" in text:
        text = _WEBHOOK.sub(rf"\1{HIDDEN}", text)
    text = _BEARER.sub(rf"\1{HIDDEN}", text)
    text = _BASIC.sub(rf"\1{HIDDEN}", text)
    text = _TOKENS.sub(HIDDEN, text)
    return _hide_values(_hide_values(text, _ASSIGNED), _FLAG)


def is_secret_name(name: str) -> bool:
    """Whether a variable, setting or flag of this name holds a secret: HF_TOKEN, --api-key; not max_tokens."""
    parts = [part.lower() for part in _PART.findall(name)]
    for index, part in enumerate(parts):
        before = parts[index - 1] if index else ""
        after = parts[index + 1] if index + 1 < len(parts) else ""
        if part in _SECRET_PARTS or (part == "key" and before in _KEY_OWNERS):
            return True
        # "PGPASSWORD", "clientsecret"; the signature of a link that was signed for somebody
        if part.endswith(("password", "passwd", "secret", "apikey")) or (part == "signature" and before == "amz"):
            return True
        # "hftoken" and the like in one word
        if (
            part.endswith("token")
            and before not in _TEXT_TOKENS
            and after not in ("id", "ids", "usage", "len", "count")
        ):
            return True
    return name.isupper() and len(parts) > 1 and parts[-1] in ("key", "pat", "pw")


def _hide_values(text: str, names: re.Pattern[str]) -> str:
    pieces: list[str] = []
    done = 0
    for match in names.finditer(text):
        start = match.end()
        if start < done or not _may_be_secret(match[1]):
            continue
        value = _VALUE.match(text, start)
        if value is None or _HARMLESS.fullmatch(value[0]) or _SCHEME.match(value[0]):
            continue
        if _NUMBER.fullmatch(value[0]) and match[1].lower().endswith("token"):
            continue
        mark = re.match(r"\\?[\"']", value[0])
        closing = mark[0] if mark and value[0].endswith(mark[0]) and len(value[0]) > len(mark[0]) else ""
        pieces += [text[done:start], mark[0] if mark else "", HIDDEN, closing]
        done = value.end()
    return "".join([*pieces, text[done:]]) if pieces else text


def _may_be_secret(name: str) -> bool:
    return is_secret_name(name) or name.lower().endswith("authorization")
