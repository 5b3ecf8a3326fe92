"""Reading shell words: quoting, expansions and here-documents, character by character. Nothing is expanded here."""

import re
from bisect import bisect_right

from bot.core.discovery.shell_syntax import Arithmetic, Parameter, Part, Substitution, Text, Word

_METACHARACTERS = frozenset(" \t\n;&|<>()")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INDIRECT = re.compile(r"[A-Za-z_]|[1-9]")
_PARAMETER_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!_-]")
_OPERATOR = re.compile(r":-|:=|:\?|:\+|##|%%|//|/#|/%|\^\^|,,|[-=?+#%/:^,@]")
_PLAIN = re.compile(r"[^\s;&|<>()\\'\"$`{}\[\]~*?!#]+")
_DOUBLE_PLAIN = re.compile(r"[^\\\"$`]+")
_SIMPLE_ESCAPES = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_CODED_ESCAPE = re.compile(r"x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})")
_FISH_SINGLE = re.compile(r"'((?:\\.|[^'\\])*)'", re.DOTALL)
_HEREDOC_PLAIN = re.compile(r"[^\\$`]+")
_SHORT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
_BACKTICKS = re.compile(r"`((?:\\.|[^`\\])*)`", re.DOTALL)
#: nesting after which `$(` is only matched by its parentheses
_DEPTH_LIMIT = 30


class ShellSyntaxError(Exception):
    """The text is no shell from here on; `at_end`: it ends inside a quote (`awaited`) or a compound
    command."""

    def __init__(self, message: str, *, at_end: bool = False, awaited: str = "") -> None:
        super().__init__(message)
        self.at_end = at_end
        self.awaited = awaited


class WordReader:
    """A cursor over shell text that reads words. `fish`: `(…)` substitutes, single quotes know \\' and \\\\."""

    def __init__(self, text: str, *, fish: bool = False, depth: int = 0) -> None:
        self.text = text
        self.position = 0
        self.fish = fish
        self.depth = depth
        self._newlines: list[int] | None = None

    def line(self) -> int:
        """Number of the line at the cursor, from 1."""
        if self._newlines is None:
            self._newlines = [match.start() for match in re.finditer("\n", self.text)]
        return bisect_right(self._newlines, self.position - 1) + 1

    def peek(self, length: int = 1) -> str:
        """The next characters, fewer at the end."""
        return self.text[self.position : self.position + length]

    def read_word(self) -> Word | None:
        """One word at the cursor, or None where no word starts."""
        parts: list[Part] = []
        start = self.position
        while self.position < len(self.text):
            char = self.text[self.position]
            if char in "<>" and self.peek(2)[1:] == "(":
                parts.append(self._substitution(self.position + 2, self.position, quoted=False, process=True))
                continue
            if char == "(" and self._opens_inside(parts):
                self._parenthesised(parts)
                continue
            if char in _METACHARACTERS:
                break
            self._part(parts)
        if self.position == start:
            return None
        return Word(tuple(_joined(parts)))

    def _opens_inside(self, parts: list[Part]) -> bool:
        """Whether `(` belongs to the word: fish's substitution, or an extended glob such as @(a|b)."""
        if self.fish:
            return True
        last = parts[-1] if parts else None
        return isinstance(last, Text) and not last.quoted and last.text[-1:] in "@?*+!" and last.text != ""

    def _parenthesised(self, parts: list[Part]) -> None:
        if self.fish:
            parts.append(self._substitution(self.position + 1, self.position, quoted=False))
            return
        end = self._balanced(self.position + 1, "(", ")")
        parts.append(Text(self.text[self.position : end]))
        self.position = end

    def _part(self, parts: list[Part]) -> None:
        char = self.text[self.position]
        if char == "\\":
            self._escape(parts)
        elif char == "'":
            parts.append(self._single())
        elif char == '"':
            self.position += 1
            parts.extend(self._double())
        elif char == "$":
            self._dollar(parts, quoted=False)
        elif char == "`":
            parts.append(self._backticks(quoted=False))
        else:
            match = _PLAIN.match(self.text, self.position)
            self.position = match.end() if match else self.position + 1
            parts.append(Text(match[0] if match else char))

    def _escape(self, parts: list[Part]) -> None:
        following = self.peek(2)[1:]
        self.position += 2
        if following == "\n":
            return
        if self.fish and following in _SIMPLE_ESCAPES and following in "nrtabefv":
            following = _SIMPLE_ESCAPES[following]
        parts.append(Text(following or "\\", quoted=True))

    def _single(self) -> Text:
        if self.fish:
            return self._fish_single()
        end = self.text.find("'", self.position + 1)
        if end < 0:
            raise ShellSyntaxError("a single quote is not closed", at_end=True, awaited="'")
        text = self.text[self.position + 1 : end]
        self.position = end + 1
        return Text(text, quoted=True)

    def _fish_single(self) -> Text:
        match = _FISH_SINGLE.match(self.text, self.position)
        if match is None:
            raise ShellSyntaxError("a single quote is not closed", at_end=True, awaited="'")
        self.position = match.end()
        return Text(re.sub(r"\\(['\\])", r"\1", match[1]), quoted=True)

    def _double(self) -> list[Part]:
        """The inside of double quotes; the cursor is behind the opening one."""
        parts: list[Part] = [Text("", quoted=True)]
        while True:
            match = _DOUBLE_PLAIN.match(self.text, self.position)
            if match:
                parts.append(Text(match[0], quoted=True))
                self.position = match.end()
            char = self.peek()
            if char == "":
                raise ShellSyntaxError("a double quote is not closed", at_end=True, awaited='"')
            if char == '"':
                self.position += 1
                return parts
            self._inside_double(parts, char, '$`"\\')

    def _inside_double(self, parts: list[Part], char: str, escapable: str) -> None:
        if char == "\\":
            following = self.peek(2)[1:]
            self.position += 2
            if following == "\n":
                return
            parts.append(Text(following if following and following in escapable else "\\" + following, quoted=True))
        elif char == "$":
            self._dollar(parts, quoted=True)
        else:
            parts.append(self._backticks(quoted=True))

    def read_heredoc_body(self) -> Word:
        """The whole text as an unquoted here-document: expansions work, quotes are plain characters."""
        parts: list[Part] = []
        while self.position < len(self.text):
            match = _HEREDOC_PLAIN.match(self.text, self.position)
            if match:
                parts.append(Text(match[0], quoted=True))
                self.position = match.end()
                continue
            try:
                self._inside_double(parts, self.peek(), "$`\\")
            except ShellSyntaxError:
                parts.append(Text(self.text[self.position :], quoted=True))
                self.position = len(self.text)
        return Word(tuple(_joined(parts)))

    def _dollar(self, parts: list[Part], *, quoted: bool) -> None:
        following = self.peek(3)[1:]
        if following == "((":
            arithmetic = self._arithmetic(quoted)
            if arithmetic:
                parts.append(arithmetic)
                return
        if following[:1] == "(":
            parts.append(self._substitution(self.position + 2, self.position, quoted=quoted))
        elif following[:1] == "{" and not self.fish:
            parts.append(self._braced(quoted))
        elif following[:1] == "'" and not quoted:
            parts.append(self._ansi())
        elif following[:1] == '"' and not quoted:
            self.position += 2
            parts.extend(self._double())
        else:
            self._named(parts, quoted)

    def _named(self, parts: list[Part], quoted: bool) -> None:
        match = _SHORT_NAME.match(self.text, self.position + 1)
        if match is None:
            parts.append(Text("$", quoted=True))
            self.position += 1
            return
        self.position = match.end()
        parts.append(Parameter(match[0], "$" + match[0], quoted=quoted))

    def _ansi(self) -> Text:
        """`$'…'`."""
        self.position += 2
        out: list[str] = []
        while True:
            char = self.peek()
            self.position += 1
            if char == "":
                raise ShellSyntaxError("a $' quote is not closed", at_end=True)
            if char == "'":
                return Text("".join(out), quoted=True)
            out.append(self._ansi_escape() if char == "\\" else char)

    def _ansi_escape(self) -> str:
        char = self.peek()
        if char in _SIMPLE_ESCAPES and char:
            self.position += 1
            return _SIMPLE_ESCAPES[char]
        coded = _CODED_ESCAPE.match(self.text, self.position)
        if coded:
            self.position = coded.end()
            code = int(coded[4], 8) if coded[4] else int(coded[1] or coded[2] or coded[3], 16)
            return chr(code) if code < 0x110000 else "�"
        if char == "c":
            self.position += 2
            return chr(ord(self.text[self.position - 1]) & 31) if self.position <= len(self.text) else ""
        return "\\"

    def _backticks(self, *, quoted: bool) -> Substitution:
        match = _BACKTICKS.match(self.text, self.position)
        if match is None:
            raise ShellSyntaxError("a backtick is not closed", at_end=True)
        self.position = match.end()
        return Substitution(re.sub(r"\\([`\\$])", r"\1", match[1]), match[0], quoted=quoted)

    def _arithmetic(self, quoted: bool) -> Arithmetic | None:
        end = self._balanced(self.position + 3, "(", ")", required=False)
        if end < 0 or self.text[end : end + 1] != ")":
            return None
        source = self.text[self.position : end + 1]
        self.position = end + 1
        return Arithmetic(source[3:-2], source, quoted=quoted)

    def _substitution(self, inside: int, start: int, *, quoted: bool, process: bool = False) -> Substitution:
        end = self._end_of_commands(inside) if self.depth < _DEPTH_LIMIT else None
        if end is None:
            end = self._balanced(inside, "(", ")") - 1
        self.position = end + 1
        source = self.text[start : end + 1]
        return Substitution(self.text[inside:end], source, quoted=quoted, process=process)

    def _end_of_commands(self, inside: int) -> int | None:
        """Position of the `)` that ends the commands from `inside`; None when they are no shell. Parsers know."""
        return None

    def _balanced(self, start: int, opening: str, closing: str, *, required: bool = True) -> int:
        """Position behind the `closing` that matches, quotes and escapes skipped; -1 when there is none and it is not
        `required`."""
        depth = 1
        position = start
        pattern = re.compile(r"\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"|[" + re.escape(opening + closing) + "]", re.DOTALL)
        while True:
            match = pattern.search(self.text, position)
            if match is None:
                if required:
                    raise ShellSyntaxError(f"no matching {closing}", at_end=True)
                return -1
            position = match.end()
            if match[0] == opening:
                depth += 1
            elif match[0] == closing:
                depth -= 1
                if depth == 0:
                    return position

    def _braced(self, quoted: bool) -> Parameter:
        """`${…}`."""
        start = self.position
        self.position += 2
        if self.peek() in ("=", "~") and _NAME.match(self.text, self.position + 1):
            # zsh: split, or match as a pattern
            self.position += 1
        length = self.peek() == "#" and self.peek(2)[1:] not in ("}", "")
        indirect = self.peek() == "!" and bool(_INDIRECT.match(self.text, self.position + 1))
        if length or indirect:
            self.position += 1
        name = _PARAMETER_NAME.match(self.text, self.position)
        if name is None:
            raise ShellSyntaxError("bad substitution", at_end="}" not in self.text[start:])
        self.position = name.end()
        index = self._index() if self.peek() == "[" else None
        operator, argument = "", None
        if self.peek() != "}":
            match = _OPERATOR.match(self.text, self.position)
            if match is None:
                raise ShellSyntaxError("bad substitution", at_end=self.peek() == "")
            operator = match[0]
            self.position = match.end()
            # a pattern is a pattern inside double quotes too
            argument = self._until_brace(quoted and operator[0] not in "#%/")
        self.position += 1
        source = self.text[start : self.position]
        return Parameter(
            name[0], source, quoted, "length" if length else operator, argument, index=index, indirect=indirect
        )

    def _index(self) -> Word:
        end = self._balanced(self.position + 1, "[", "]")
        inner = WordReader(self.text[self.position + 1 : end - 1], fish=self.fish, depth=self.depth + 1)
        self.position = end
        return inner.read_heredoc_body()

    def _until_brace(self, quoted: bool) -> Word:
        """The argument of an operator: up to the matching `}`; blanks and metacharacters are literal."""
        parts: list[Part] = []
        while True:
            char = self.peek()
            if char == "":
                raise ShellSyntaxError("no matching }", at_end=True)
            if char == "}":
                return Word(tuple(_joined(parts)))
            if quoted and char == "'":
                parts.append(Text(char, quoted=True))
                self.position += 1
            elif char in "\\'\"$`":
                before = len(parts)
                self._part(parts)
                if quoted:
                    parts[before:] = [_quoted(part) for part in parts[before:]]
            else:
                parts.append(Text(char, quoted=quoted))
                self.position += 1


def _quoted(part: Part) -> Part:
    if isinstance(part, Text):
        return Text(part.text, quoted=True)
    if isinstance(part, Substitution):
        return Substitution(part.body, part.source, quoted=True)
    if isinstance(part, Arithmetic):
        return Arithmetic(part.expression, part.source, quoted=True)
    return Parameter(part.name, part.source, True, part.operator, part.argument, part.index, part.indirect)


def _joined(parts: list[Part]) -> list[Part]:
    """Neighbouring texts of one kind made one."""
    out: list[Part] = []
    texts: list[str] = []
    quoted = False
    for part in parts:
        if isinstance(part, Text) and (not texts or part.quoted == quoted):
            texts.append(part.text)
            quoted = part.quoted
            continue
        if texts:
            out.append(Text("".join(texts), quoted))
            texts = []
        if isinstance(part, Text):
            texts, quoted = [part.text], part.quoted
        else:
            out.append(part)
    if texts:
        out.append(Text("".join(texts), quoted))
    return out
