"""Pasted flags of any engine, and environment assignments."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.core.domain.engine import Engine
from bot.core.language import lexicon as lex
from bot.core.language.overrides import Settings
from bot.core.language.tokens import Token
from bot.errors import BadInputError

ROLE = "flag"
Value = str | bool | list[str]
#: what a flag's value may be: no blanks, nothing that a shell acts on
_SAFE_VALUE = re.compile(r"[\w.:/,+@=%-]{1,200}")
_THOUSANDS = re.compile(r"(\d+(?:\.\d+)?)[kK]")
#: variables through which other code is loaded, or another program or file is run
UNSAFE_ENVIRONMENT = re.compile(
    r"LD_\w+|DYLD_\w+|PATH|PYTHON\w*|BASH_ENV|ENV|IFS|SHELL|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND"
    r"|PERL5\w*|RUBY\w*|NODE_\w+|GCONV_PATH"
    r"|HOME|USER|LOGNAME|SUDO\w*|GIT_\w+|SSH_\w+|TMPDIR|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|GLIBC_TUNABLES"
    r"|MALLOC_\w+|NLSPATH"
    r"|HTTPS?_PROXY|ALL_PROXY|NO_PROXY|CURL_\w+|SSL_CERT\w*|REQUESTS_CA_BUNDLE|CUDA_INJECTION\w*"
    r"|LIBRARY_PATH|C_INCLUDE_PATH"
    r"|HF_ENDPOINT|PIP_\w+|UV_\w+|EDITOR|PAGER|VISUAL|TERMINFO\w*"
)
_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
_SECRET = re.compile(
    r"(?:^|_)(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|CREDENTIALS?|ACCESS_KEY\w*|PRIVATE_KEY)(?:$|_)|_KEY$"
)
_SECRET_FLAG = re.compile(r"(?:api-?key|password|passwd|secret|hf-?token|auth-?token)", re.IGNORECASE)


@dataclass(slots=True)
class Pasted:
    """Flags without a neutral name, by engine; what is wrong: (code, what, near)."""

    flags: dict[str, dict[str, Value]] = field(default_factory=dict)
    faults: list[tuple[str, str, tuple[str, ...]]] = field(default_factory=list)
    #: engines that know every pasted flag
    engines: set[str] = field(default_factory=set)


def read(tokens: list[Token], engines: Mapping[str, Engine], settings: Settings, *, logs: bool = False) -> Pasted:
    """Take flags and assignments out of the tokens. `logs`: "-n 20" belongs to the log request, not to an engine."""
    pasted = Pasted()
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.kind == "env" and not token.role:
            _environment(token, settings, pasted)
        elif (
            token.kind == "flag"
            and not token.role
            and not (logs and re.fullmatch(r"-(?:n|f|\d+)|--(?:tail|lines|follow)", token.text))
        ):
            at += _flag(tokens, at, engines, settings, pasted)
            continue
        at += 1
    return pasted


def _environment(token: Token, settings: Settings, pasted: Pasted) -> None:
    token.role = ROLE
    name, _, value = token.raw.partition("=")
    value = value.strip("\"'")
    if not _NAME.fullmatch(name) or UNSAFE_ENVIRONMENT.fullmatch(name):
        pasted.faults.append(("unsafe_environment", name, ()))
    elif _SECRET.search(name):
        pasted.faults.append(("secret_value", name, ()))
    elif not re.fullmatch(r"[\w.:/,+@%=-]{0,200}", value):
        pasted.faults.append(("unsafe_text", f"{name}={value}"[:60], ()))
    else:
        environment = dict(settings.values.get("env", {}))
        if environment.get(name, value) != value:
            pasted.faults.append(("contradiction", name, ()))
        settings.values["env"] = environment | {name: value}


def _flag(tokens: list[Token], at: int, engines: Mapping[str, Engine], settings: Settings, pasted: Pasted) -> int:
    """Read the flag at `at` and its value; gives how many tokens were used."""
    name, has_value, inline = tokens[at].raw.partition("=")
    words = [inline.strip("\"'")] if has_value else _following(tokens, at)
    known = {n: e for n, e in engines.items() if e.canonical(name) is not None}
    if _SECRET_FLAG.search(name):
        pasted.faults.append(("secret_value", name, ()))
        return _use(tokens, at, 0 if has_value or not words else 1)
    if not known:
        near = tuple(dict.fromkeys(f for e in engines.values() for f in e.nearest(name)))[:3]
        pasted.faults.append(("unknown_flag", name, near))
        return _use(tokens, at, 0 if has_value or not words or words[0] in lex.FILLERS else 1)
    readings = {n: _parse(e, name, words) for n, e in known.items()}
    best = max(readings, key=lambda n: (bool(readings[n].neutral), n in pasted.engines))
    reading = readings[best]
    used = 0 if has_value else reading.used
    typed = [inline] if has_value else words[:used]
    if any(not _safe(word) for word in typed) or _foreign_span(tokens, at, used):
        pasted.faults.append(("unsafe_text", " ".join([name, *typed])[:60], ()))
        return _use(tokens, at, used)
    pasted.engines.update(known)
    if _left_out(tokens, at):
        graphs = reading.neutral.get("cuda_graphs")
        if isinstance(graphs, bool):
            settings.put("cuda_graphs", not graphs, name)
        else:
            pasted.faults.append(("negated_flag", name, ()))
        return _use(tokens, at, 0)
    if reading.model:
        pasted.faults.append(("identity_flag", name, ()))
    elif reading.fault:
        pasted.faults.append((reading.fault, name, tuple(typed)))
    elif reading.neutral:
        for key, value in reading.neutral.items():
            settings.put(key, value, " ".join([name, *typed]))
    else:
        for engine, other in readings.items():
            pasted.flags.setdefault(engine, {}).update(other.flags)
    return _use(tokens, at, used)


_LEAVING_OUT = lex.words("no without not minus drop remove omit skip unset delete except")


def _left_out(tokens: list[Token], at: int) -> bool:
    """ "without --x", "no --x", "drop the flag --x"."""
    before = [t.text for t in tokens[max(0, at - 3) : at] if t.text not in ("the", "flag", "flags", "option", "any")]
    return before[-1:] != [] and before[-1] in _LEAVING_OUT


@dataclass(slots=True)
class _Reading:
    flags: dict[str, Value]
    neutral: dict[str, object]
    used: int
    model: bool = False
    fault: str = ""


def _parse(engine: Engine, name: str, words: Sequence[str]) -> _Reading:
    """Read a flag with as many of the words behind it as it takes."""
    line = engine.parse([name, *[_plain(w) for w in words]])
    used = len(words) - sum(1 for w in line.stray)
    if line.model is not None and words and line.model == _plain(words[-1]) and len(line.flags):
        # a word that the engine takes for the model: it is not the flag's value
        flags = dict(line.flags)
        return _Reading(flags, _neutral(engine, flags), max(0, len(words) - 1 - len(line.stray)))
    flags = dict(line.flags)
    neutral = _neutral(engine, flags)
    fault = "bad_value" if not neutral and _out_of_kind(engine, flags) else ""
    if any(v == "" for v in flags.values()) or (not flags and line.model is None):
        fault = "no_value"
    return _Reading(flags, neutral, used, model=line.model is not None, fault=fault or _range_fault(neutral))


def _neutral(engine: Engine, flags: Mapping[str, Value]) -> dict[str, object]:
    try:
        return dict(engine.flags_to_overrides(flags))
    except (BadInputError, ValueError):
        return {}


def _out_of_kind(engine: Engine, flags: Mapping[str, Value]) -> bool:
    """A flag that has a neutral name, given what is none of its values."""
    return any(
        isinstance(v, str) and _neutral(engine, {n: "1"}) and not _neutral(engine, {n: v}) for n, v in flags.items()
    )


_RANGES: Mapping[str, tuple[float, float]] = {
    "port": (1, 65535), "tensor_parallel": (1, 64), "data_parallel": (1, 64), "context_length": (256, 2**24),
    "memory_fraction": (0.01, 1.0), "speculative_steps": (0, 64), "speculative_topk": (1, 64),
    "speculative_draft_tokens": (1, 256), "max_running_requests": (1, 65536),
}  # fmt: skip


def _range_fault(neutral: Mapping[str, object]) -> str:
    for name, (low, high) in _RANGES.items():
        value = neutral.get(name)
        if isinstance(value, int | float) and not low <= value <= high:
            return "bad_value"
    return ""


def _plain(word: str) -> str:
    """64k is 65536, whatever the engine makes of it."""
    match = _THOUSANDS.fullmatch(word)
    return str(int(float(match.group(1)) * 1024)) if match else word


def _following(tokens: list[Token], at: int) -> list[str]:
    """The word behind a flag; further ones only while they are numbers."""
    words: list[str] = []
    for token in tokens[at + 1 : at + 20]:
        if token.role or token.kind not in ("word", "json", "clock") or (words and not token.text.isdigit()):
            break
        words.append(token.raw[1:-1] if token.kind == "json" else token.raw)
    return words


def _foreign_span(tokens: list[Token], at: int, used: int) -> bool:
    """A value in backticks of its own: what a shell would run. Plain numbers are let through."""
    values = tokens[at + 1 : at + 1 + used]
    return any(t.code and t.span != tokens[at].span and not t.text.isdigit() for t in values)


def _safe(word: str) -> bool:
    if word.startswith("{"):
        return bool(re.fullmatch(r"[\w\s{}\[\]\":,.+-]{1,400}", word))
    return bool(_SAFE_VALUE.fullmatch(word.strip("\"'")))


def _use(tokens: list[Token], at: int, values: int) -> int:
    for token in tokens[at : at + 1 + values]:
        token.role = ROLE
    return 1 + values
