"""Following a shell text to the commands that it would run. Nothing is executed: conditions that only the host could
answer are taken the way that leads to a launch, commands other than launches have no effect."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from bot.core.discovery.launch_call import Call, Sighting
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
from bot.core.discovery.shell_files import log_paths, note_tee, redirected
from bot.core.discovery.shell_parser import parse_shell
from bot.core.discovery.shell_state import Leave, Scope, Sink, Variable
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
    Sequence,
    Simple,
    Substitution,
    Test,
    Text,
    While,
)
from bot.core.discovery.shell_tests import LIKELY, NO, YES, Status
from bot.core.discovery.shell_world import Surroundings, World

_STEPS = 20_000
_DEPTH = 25
_LAUNCHES = 64


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
                return redirected(self, node.redirects, lambda: self._group(node))
            case If():
                return redirected(self, node.redirects, lambda: run_if(self, node, 0))
            case While():
                return redirected(self, node.redirects, lambda: run_while(self, node))
            case For():
                return redirected(self, node.redirects, lambda: run_for(self, node))
            case ForArithmetic():
                return run_for_arithmetic(self, node)
            case Case():
                return redirected(self, node.redirects, lambda: run_case(self, node))
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
                    note_tee(self, commands[number + 1 :], before)
        except Leave as leave:
            if leave.kind in ("break", "continue"):
                raise
        finally:
            self.scope, self.sink, self.stdin = kept_scope, kept_sink, kept_stdin
        return status

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
            return redirected(self, node.redirects, lambda: LIKELY if _substitutes(node) else YES)
        return redirected(self, node.redirects, lambda: self._command(node, words))

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
        if self.fish and name in ("and", "or", "not", "builtin") and len(words) > 1:
            inner = self._command(node, words[1:])
            return Status(not inner.ok, inner.certain) if name == "not" else inner
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
            logs=tuple(log_paths(self, node.redirects)),
            line=node.line,
        )

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

    def write(self, text: str) -> None:
        """Output of a command that is certain."""
        self._steps[0] -= len(text) // 200
        self.sink.parts.append(text)

    def write_unknown(self) -> None:
        """Output that only running would tell."""
        self.sink.opaque = True

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


def _substitutes(node: Simple) -> bool:
    """Whether a bare assignment's status is that of a substitution."""
    return any(
        isinstance(part, Substitution)
        for assignment in node.assignments
        if assignment.value
        for part in assignment.value.parts
        if not isinstance(part, Text)
    )
