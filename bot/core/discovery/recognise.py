"""Whether a sighted command is a launch, and of what. The engines' own parsers decide what their flags mean."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bot.core.discovery.container_run import image_arguments
from bot.core.discovery.launch_call import Sighting
from bot.core.discovery.shell_state import is_unset, render
from bot.core.domain.engine import CommandLine, Engine

#: a server that is only asked about itself
_ASKING = re.compile(
    r"--help(=.*)?|-h|--usage|--version|-V|--list-devices|--show-model-list|--cache-list|--completion-bash|--license"
)
_UNICODE_DASH = re.compile("[‐-―−﹘﹣－]")
#: programs that another server brings along and runs by itself
_MANAGED = re.compile(r"/ollama/|/lm-?studio/|/\.lmstudio/")
#: what no name of a model holds: remains of bytes that were no text
_JUNK = re.compile(r"[\x00-\x1f\x7f\ufffd]")
#: variables that give what a flag would, by engine: llama-server reads LLAMA_ARG_*
_MODEL_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "llama.cpp": ("LLAMA_ARG_MODEL", "LLAMA_ARG_HF_REPO", "LLAMA_ARG_MODEL_URL")
}
_PORT_VARIABLES: Mapping[str, str] = {"llama.cpp": "LLAMA_ARG_PORT"}
#: most differences between a misspelt flag and the right one
_SLIP = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A sighting that launches a server."""

    sighting: Sighting
    engine: Engine
    #: the command line, without words that nothing gives; `program` words of it are the image's own entrypoint
    argv: tuple[str, ...] = field(repr=False)
    hidden: int = 0
    line: CommandLine = field(repr=False)
    model: str
    #: port inside, where a flag or variable states it
    port: str | None = None

    @property
    def flags(self) -> Mapping[str, str | bool | list[str]]:
        """Canonical flags, the model not among them."""
        return self.line.flags


def recognise(sighting: Sighting, engines: Mapping[str, Engine]) -> Launch | None:
    """The launch that a command is, or None: another program, help, a refused command line, no model."""
    container = sighting.container
    argv, hidden = sighting.argv, 0
    if container is not None and container.entrypoint_hidden:
        argv, put = image_arguments(container.image, sighting.argv)
        hidden = len(argv) - len(sighting.argv) if put else 0
        if put and sighting.argv[:1] == ("serve",):
            hidden = len(argv) - len(sighting.argv) + 1
    engine = next((one for one in engines.values() if one.recognises([render(word) for word in argv])), None)
    if engine is None or _MANAGED.search(render(argv[0])):
        return None
    words = _given(argv, engine)
    if any(_ASKING.fullmatch(word) for word in words[1:]) or _only_asks(words):
        return None
    line = engine.parse(words)
    if sighting.may_have_failed and _refused(words, line, engine, sighting):
        return None
    model = line.model or _from_environment(sighting, _MODEL_VARIABLES.get(engine.name, ()))
    if not model and "config" in line.flags:
        model = ""
    elif not model or _JUNK.search(model):
        return None
    port = line.flags.get("port")
    stated = port if isinstance(port, str) else None
    if stated is None:
        stated = _from_environment(sighting, (_PORT_VARIABLES.get(engine.name, ""),))
    return Launch(sighting=sighting, engine=engine, argv=words, hidden=hidden, line=line, model=model, port=stated)


def is_server(argv: tuple[str, ...], engines: Mapping[str, Engine]) -> bool:
    """Whether a command calls a server program at all."""
    words = [render(word) for word in argv]
    return any(engine.recognises(words) for engine in engines.values())


def _given(argv: tuple[str, ...], engine: Engine) -> tuple[str, ...]:
    """The words that the program gets: a variable that nothing sets leaves none, unless a flag waits for its value."""
    words: list[str] = []
    for word in argv:
        if is_unset(word) and not (words and takes_value(engine, words[-1])):
            continue
        words.append(render(word))
    return tuple(words)


def takes_value(engine: Engine, flag: str) -> bool:
    """Whether the engine's parser takes the next word for this flag's value."""
    if not flag.startswith("-") or "=" in flag or engine.canonical(flag) is None:
        return False
    line = engine.parse(("first", flag, "second"))
    return line.model == "second" or "second" in line.flags.values() or ["second"] in line.flags.values()


def _only_asks(words: tuple[str, ...]) -> bool:
    return len(words) > 1 and words[-1] in ("help", "--")


def _from_environment(sighting: Sighting, names: tuple[str, ...]) -> str | None:
    for name in names:
        variable = sighting.env.get(name)
        if variable is not None and variable.text and not is_unset(variable.text):
            return render(variable.text)
    return None


def _refused(words: tuple[str, ...], line: CommandLine, engine: Engine, sighting: Sighting) -> bool:
    """Whether the engine would end at once: words that belong to no flag, a positional model where none is taken,
    dashes that are no dashes; in a history also a flag that is misspelt."""
    # "--flag=value" under its whole name: the parser takes no "="
    if line.stray or any("=" in name for name in line.flags):
        return True
    if any(_UNICODE_DASH.match(word) for word in words):
        return True
    if _positional(words, line, engine) and line.program and line.program[-1] != "serve":
        return True
    typed = sighting.evidence[:1] and sighting.evidence[0].kind == "history"
    return bool(typed) and any(_misspelt(word, engine) for word in words[len(line.program) :])


def _positional(words: tuple[str, ...], line: CommandLine, engine: Engine) -> bool:
    if line.model is None:
        return False
    for number, word in enumerate(words):
        name = word.partition("=")[0]
        if word == line.model and (number == 0 or not takes_value(engine, words[number - 1])):
            return True
        if word.startswith("-") and "=" in word and word.partition("=")[2] == line.model and engine.canonical(name):
            return False
    return False


def _misspelt(word: str, engine: Engine) -> bool:
    name = word.partition("=")[0]
    if not name.startswith("--") or engine.canonical(name) is not None:
        return False
    nearest = engine.nearest(name)
    return bool(nearest) and _distance(name.replace("_", "-"), nearest[0]) <= _SLIP


def _distance(a: str, b: str) -> int:
    """Edits (insert, delete, replace) from a to b."""
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, start=1):
        above, row[0] = row[0], i
        for j, right in enumerate(b, start=1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (left != right))
    return row[-1]


def executable_of(launch: Launch, of_python: Callable[[str], bool]) -> str | None:
    """The program that is started: the virtual environment's own where one is active, None where an image hides it."""
    if launch.hidden:
        return None
    program = launch.argv[0]
    venv = launch.sighting.venv
    in_venv = of_python(program) or launch.engine.distribution == program
    return f"{venv}/bin/{program}" if venv and "/" not in program and in_venv else program
