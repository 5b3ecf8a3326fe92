"""Choices and loops of a shell text. What only the host could decide goes the way that leads to a launch."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.core.discovery.launch_call import Sighting
from bot.core.discovery.shell_state import Leave, Scope, known
from bot.core.discovery.shell_syntax import Case, For, ForArithmetic, If, Node, Simple, Test, While, Word
from bot.core.discovery.shell_tests import LIKELY, YES, Status, evaluate_test

if TYPE_CHECKING:
    from bot.core.discovery.shell_run import Interpreter

_ITERATIONS = 64
#: branches of a case on an argument that nobody gave
_STARTING = frozenset(("start", "run", "up", "serve", "launch", "restart", "begin", "on"))


@dataclass(slots=True)
class Trial:
    scope: Scope
    launches: list[Sighting]
    leave: Leave | None
    status: Status
    #: what it wrote
    output: list[str]
    opaque: bool


def attempt(shell: "Interpreter", action: Callable[[], Status]) -> Trial:
    kept, count = shell.scope, len(shell.launches)
    sink, written, opaque = shell.sink, len(shell.sink.parts), shell.sink.opaque
    shell.scope = kept.fork()
    leave = None
    status = LIKELY
    try:
        status = action()
    except Leave as caught:
        leave = caught
    trial = Trial(shell.scope, shell.launches[count:], leave, status, sink.parts[written:], sink.opaque)
    shell.scope = kept
    del sink.parts[written:]
    sink.opaque = opaque
    del shell.launches[count:]
    return trial


def adopt(shell: "Interpreter", trial: Trial) -> Status:
    shell.scope = trial.scope
    shell.sink.parts.extend(trial.output)
    shell.sink.opaque = shell.sink.opaque or trial.opaque
    shell.launches.extend(trial.launches)
    if trial.leave is not None:
        raise trial.leave
    return trial.status


def ends(shell: "Interpreter", trial: Trial) -> bool:
    """Whether a way leads out of the script: never out of a loop, nor out of a function that only answers."""
    kind = trial.leave.kind if trial.leave is not None else ""
    return kind not in ("", "break", "continue") and not (kind == "return" and shell.answering)


def choose(shell: "Interpreter", likely: Callable[[], Status], other: Callable[[], Status]) -> Status:
    """Of two ways that the host would decide: the likely one, unless only the other leads to a launch or the likely
    one ends the script."""
    first = attempt(shell, likely)
    if first.launches:
        return adopt(shell, first)
    second = attempt(shell, other)
    if second.launches or (ends(shell, first) and not ends(shell, second)):
        return adopt(shell, second)
    return adopt(shell, first)


def run_if(shell: "Interpreter", node: If, number: int) -> Status:
    if number == len(node.branches):
        return shell.run(node.otherwise) if node.otherwise else YES
    condition, body = node.branches[number]
    status = shell.run(condition)
    if status.certain:
        return shell.run(body) if status.ok else run_if(shell, node, number + 1)

    def taken() -> Status:
        return shell.run(body)

    def passed() -> Status:
        return run_if(shell, node, number + 1)

    return choose(shell, taken, passed) if status.ok else choose(shell, passed, taken)


def run_case(shell: "Interpreter", node: Case) -> Status:
    text = shell.expander.text(node.word)
    value = known(text)
    if value:
        for patterns, body in node.branches:
            if any(_matches(shell, value, pattern) for pattern in patterns):
                return shell.run(body)
        return YES
    return _open_case(shell, node, value)


def _matches(shell: "Interpreter", value: str, pattern: Word) -> bool:
    expression = shell.expander.pattern(pattern)
    return expression is not None and re.match(expression, value) is not None


def _open_case(shell: "Interpreter", node: Case, value: str | None) -> Status:
    """A case on an argument that is not given, or on something unknown. Of several branches that launch, those
    named like a start count; each names the launches that an argument would choose."""
    trials = [(patterns, attempt(shell, lambda body=body: shell.run(body))) for patterns, body in node.branches]  # type: ignore[misc]  # bound now
    launching = [(patterns, trial) for patterns, trial in trials if trial.launches]
    starting = [one for one in launching if any(pattern.plain in _STARTING for pattern in one[0])]
    chosen = starting[:1] or launching
    if chosen:
        for _, trial in chosen[1:]:
            shell.launches.extend(trial.launches)
        return adopt(shell, chosen[0][1])
    for patterns, trial in trials:
        if value is not None and any(_matches(shell, value, pattern) for pattern in patterns):
            return adopt(shell, trial) if trial.leave is None else LIKELY
    return LIKELY


def run_test(shell: "Interpreter", node: Test) -> Status:
    tokens: list[str] = []
    patterns: dict[int, Word] = {}
    for token in node.tokens:
        if isinstance(token, Word):
            patterns[len(tokens)] = token
            tokens.append(shell.expander.text(token))
        else:
            tokens.append(token)
    by_text = {tokens[position]: word for position, word in patterns.items()}

    def matches(text: str, pattern: str) -> bool:
        return _matches(shell, text, by_text[pattern]) if pattern in by_text else text == pattern

    return evaluate_test(tokens, extended=True, matches=matches)


def _loop(shell: "Interpreter", step: Callable[[bool], Status | None]) -> Status:
    """Repeat until `step` gives None."""
    for iteration in range(_ITERATIONS):
        try:
            if step(iteration == 0) is None:
                break
        except Leave as leave:
            if leave.kind not in ("break", "continue"):
                raise
            if leave.levels > 1:
                raise Leave(leave.kind, leave.levels - 1) from None
            if leave.kind == "break":
                break
    return YES


def run_while(shell: "Interpreter", node: While) -> Status:
    """while and until. One for ever that launches nothing waits for what only the host decides: nothing of it stays."""
    kept, count, rounds = shell.scope.fork(), len(shell.launches), 0

    def step(first: bool) -> Status | None:
        nonlocal rounds
        rounds += 1
        return _while_step(shell, node, first)

    status = _loop(shell, step)
    if rounds == _ITERATIONS and _for_ever(node) and len(shell.launches) == count:
        shell.scope = kept
    return status


def _for_ever(node: While) -> bool:
    return len(node.condition.items) == 1 and _is_constant(node.condition.items[0][0])


def _while_step(shell: "Interpreter", node: While, first: bool) -> Status | None:
    status = shell.run(node.condition)
    going = status.ok != node.until
    if (status.certain and not going) or (not status.certain and not first):
        return None
    before = len(shell.launches)
    if not status.certain:
        # `while port_is_taken; do PORT=$((PORT + 1)); done`: waits and searches end at once
        trial = attempt(shell, lambda: shell.run(node.body))
        return adopt(shell, trial) if trial.launches else None
    result = shell.run(node.body)
    # a loop that restarts its server for ever
    return None if _for_ever(node) and len(shell.launches) > before else result


def run_for(shell: "Interpreter", node: For) -> Status:
    if node.words is None:
        values = list(shell.scope.positional)
    else:
        values = shell.expander.fields(node.words)
    remaining = iter(values[:_ITERATIONS])

    def step(_: bool) -> Status | None:
        value = next(remaining, None)
        if value is None:
            return None
        shell.scope.assign(node.name, value, shell.origin())
        return shell.run(node.body)

    return _loop(shell, step)


def run_for_arithmetic(shell: "Interpreter", node: ForArithmetic) -> Status:
    if node.start.strip():
        shell.expander.arithmetic(node.start)

    def step(first: bool) -> Status | None:
        if not first and node.step.strip():
            shell.expander.arithmetic(node.step)
        going = shell.expander.arithmetic(node.condition) if node.condition.strip() else 1
        if going == 0 or (going is None and not first):
            return None
        return shell.run(node.body)

    return _loop(shell, step)


def _is_constant(node: Node) -> bool:
    """`while true` and `while :`."""
    return isinstance(node, Simple) and len(node.words) == 1 and node.words[0].plain in ("true", ":")
