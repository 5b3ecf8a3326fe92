"""Word expansion: parameters, arithmetic, braces, tilde and field splitting. Substitutions are asked of the caller,
who gives their text only where it is certain without running anything."""

import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import translate as glob_regex

from bot.core.discovery.shell_arithmetic import evaluate
from bot.core.discovery.shell_dialect import FISH, SH, subscripted
from bot.core.discovery.shell_read import cut, separators
from bot.core.discovery.shell_state import (
    VALUE_LIMIT,
    Scope,
    Variable,
    basename,
    directory,
    has_unknown,
    is_unset,
    join_path,
    known,
    unknown,
    unset,
)
from bot.core.discovery.shell_syntax import Arithmetic, Parameter, Part, Substitution, Text, Word
from bot.core.discovery.shell_words import WordReader

_BRACES = re.compile(r"\{[^{}]*(?:,|\.\.)[^{}]*\}")
_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)(?:\.\.(-?\d+))?|([A-Za-z])\.\.([A-Za-z])")
#: variables that a shell makes up as it runs
_RUNTIME = frozenset(
    ("RANDOM", "SRANDOM", "SECONDS", "LINENO", "EPOCHSECONDS", "EPOCHREALTIME", "BASHPID", "PPID", "HOSTNAME",
     "OSTYPE", "HOSTTYPE", "MACHTYPE", "$", "!", "_", "PATH", "TERM", "DISPLAY", "SSH_AUTH_SOCK")
)  # fmt: skip
_FIELDS_LIMIT = 2000
#: longest value whose ends are matched
_TRIM_LIMIT = 5000
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
            for one in _braces(word):
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
        return _extended_glob("".join(out))

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

    @staticmethod
    def _is_list(part: Parameter) -> bool:
        index = part.index.plain if part.index else None
        return part.name == "@" or index == "@"

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
            values = self._modified(part, values)
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
                yield _Break() if self._is_list(part) else (separators(self.scope)[:1], False, True)
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
            return [] if self._is_list(part) and part.operator not in _DEFAULTS else None
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

    def _modified(self, part: Parameter, values: list[str]) -> list[str]:
        if part.operator == "length":
            whole = self._is_list(part) or part.name in ("@", "*")
            return [str(len(values))] if whole else [str(len(known(values[0]) or "") if values else 0)]
        if part.operator == ":" and (self._is_list(part) or part.name == "*"):
            return self._sliced(part, values)
        changed: list[str] = []
        size = 0
        for value in values:
            changed.append(self._modify(part, value))
            size += len(changed[-1])
            if size > VALUE_LIMIT:
                break
        return changed

    def _modify(self, part: Parameter, value: str) -> str:
        operator, argument = part.operator, part.argument or Word(())
        if operator in (":?", "?", "@"):
            return value
        if has_unknown(value):
            return unknown(part.source)
        if is_unset(value):
            return value
        value = known(value) or ""
        if operator in ("^", "^^", ",", ",,"):
            changed = value.upper() if operator[0] == "^" else value.lower()
            return changed if len(operator) == 2 else changed[:1] + value[1:]
        if operator == ":":
            return self._slice(part, value, argument)
        if operator in ("#", "##", "%", "%%"):
            return self._trimmed(part, value, operator, argument)
        return self._replaced(part, value, operator, argument)

    def _sliced(self, part: Parameter, values: list[str]) -> list[str]:
        """`${A[@]:START:COUNT}`; the positional parameters count from 1, what stands at 0 is the script."""
        bounds = self._bounds(part)
        if bounds is None:
            return [unknown(part.source)] if values else []
        if part.name in ("@", "*") and self.scope.dialect == SH:
            values = [self.scope.script or "bash", *values]
        start, *rest = bounds
        if start < 0 and -start > len(values):
            return []
        tail = values[start:]
        return tail[: max(rest[0], 0)] if rest else tail

    def _bounds(self, part: Parameter) -> list[int] | None:
        text = known(self.text(part.argument or Word(())))
        if text is None:
            return None
        bounds = [self.arithmetic(bound) if bound.strip() else 0 for bound in text.split(":", 1)]
        return None if None in bounds else [bound or 0 for bound in bounds]

    def _slice(self, part: Parameter, value: str, argument: Word) -> str:
        text = known(self.text(argument))
        if text is None:
            return unknown(part.source)
        if re.fullmatch(r"[aAPhtre](:[aAPhtre])*", text):
            return self._zsh_modified(value, text.split(":"))
        bounds = self._bounds(part)
        if bounds is None:
            return unknown(part.source)
        start, *rest = bounds
        tail = value[start:] if start >= 0 else value[max(len(value) + start, 0) :]
        if not rest:
            return tail
        return tail[: rest[0]] if rest[0] >= 0 else tail[: max(len(tail) + rest[0], 0)]

    def _zsh_modified(self, value: str, modifiers: list[str]) -> str:
        for modifier in modifiers:
            if modifier in ("a", "A", "P"):
                value = join_path(self.scope.cwd, value) or value
            elif modifier == "h":
                value = directory(value)
            elif modifier == "t":
                value = basename(value)
            elif modifier == "r":
                value = re.sub(r"\.[^./]*$", "", value)
            else:
                value = value.rpartition(".")[2]
        return value

    def _trimmed(self, part: Parameter, value: str, operator: str, argument: Word) -> str:
        expression = self.pattern(argument)
        if expression is None:
            return unknown(part.source)
        if len(value) > _TRIM_LIMIT:
            return unknown(part.source)
        pattern = re.compile(expression)
        positions = range(len(value) + 1)
        prefix = operator[0] == "#"
        longest = len(operator) == 2
        for position in positions if prefix != longest else reversed(positions):
            candidate = value[:position] if prefix else value[position:]
            if pattern.match(candidate):
                return value[position:] if prefix else value[:position]
        return value

    def _replaced(self, part: Parameter, value: str, operator: str, argument: Word) -> str:
        old, new = _halves(argument)
        expression = self.pattern(old)
        replacement = self.text(new)
        if expression is None or len(value) > 5000 or len(value) * len(replacement) > VALUE_LIMIT:
            return unknown(part.source)
        core = _core(expression)
        if operator == "/#":
            core = r"\A" + core
        elif operator == "/%":
            core += r"\Z"
        return re.sub(core, lambda _: replacement, value, count=0 if operator == "//" else 1)

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


def _extended_glob(pattern: str) -> str:
    """A glob as a regular expression, with @(a|b), ?(…), *(…) and +(…)."""
    alternatives = re.search(r"([@?*+])\(([^()]*)\)", pattern)
    if alternatives is None:
        return glob_regex(pattern)
    start, end = pattern[: alternatives.start()], pattern[alternatives.end() :]
    inner = "|".join(_core(glob_regex(one)) for one in alternatives[2].split("|"))
    # what repeats is not given back: such patterns end
    many = {"@": "", "?": "?"}.get(alternatives[1], alternatives[1] + "+")
    return rf"(?s:{_core(glob_regex(start))}(?:{inner}){many}{_core(_extended_glob(end))})\Z"


def _core(expression: str) -> str:
    return re.sub(r"^\(\?s:(.*)\)\\[zZ]$", r"(?s:\1)", expression, flags=re.DOTALL)


def _halves(argument: Word) -> tuple[Word, Word]:
    """PATTERN/REPLACEMENT at the first slash that is not quoted."""
    for number, part in enumerate(argument.parts):
        if isinstance(part, Text) and "/" in part.text and not part.quoted:
            before, _, after = part.text.partition("/")
            head = (*argument.parts[:number], Text(before, part.quoted))
            return Word(head), Word((Text(after, part.quoted), *argument.parts[number + 1 :]))
        if isinstance(part, Text) and part.quoted and "/" in part.text and len(argument.parts) == 1:
            before, _, after = part.text.partition("/")
            return Word((Text(before),)), Word((Text(after, True),))
    return argument, Word(())


def _braces(word: Word) -> list[Word]:
    """Brace expansion: a{b,c} and {0..3}, where the braces stand unquoted."""
    if not any(isinstance(part, Text) and not part.quoted and "{" in part.text for part in word.parts):
        return [word]
    atoms: list[str | Part] = []
    for part in word.parts:
        atoms.extend(part.text) if isinstance(part, Text) and not part.quoted else atoms.append(part)
    done = [_word_of(expanded) for expanded in _expand_atoms(atoms, 0)]
    return done or [word]


def _expand_atoms(atoms: list[str | Part], depth: int) -> list[list[str | Part]]:
    for start, atom in enumerate(atoms):
        if atom != "{" or (start and atoms[start - 1] == "$"):
            continue
        found = _alternatives(atoms, start)
        if found is None or depth > 8:
            continue
        end, alternatives = found
        tails = _expand_atoms(atoms[end:], depth + 1)
        heads = [one for alternative in alternatives for one in _expand_atoms(alternative, depth + 1)]
        if len(heads) * len(tails) > 200:
            return [atoms]
        return [[*atoms[:start], *head, *tail] for head in heads for tail in tails]
    return [atoms]


def _alternatives(atoms: list[str | Part], start: int) -> tuple[int, list[list[str | Part]]] | None:
    """(position behind `}`, alternatives) of the braces that open at `start`, or None when they are plain text."""
    depth = 0
    pieces: list[list[str | Part]] = [[]]
    for position in range(start + 1, len(atoms)):
        atom = atoms[position]
        if atom == "}" and depth == 0:
            if len(pieces) > 1:
                return position + 1, pieces
            text = "".join(a for a in pieces[0] if isinstance(a, str))
            numbers = _range(text) if len(text) == len(pieces[0]) else None
            return (position + 1, [list(number) for number in numbers]) if numbers else None
        if atom == "," and depth == 0:
            pieces.append([])
            continue
        depth += (atom == "{") - (atom == "}")
        pieces[-1].append(atom)
    return None


def _range(text: str) -> list[str] | None:
    match = _RANGE.fullmatch(text)
    if match is None:
        return None
    if match[4]:
        first, last = ord(match[4]), ord(match[5])
    else:
        first, last = int(match[1][:9]), int(match[2][:9])
    step = abs(int(match[3][:9])) if match[3] else 1
    numbers = list(range(first, last + 1, step or 1) if first <= last else range(first, last - 1, -(step or 1)))[:200]
    width = len(match[1]) if match[1] and re.match(r"-?0\d", match[1]) else 0
    return [chr(n) if match[4] else str(n).zfill(width) for n in numbers]


def _word_of(atoms: list[str | Part]) -> Word:
    parts: list[Part] = []
    for atom in atoms:
        if not isinstance(atom, str):
            parts.append(atom)
        elif parts and isinstance(parts[-1], Text) and not parts[-1].quoted:
            parts[-1] = Text(parts[-1].text + atom)
        else:
            parts.append(Text(atom))
    return Word(tuple(parts))
