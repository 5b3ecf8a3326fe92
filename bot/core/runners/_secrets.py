"""Where secrets live on a host, from the words of a SecretRef to what the start script reads.

Understood: "env file /etc/llm/hf.env" (with ", NAME" for a variable called otherwise), "unit qwen.service,
Environment=HF_TOKEN", "file ~/.cache/huggingface/token" (its first line), "process 4711, environ HF_TOKEN",
"container vllm, environment HF_TOKEN" (also a stopped one).
"""

import re
from dataclasses import dataclass

from bot.core.domain.catalog import SecretRef, Word
from bot.core.domain.plan import Plan
from bot.core.domain.shell import quote
from bot.errors import BadInputError

_NAME = r"[A-Za-z_]\w*"
_FORMS = {
    "env_file": re.compile(rf"env(?:ironment)?[ -]?file (?P<place>\S+?)(?:, (?P<variable>{_NAME}))?", re.IGNORECASE),
    "unit": re.compile(rf"unit (?P<place>[\w@.:\\-]+), Environment=(?P<variable>{_NAME})", re.IGNORECASE),
    "file": re.compile(r"file (?P<place>\S+)", re.IGNORECASE),
    "container": re.compile(rf"container (?P<place>[\w.-]+), environment (?P<variable>{_NAME})", re.IGNORECASE),
    "process": re.compile(rf"process (?P<place>\d+), environ (?P<variable>{_NAME})", re.IGNORECASE),
}


@dataclass(frozen=True, slots=True)
class Secret:
    """One secret for the start script; all but `name` and `kind` are quoted for sh."""

    #: variable that carries it to the server
    name: str
    kind: str
    place: str
    variable: str
    words: str


def argument_variable(number: int) -> str:
    """Variable that carries a secret word of the command to the place where it is expanded."""
    return f"RELAUNCH_ARGUMENT_{number}"


def secrets_of(plan: Plan, words: tuple[Word, ...]) -> tuple[Secret, ...]:
    """Secrets of a plan's environment and command. Raises BadInputError for a place that cannot be read."""
    found = [_secret(name, value, name) for name, value in plan.env if isinstance(value, SecretRef)]
    for number, word in enumerate(words):
        if isinstance(word, SecretRef):
            flag = words[number - 1] if number else ""
            found.append(_secret(argument_variable(number), word, str(flag)))
    return tuple(found)


def _secret(name: str, reference: SecretRef, shown: str) -> Secret:
    for kind, pattern in _FORMS.items():
        match = pattern.fullmatch(reference.source.strip())
        if match is None:
            continue
        given = match.groupdict()
        place = given["place"].strip("'\"")
        variable = given.get("variable") or (name if re.fullmatch(_NAME, name) else "")
        # "~" is the login account's home, also where the script runs through sudo; the rest is text
        quoted = f'"$login_home"/{quote(place[2:])}' if place.startswith("~/") else quote(place)
        return Secret(name, kind, quoted, quote(variable), quote(reference.source))
    raise BadInputError(
        f"the secret for {shown} lives in {reference.source!r}, which cannot be read at a start",
        remedy="keep it in a file on the host and write <secret: env file /path> in its place in the catalog file",
    )
