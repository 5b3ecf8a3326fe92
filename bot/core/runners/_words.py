"""Words of a command or environment as systemd reads them, and as sh reads them."""

import shlex
from collections.abc import Sequence

from bot.core.domain.catalog import SecretRef, Word
from bot.core.domain.plan import Plan
from bot.core.domain.shell import quote
from bot.core.domain.startable import startable_faults
from bot.core.runners._secrets import argument_variable
from bot.errors import BadInputError

#: systemd.syntax(7), "Quoting": C-style escapes inside double quotes
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "%": "%%"}


def command_words(plan: Plan) -> tuple[Word, ...]:
    """Wrappers and argv, a word each. Raises BadInputError for what no process can be given."""
    check(plan)
    return (*(word for wrapper in plan.wrappers for word in shlex.split(wrapper)), *plan.argv)


def check(plan: Plan) -> None:
    """Raises BadInputError for a plan that no process can be given; preflight has said so before."""
    faults = startable_faults(
        argv=plan.argv, env=plan.env, cwd=plan.cwd, user=plan.user, wrappers=plan.wrappers, container=plan.container
    )
    if faults:
        raise BadInputError("; ".join(faults), remedy="correct the launch config")


def systemd_word(word: str, *, expands_variables: bool) -> str:
    """One word of ExecStart= (`expands_variables`) or Environment=, always in double quotes."""
    text = "".join(_escaped(character) for character in word)
    return '"' + (text.replace("$", "$$") if expands_variables else text) + '"'


def systemd_command(words: Sequence[Word]) -> str:
    """ExecStart= of a command. systemd looks names up in a fixed path only; env looks them up in $PATH."""
    first = words[0]
    prefix = "" if isinstance(first, str) and first.startswith("/") else "/usr/bin/env -- "
    return prefix + " ".join(
        f'"${{{argument_variable(number)}}}"'
        if isinstance(word, SecretRef)
        else systemd_word(word, expands_variables=True)
        for number, word in enumerate(words)
    )


def shell_command(words: Sequence[Word]) -> str:
    """The same for sh."""
    return " ".join(
        f'"${argument_variable(number)}"' if isinstance(word, SecretRef) else quote(word)
        for number, word in enumerate(words)
    )


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    return f"\\x{ord(character):02x}" if ord(character) < 32 or ord(character) == 127 else character
