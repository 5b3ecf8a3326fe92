"""What a process can be given. A unit file has a line for each setting, so none may hold a line's end."""

import re
import shlex
from collections.abc import Iterable, Sequence

from bot.core.domain.catalog import Word
from bot.core.domain.container import Container

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LOGIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}")
#: inside a container a group may follow
_LOGIN_INSIDE = re.compile(_LOGIN.pattern + r"(:[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63})?")
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/@-]{0,300}")


def startable_faults(
    *,
    argv: Sequence[Word],
    env: Iterable[tuple[str, Word]],
    cwd: str | None,
    user: str | None,
    wrappers: Sequence[str],
    container: Container | None = None,
) -> tuple[str, ...]:
    """Why a launch can be given to no process, each in words for a person; empty where it can."""
    faults = [] if argv else ["the launch has no command"]
    variables = list(env)
    for place, word in [("a word of the command", word) for word in argv] + [
        (name, value) for name, value in variables
    ]:
        fault = _word_fault(word) if isinstance(word, str) else None
        faults += [f"{place} {fault}"] if fault else []
    faults += [f"{name[:60]!r} is no name of a variable" for name, _ in variables if not _VARIABLE.fullmatch(name)]
    if cwd is not None and (not cwd.isprintable() or cwd != cwd.strip() or not cwd):
        faults.append(f"the working directory {cwd[:60]!r} is no folder's name in one line")
    if user is not None and not (_LOGIN_INSIDE if container else _LOGIN).fullmatch(user):
        faults.append(f"{user[:60]!r} is no account's name")
    for wrapper in wrappers:
        fault = _wrapper_fault(wrapper)
        faults += [f"the wrapper {wrapper[:60]!r} {fault}"] if fault else []
    return (*faults, *(_container_faults(container) if container else ()))


def _container_faults(container: Container) -> Iterable[str]:
    if container.tool not in ("docker", "podman"):
        yield f"{container.tool[:60]!r} runs no containers here"
    if not _IMAGE.fullmatch(container.image):
        yield f"{container.image[:60]!r} is no image's name"
    for option in container.options:
        if not option.startswith("--") or len(option) < 3:
            yield f"{option[:60]!r} is no option of {container.tool} run"
    for word in (*container.options, *container.lead):
        fault = _word_fault(word)
        if fault:
            yield f"a word of the container {fault}"


def _word_fault(word: str) -> str | None:
    if "\0" in word:
        return "holds a NUL character"
    try:
        word.encode()
    except UnicodeEncodeError:
        return "is no valid UTF-8"
    return None


def _wrapper_fault(wrapper: str) -> str | None:
    try:
        words = shlex.split(wrapper)
    except ValueError as error:
        return f"cannot be read ({str(error).lower()})"
    return next((fault for word in words if (fault := _word_fault(word))), None)
