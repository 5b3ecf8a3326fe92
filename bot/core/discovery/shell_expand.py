"""Word expansion: parameters, arithmetic, braces, tilde and field splitting. Substitutions are asked of the caller,
who gives their text only where it is certain without running anything."""

import re
from collections.abc import Callable, Iterator, Sequence

from bot.core.discovery.shell_arithmetic import evaluate
from bot.core.discovery.shell_braces import braces
from bot.core.discovery.shell_dialect import FISH, SH, subscripted
from bot.core.discovery.shell_modify import extended_glob, is_list, modified
from bot.core.discovery.shell_read import cut, separators
from bot.core.discovery.shell_state import (
    VALUE_LIMIT,
    Scope,
    Variable,
    known,
    unknown,
    unset,
)
from bot.core.discovery.shell_syntax import Arithmetic, Parameter, Substitution, Text, Word
from bot.core.discovery.shell_words import WordReader

#: variables that a shell makes up as it runs
_RUNTIME = frozenset(
    ("RANDOM", "SRANDOM", "SECONDS", "LINENO", "EPOCHSECONDS", "EPOCHREALTIME", "BASHPID", "PPID", "HOSTNAME",
     "OSTYPE", "HOSTTYPE", "MACHTYPE", "$", "!", "_", "PATH", "TERM", "DISPLAY", "SSH_AUTH_SOCK")
)  # fmt: skip
_FIELDS_LIMIT = 2000
_DEFAULTS = (":-", "-", ":=", "=", ":+", "+")


class _Break:
    """Ends a field between the elements of a quoted list."""


class _Nothing:
    """A quoted list without elements: `"$@"` and `"${A[@]}"` alone give no word at all."""


#: a piece of a word: (text, whether it is split into fields, whether it was quoted)
_Piece = tuple[str, bool, bool]


class Expander:
    """Expands words in one scope."""

    def __init__(self, scope: Scope, substitute: Callable[[Substitution], str | None]) -> None:
        self.scope = scope
        self._substitute = substitute

    def fields(self, words: Sequence[Word]) -> list[str]:
        """The words of a command."""
        out: list[str] = []
        size = 0
        for word in words:
            for one in braces(word):
                fields = self._split(one)
                size += sum(map(len, fields))
                out.extend(fields)
                if len(out) > _FIELDS_LIMIT or size > VALUE_LIMIT:
                    return out[:_FIELDS_LIMIT]
        return out

    def text(self, word: Word | None) -> str:
        """A word as one text, as in assignments."""
        if word is None:
            return ""
        out: list[str] = []
        size = 0
        for piece in self._pieces(self._tilde(word)):
            out.append(" " if isinstance(piece, _Break) else "" if isinstance(piece, _Nothing) else piece[0])
            size += len(out[-1])
            if size > VALUE_LIMIT:
                break
        return "".join(out)[:VALUE_LIMIT]

    def arithmetic(self, expression: str) -> int | None:
        """Value of an arithmetic expression, or None."""
        text = self.text(WordReader(expression).read_heredoc_body())
        seen = known(text)
        return None if seen is None else evaluate(seen, self._number_of, self._assign)

    def pattern(self, word: Word) -> str | None:
        """A glob pattern as a regular expression; None when part of it is unknown."""
        out = []
        for part in word.parts:
            text = known(self.text(Word((part,))))
            if text is None:
                return None
            quoted = part.quoted
            out.append(re.sub(r"([*?\[(|)])", r"[\1]", text) if quoted else re.sub(r"\\(.)", r"\1", text))
        return extended_glob("".join(out))

    # fields

    def _split(self, word: Word) -> list[str]:
        fields: list[str] = []
        current: list[str] | None = None
        ifs = separators(self.scope)
        size = 0
        empty = False
        for piece in self._pieces(self._tilde(word)):
            if isinstance(piece, _Nothing):
                empty = True
                continue
            size += 1 if isinstance(piece, _Break) else len(piece[0])
            if size > VALUE_LIMIT:
                break
            if isinstance(piece, _Break):
                if current is not None:
                    fields.append("".join(current))
                current = []
                continue
            text, splits, quoted = piece
            if not splits:
                if text or quoted:
                    current = [*(current or []), text]
                continue
            for token, hard in cut(text, ifs):
                if token:
                    current = [*(current or []), token]
                    continue
                if current is not None or hard:
                    fields.append("".join(current or []))
                current = None
        if current is not None:
            fields.append("".join(current))
        return [] if empty and fields == [""] else fields

    def _tilde(self, word: Word) -> Word:
        first = word.parts[0] if word.parts else None
        if not isinstance(first, Text) or first.quoted or not first.text.startswith("~"):
            return word
        match = re.match(r"~([A-Za-z_][\w.-]*)?(?=/|$)", first.text)
        if match is None:
            return word
        home = ("/root" if match[1] == "root" else f"/home/{match[1]}") if match[1] else self._home()
        if home is None:
            return word
        return Word((Text(home, quoted=True), Text(first.text[match.end() :]), *word.parts[1:]))

    def _home(self) -> str | None:
        variable = self.scope.variables.get("HOME")
        return variable.text if variable else self.scope.home

    def _pieces(self, word: Word) -> Iterator[_Piece | _Break | _Nothing]:
        for part in word.parts if self.scope.dialect == SH else subscripted(word):
            if isinstance(part, Text):
                yield part.text, False, part.quoted
            elif isinstance(part, Arithmetic):
                value = self.arithmetic(part.expression)
                yield unknown(part.source) if value is None else str(value), False, True
            elif isinstance(part, Substitution):
                yield from self._substitution(part)
            else:
                yield from self._parameter(part)

    def _substitution(self, part: Substitution) -> Iterator[_Piece | _Break | _Nothing]:
        text = None if part.process else self._substitute(part)
        if text is None:
            yield unknown(part.source), False, True
        elif self.scope.dialect == FISH and not part.quoted:
            for number, line in enumerate(text.rstrip("\n").split("\n")):
                if number:
                    yield _Break()
                yield line, False, True
        else:
            yield text.rstrip("\n"), not part.quoted, part.quoted

    def _parameter(self, part: Parameter) -> Iterator[_Piece | _Break | _Nothing]:
        values = self._values(part)
        if part.operator in _DEFAULTS:
            chosen = self._with_default(part, values)
            if chosen is not None:
                for piece in self._pieces(chosen):
                    if isinstance(piece, _Break | _Nothing):
                        yield piece
                    else:
                        yield piece[0], not (part.quoted or piece[2]), piece[2]
                return
            if part.operator in (":+", "+"):
                values = [""]
        elif part.operator == "length" and values is None:
            values = ["0"]
        elif part.operator and values is not None:
            values = modified(self, part, values)
        if values is None:
            yield unset(part.source), False, part.quoted
            return
        lists = self.scope.dialect != SH
        for number, value in enumerate(values):
            if lists and not part.quoted:
                if number:
                    yield _Break()
                yield value, part.source.startswith("${="), False
                continue
            if number and part.quoted:
                yield _Break() if is_list(part) else (separators(self.scope)[:1], False, True)
            elif number:
                yield " ", True, False
            yield value, not part.quoted, part.quoted
        if not values and part.quoted:
            yield _Nothing()

    def _with_default(self, part: Parameter, values: list[str] | None) -> Word | None:
        """The argument of `:-` and the like where it counts, else None."""
        empty = values is None or (part.operator.startswith(":") and known(" ".join(values)) == "")
        argument = part.argument or Word(())
        if part.operator in (":+", "+"):
            return None if empty else argument
        if not empty:
            return None
        if part.operator in (":=", "="):
            self._assign(part.name, self.text(argument))
        return argument

    def _values(self, part: Parameter) -> list[str] | None:
        """The values that a name stands for; None when unset. Only lists have none or several."""
        scope = self.scope
        if part.indirect:
            return self._indirect(part)
        name = part.name
        if name in ("@", "*"):
            return list(scope.positional) if scope.positional or part.operator not in _DEFAULTS else None
        if name == "argv" and scope.dialect != SH and "argv" not in scope.variables:
            return self._indexed(part, Variable(scope.positional))
        if name == "#":
            return [str(len(scope.positional))]
        if name == "?":
            return ["0"]
        if name == "-":
            return [""]
        if name == "0":
            return [scope.script or "bash"]
        if name.isdigit():
            return [scope.positional[int(name) - 1]] if int(name) <= len(scope.positional) else None
        variable = scope.variables.get(name) or self._made_up(name)
        if variable is None:
            return [] if is_list(part) and part.operator not in _DEFAULTS else None
        return self._indexed(part, variable)

    def _indexed(self, part: Parameter, variable: Variable) -> list[str] | None:
        if part.index is None:
            whole = self.scope.dialect != SH and not isinstance(variable.value, str)
            return list(variable.values) if whole else [variable.text]
        index = known(self.text(part.index))
        if index in ("@", "*"):
            return list(variable.values)
        if isinstance(variable.value, dict):
            return [variable.value[index]] if index in variable.value else None
        number = self.arithmetic(index) if index else None
        values = variable.values
        if number is None:
            return [unknown(part.source)]
        if self.scope.dialect != SH and number > 0:
            number -= 1
        return [values[number]] if -len(values) <= number < len(values) else None

    def _indirect(self, part: Parameter) -> list[str] | None:
        if part.name.isdigit():
            named = self._values(Parameter(part.name, part.source))
            return self._values(Parameter(known(named[0]) or "", part.source)) if named else None
        variable = self.scope.variables.get(part.name)
        if variable is None:
            return [] if part.index is not None else None
        if part.index is not None:
            keys = variable.value if isinstance(variable.value, dict) else range(len(variable.values))
            return [str(key) for key in keys]
        element = re.fullmatch(r"(\w+)\[(.*)\]", variable.text)
        if element:
            return self._values(Parameter(element[1], part.source, index=Word((Text(element[2]),))))
        target = self.scope.variables.get(variable.text)
        return None if target is None else [target.text]

    def _made_up(self, name: str) -> Variable | None:
        """Variables that the shell or the login sets by itself."""
        scope = self.scope
        if name == "PWD" and scope.cwd:
            return Variable(scope.cwd)
        if name == "HOME" and scope.home:
            return Variable(scope.home)
        if name in ("USER", "LOGNAME") and scope.user:
            return Variable(scope.user)
        if name in ("UID", "EUID") and scope.user == "root":
            return Variable("0")
        if name == "BASH_SOURCE" and scope.script:
            return Variable((scope.script,))
        return Variable(unknown("$" + name)) if name in _RUNTIME else None

    def _number_of(self, name: str) -> str | None:
        index = re.fullmatch(r"(\w+)\[(.*)\]", name)
        part = Parameter(
            index[1] if index else name, name, index=WordReader(index[2]).read_heredoc_body() if index else None
        )
        values = self._values(part)
        return known(values[0]) if values else ""

    def _assign(self, name: str, value: str) -> None:
        if re.fullmatch(r"[A-Za-z_]\w*", name):
            self.scope.assign(name, value, "")
