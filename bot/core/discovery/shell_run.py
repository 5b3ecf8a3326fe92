"""Following a shell text to the commands that it would run. Nothing is executed: conditions that only the host could
answer are taken the way that leads to a launch, commands other than launches have no effect."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from bot.core.discovery.launch_call import Call, ComposeUp, ContainerRun, Evidence, Sighting, said_alike
from bot.core.discovery.programs import dispatch
from bot.core.discovery.shell_builtins import BUILTINS, declare
from bot.core.discovery.shell_control import (
    adopt,
    attempt,
    ends,
    run_case,
    run_for,
    run_for_arithmetic,
    run_if,
    run_test,
    run_while,
)
from bot.core.discovery.shell_dialect import FISH
from bot.core.discovery.shell_expand import Expander
from bot.core.discovery.shell_parser import parse_shell
from bot.core.discovery.shell_state import Leave, Scope, Sink, Variable, has_unknown, join_path, place_of, render
from bot.core.discovery.shell_syntax import (
    AndOr,
    ArithmeticCommand,
    Case,
    For,
    ForArithmetic,
    Function,
    Group,
    If,
    Node,
    Pipeline,
    Redirect,
    Sequence,
    Simple,
    Substitution,
    Test,
    Text,
    While,
)
from bot.core.discovery.shell_tests import LIKELY, NO, YES, Status

_STEPS = 20_000
_DEPTH = 25
_LAUNCHES = 64


@dataclass(frozen=True, slots=True)
class ShellFile:
    """A text that a shell may run or source."""

    kind: str
    path: str
    text: str = field(repr=False)


@dataclass(slots=True)
class World:
    """What all shells of one discovery share: known files, and whether a command is a launch."""

    files: Mapping[str, ShellFile]
    is_launch: Callable[[Sighting], bool]
    is_server: Callable[[tuple[str, ...]], bool]
    #: launches of a unit file (path, text)
    read_unit: Callable[[str, str], list[Sighting]] = lambda path, text: []
    #: launches of the services that `docker compose up` starts
    read_compose: Callable[[ComposeUp], list[Sighting]] = lambda up: []
    #: files that scripts wrote as here-documents
    written: dict[str, str] = field(default_factory=dict, repr=False)
    #: files that a launch was reached through
    used: set[str] = field(default_factory=set)
    #: files that were asked for and are not there, in order
    missing: dict[str, None] = field(default_factory=dict)
    #: whether to follow also what can only lead to files that are missing
    seeking: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What holds for every command of a shell: who starts it, and in what."""

    runner: str = "process"
    unit: str | None = None
    container: ContainerRun | None = None
    evidence: tuple[Evidence, ...] = ()


class Interpreter:
    """One shell. `where` names the text for provenance ("script /srv/x.sh")."""

    def __init__(
        self,
        world: World,
        scope: Scope,
        *,
        where: str = "",
        surroundings: Surroundings | None = None,
        fish: bool = False,
        parent: "Interpreter | None" = None,
    ) -> None:
        self.world = world
        self.scope = scope
        self.where = where
        self.surroundings = surroundings or Surroundings()
        self.fish = fish
        if fish:
            scope.dialect = FISH
        self.launches: list[Sighting] = parent.launches if parent else []
        self.sessions: dict[str, Scope] = parent.sessions if parent else {}
        self.sink: Sink = parent.sink if parent else Sink(opaque=True)
        self.stdin: list[str] | None = None
        self._steps: list[int] = parent._steps if parent else [_STEPS]
        #: its output is the value of a substitution
        self.answering: bool = parent.answering if parent else False
        self._locals: list[dict[str, Variable | None]] = []
        self._depth: int = parent._depth + 1 if parent else 0
        self._line = 0

    # running

    def run_text(self, text: str) -> Status:
        """Follow a whole text; `exit` ends it."""
        if self._depth > _DEPTH:
            return LIKELY
        try:
            return self._statements(parse_shell(text, fish=self.fish).body)
        except Leave as leave:
            return YES if leave.kind in ("exit", "return") else LIKELY
        except RecursionError:
            return LIKELY

    def _statements(self, body: Sequence) -> Status:
        """Each statement of a script with half of the steps that are left: one that never ends takes not all."""
        status = YES
        for item, background in body.items:
            left = self._steps[0]
            self._steps[0] = allowed = left // 2
            try:
                status = self.run(Sequence([(item, background)]))
            except Leave as leave:
                if leave.kind != "spent" or left < _STEPS // 16:
                    raise
            self._steps[0] += left - allowed
        return status

    def run(self, node: Node) -> Status:
        """Follow one node."""
        self._steps[0] -= 1
        if len(self.launches) > _LAUNCHES:
            raise Leave("exit")
        if self._steps[0] < 0:
            raise Leave("spent")
        match node:
            case Simple():
                return self._simple(node)
            case Sequence():
                return self._sequence(node)
            case AndOr():
                return self._and_or(node)
            case Pipeline():
                return self._pipeline(node)
            case Group():
                return self._redirected(node.redirects, lambda: self._group(node))
            case If():
                return self._redirected(node.redirects, lambda: run_if(self, node, 0))
            case While():
                return self._redirected(node.redirects, lambda: run_while(self, node))
            case For():
                return self._redirected(node.redirects, lambda: run_for(self, node))
            case ForArithmetic():
                return run_for_arithmetic(self, node)
            case Case():
                return self._redirected(node.redirects, lambda: run_case(self, node))
            case Function():
                self.scope.functions[node.name] = node.body
                return YES
            case Test():
                return run_test(self, node)
            case ArithmeticCommand():
                value = self.expander.arithmetic(node.expression)
                return LIKELY if value is None else (YES if value else NO)

    @property
    def expander(self) -> Expander:
        """Expansion in the present scope."""
        return Expander(self.scope, self.substitute)

    def child(self, scope: Scope, *, where: str = "", fish: bool = False) -> "Interpreter":
        """A shell that this one starts."""
        return Interpreter(
            self.world, scope, where=where or self.where, surroundings=self.surroundings, fish=fish, parent=self
        )

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """One level more of text that runs text; too many are not followed."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    @contextmanager
    def block(self, opens: bool) -> Iterator[None]:
        """A function, or a block of fish: variables that are local to it go with it."""
        if not opens:
            yield
            return
        self._locals.append({})
        try:
            yield
        finally:
            for name, variable in self._locals.pop().items():
                if variable is None:
                    self.scope.variables.pop(name, None)
                else:
                    self.scope.variables[name] = variable

    def make_local(self, name: str) -> None:
        """Note that a variable is about to be set for the present block only."""
        if self._locals:
            self._locals[-1].setdefault(name, self.scope.variables.get(name))

    def origin(self, line: int = 0) -> str:
        """Where the present command stands, for provenance."""
        number = line or self._line
        return f"{self.where} line {number}" if number and self.where else self.where

    # lists

    def _sequence(self, node: Sequence) -> Status:
        status = YES
        for item, background in node.items:
            if not background:
                status = self.run(item)
                continue
            kept = self.scope
            self.scope = kept.fork()
            try:
                self.run(item)
            except Leave:
                pass
            finally:
                self.scope = kept
            status = YES
        return status

    def _and_or(self, node: AndOr) -> Status:
        status = self.run(node.first)
        for operator, item in node.rest:
            wanted = status.ok == (operator == "&&")
            if status.certain:
                if wanted:
                    status = self.run(item)
                continue
            trial = attempt(self, lambda item=item: self.run(item))  # type: ignore[misc]  # bound now
            if trial.launches or (wanted and not ends(self, trial)):
                status = adopt(self, trial)
            elif wanted:
                # the way out was not taken: scripts that launch get past their checks
                status = Status(operator == "||", False)
        return status

    def _pipeline(self, node: Pipeline) -> Status:
        status = YES
        if len(node.commands) == 1:
            status = self.run(node.commands[0])
        else:
            status = self._piped(node.commands)
        return Status(not status.ok, status.certain) if node.negated else status

    def _piped(self, commands: list[Node]) -> Status:
        kept_scope, kept_sink, kept_stdin = self.scope, self.sink, self.stdin
        status = YES
        try:
            for number, command in enumerate(commands):
                self.scope = kept_scope.fork()
                last = number == len(commands) - 1
                self.sink = kept_sink if last else Sink()
                before = len(self.launches)
                status = self.run(command)
                kept_scope.sources = self.scope.sources
                if not last:
                    text = None if self.sink.opaque else "".join(self.sink.parts)
                    self.stdin = None if text is None else text.splitlines()
                    self._note_tee(commands[number + 1 :], before)
        except Leave as leave:
            if leave.kind in ("break", "continue"):
                raise
        finally:
            self.scope, self.sink, self.stdin = kept_scope, kept_sink, kept_stdin
        return status

    def _note_tee(self, following: list[Node], before: int) -> None:
        """`launch | tee FILE` writes a log."""
        for command in following:
            if not isinstance(command, Simple) or not command.words or command.words[0].literal != "tee":
                continue
            for target in self.expander.fields(command.words[1:]):
                path = join_path(self.scope.cwd, target)
                if path and not target.startswith("-"):
                    self.launches[before:] = [replace(one, logs=(*one.logs, path)) for one in self.launches[before:]]

    def _group(self, node: Group) -> Status:
        if not node.subshell:
            with self.block(self.fish):
                return self.run(node.body)
        kept = self.scope
        self.scope = kept.fork()
        try:
            return self.run(node.body)
        except Leave as leave:
            if leave.kind != "exit":
                raise
            return LIKELY
        finally:
            self.scope = kept

    # choices

    # loops

    # simple commands

    def _simple(self, node: Simple) -> Status:
        self._line = node.line
        node = self._unaliased(node)
        words = self._words(node)
        # long values cost time as steps do
        self._steps[0] -= sum(map(len, words)) // 200
        if not words:
            for assignment in node.assignments:
                declare(self, assignment, exported=None)
            return self._redirected(node.redirects, lambda: LIKELY if _substitutes(node) else YES)
        return self._redirected(node.redirects, lambda: self._command(node, words))

    def _words(self, node: Simple) -> list[str]:
        """The words of a command. Its own prefix assignments come later than they do: what only they set is empty."""
        late = {one.name for one in node.assignments} - self.scope.variables.keys() if node.words else set()
        self.scope.variables.update(dict.fromkeys(late, Variable("")))
        try:
            return self.expander.fields(node.words)
        finally:
            for name in late:
                self.scope.variables.pop(name, None)

    def _unaliased(self, node: Simple) -> Simple:
        name = node.words[0].literal if node.words else None
        if name is None or name not in self.scope.aliases:
            return node
        items = parse_shell(self.scope.aliases[name], fish=self.fish).body.items
        if len(items) != 1 or not isinstance(items[0][0], Simple):
            return node
        alias = items[0][0]
        return replace(
            node,
            assignments=[*node.assignments, *alias.assignments],
            words=[*alias.words, *node.words[1:]],
            redirects=[*alias.redirects, *node.redirects],
        )

    def _command(self, node: Simple, words: list[str]) -> Status:
        name = words[0]
        while self.fish and name in ("and", "or", "not", "builtin") and len(words) > 1:
            words = words[1:]
            name = words[0]
        prefix = {
            one.name: Variable(self.expander.text(one.value), True, self.origin())
            for one in node.assignments
            if one.value is not None
        }
        if name in self.scope.functions:
            return self._call_function(self.scope.functions[name], words[1:], prefix)
        if name in BUILTINS:
            status = BUILTINS[name](self, words, node)
            if status is not None:
                return status
        return dispatch(self, self._call(words, prefix, node))

    def _call(self, words: list[str], prefix: dict[str, Variable], node: Simple) -> Call:
        return Call(
            argv=tuple(words),
            env={**self.scope.exports(), **prefix},
            cwd=self.scope.cwd,
            user=None,
            home=self.scope.home,
            venv=self.scope.venv,
            stdin="\n".join(self.stdin) if self.stdin is not None else None,
            logs=tuple(self._log_paths(node.redirects)),
            line=node.line,
        )

    def _log_paths(self, redirects: list[Redirect]) -> list[str]:
        paths = []
        for redirect in redirects:
            if redirect.operator in (">", ">>", ">|", "&>", "&>>") and redirect.descriptor in ("", "1"):
                path = join_path(self.scope.cwd, self.expander.text(redirect.target))
                if path and path != "/dev/null":
                    paths.append(path)
        return paths

    def _call_function(self, body: Node, arguments: list[str], prefix: dict[str, Variable]) -> Status:
        if self._depth > _DEPTH:
            return LIKELY
        self._depth += 1
        kept = self.scope.positional
        before = {name: self.scope.variables.get(name) for name in prefix}
        self.scope.variables.update(prefix)
        self.scope.positional = tuple(arguments)
        try:
            with self.block(True):
                return self.run(body)
        except Leave as leave:
            if leave.kind != "return":
                raise
            return LIKELY
        finally:
            self._depth -= 1
            self.scope.positional = kept
            for name, variable in before.items():
                if variable is None:
                    self.scope.variables.pop(name, None)
                else:
                    self.scope.variables[name] = variable

    # input and output

    def _redirected(self, redirects: list[Redirect], action: Callable[[], Status]) -> Status:
        """Run with here-documents as input; output to a file is kept as what the file then holds."""
        kept_stdin, kept_sink = self.stdin, self.sink
        target: tuple[str, bool] | None = None
        for redirect in redirects:
            text = self._input(redirect)
            if text is not None:
                self.stdin = text.splitlines()
            elif redirect.operator in (">", ">>", ">|", "&>", "&>>") and redirect.descriptor in ("", "1"):
                path = place_of(self.scope.cwd, self.expander.text(redirect.target))
                target = (path or "", ">>" in redirect.operator)
                self.sink = Sink()
        try:
            return action()
        finally:
            if target is not None:
                self.write_file(target[0], self.sink, append=target[1])
            self.stdin, self.sink = kept_stdin, kept_sink

    def _input(self, redirect: Redirect) -> str | None:
        if redirect.operator in ("<<", "<<-"):
            return self.expander.text(redirect.heredoc)
        if redirect.operator == "<<<":
            return self.expander.text(redirect.target) + "\n"
        if redirect.operator == "<":
            piped = redirect.target.process
            if piped is not None:
                return self.substitute(piped)
            found = self.find_file(self.expander.text(redirect.target))
            return found.text if found else None
        return None

    def write(self, text: str) -> None:
        """Output of a command that is certain."""
        self._steps[0] -= len(text) // 200
        self.sink.parts.append(text)

    def write_unknown(self) -> None:
        """Output that only running would tell."""
        self.sink.opaque = True

    def write_file(self, path: str, sink: Sink, *, append: bool) -> None:
        """Remember what a file holds after this."""
        if not path or path.startswith("/dev/") or sink.opaque or not sink.parts:
            return
        before = self.world.written.get(path, "") if append else ""
        self.world.written[path] = (before + "".join(sink.parts))[-200_000:]

    def find_file(self, path: str) -> ShellFile | None:
        """A file that an artefact or a here-document gives. Where the folder is not known, the one of that name."""
        full = join_path(self.scope.cwd, path)
        place = full or place_of(self.scope.cwd, path)
        # what was typed into a file long ago says less than the file itself
        typed = not self.scope.sources and any(one.kind == "history" for one in self.surroundings.evidence)
        if place is not None and place in self.world.written and not (typed and place in self.world.files):
            return ShellFile("script", place, render(self.world.written[place]))
        if full is not None:
            if full in self.world.files:
                return self.world.files[full]
            self.world.missing[full] = None
            return None
        tail = "/" + render(path).lstrip("~./").rpartition("/")[2]
        same = [one for place, one in self.world.files.items() if place.endswith(tail)]
        return same[0] if len(same) == 1 and len(tail) > 1 and not has_unknown(path) else None

    def substitute(self, part: Substitution) -> str | None:
        """What a substitution writes; None where only running would tell."""
        if self._depth > _DEPTH:
            return None
        inner = self.child(self.scope.fork(), fish=self.fish)
        inner.sink = Sink()
        inner.answering = True
        inner._line = self._line
        inner.run_text(re.sub(r"^\s*<(?=[^<(&])", "cat ", part.body))
        self.scope.sources = inner.scope.sources
        return None if inner.sink.opaque else "".join(inner.sink.parts)

    def dispatch(self, call: Call) -> Status:
        """Follow a command that is no builtin."""
        return dispatch(self, call)

    def start_written(self, path: str, text: str) -> None:
        """Follow a unit that this text wrote before."""
        sources = tuple(Evidence(kind=kind, path=place) for kind, place in self.scope.sources)
        for one in self.world.read_unit(path, render(text)):
            evidence = _distinct((*self.surroundings.evidence, *sources)) or one.evidence
            self.launches.append(replace(one, evidence=evidence))
            self.world.used.update(place for _, place in self.scope.sources)

    def start_services(self, up: ComposeUp) -> None:
        """Follow `docker compose up`. A history alone says no more than the file does, unless its variables count."""
        sources = tuple(Evidence(kind=kind, path=place) for kind, place in self.scope.sources)
        around = self.surroundings
        typed = not sources and any(one.kind == "history" for one in around.evidence)
        plain = self.world.read_compose(replace(up, variables={}, env_file=None)) if typed else []
        for one in self.world.read_compose(up):
            if typed and any(said_alike(one, other) for other in plain):
                self.launches.append(one)
                continue
            evidence = _distinct((*around.evidence, *sources, *one.evidence))
            runner = "systemd" if around.unit else one.runner
            self.launches.append(replace(one, evidence=evidence, unit=around.unit, runner=runner))
            self.world.used.update(place for _, place in self.scope.sources)

    # results

    def emit(self, call: Call) -> bool:
        """Keep a command if it is a launch."""
        around = self.surroundings
        line = f"line {call.line}" if call.line else ""
        sources = tuple(Evidence(kind=kind, path=path) for kind, path in self.scope.sources)
        last = sources[-1:] and sources[-1]
        if last and line:
            sources = (*sources[:-1], replace(last, detail=line))
        container = around.container or (ContainerRun(name=call.container) if call.container else None)
        unit = around.unit or call.unit
        runner = "systemd" if unit else ("docker" if container and around.runner == "process" else around.runner)
        sighting = Sighting(
            argv=call.argv,
            env=call.env,
            cwd=call.cwd,
            user=call.user or self.scope.user,
            venv=call.venv,
            wrappers=call.wrappers,
            runner=runner,
            unit=unit,
            container=container,
            evidence=_distinct((*around.evidence, *sources)),
            logs=call.logs,
        )
        if not self.world.is_launch(sighting):
            return False
        self.launches.append(sighting)
        self.world.used.update(path for _, path in self.scope.sources)
        return True


def _distinct(evidence: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    found: dict[tuple[str, str], Evidence] = {}
    for one in evidence:
        found.setdefault((one.kind, one.path), one)
    return tuple(found.values())


def _substitutes(node: Simple) -> bool:
    """Whether a bare assignment's status is that of a substitution."""
    return any(
        isinstance(part, Substitution)
        for assignment in node.assignments
        if assignment.value
        for part in assignment.value.parts
        if not isinstance(part, Text)
    )
