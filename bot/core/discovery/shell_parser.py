"""A parser for POSIX sh and bash (zsh and fish as far as they are alike): text to nodes. Nothing is run or expanded.

A statement that is no shell ends the script when the text stops inside it (an open quote), else only its own line.
"""

import re

from bot.core.discovery.shell_simple import SimpleReader
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
    Script,
    Sequence,
    While,
    Word,
)
from bot.core.discovery.shell_words import ShellSyntaxError

_RESERVED = re.compile(
    r"(if|then|elif|else|fi|for|while|until|do|done|case|esac|function|select|time|coproc|end|begin|switch|[{}!]|\[\[)"
    r"(?=[\s;&|()<>]|$)"
)
_FUNCTION = re.compile(r"([^\s;&|()<>'\"$`=#]+)[ \t]*\([ \t]*\)")
_FOR_ARITHMETIC = re.compile(r"\(\((.*?);(.*?);(.*?)\)\)", re.DOTALL)
_FISH_ONLY = frozenset(("end", "begin", "switch"))
_DEPTH_LIMIT = 40


def parse_shell(text: str, *, fish: bool = False) -> Script:
    """Read shell text. Never raises: what cannot be read is left out and `complete` is False."""
    return _Parser(text.replace("\r\n", "\n"), fish=fish).script()


def _nothing() -> Sequence:
    return Sequence([])


class _Parser(SimpleReader):
    def __init__(self, text: str, *, fish: bool = False, depth: int = 0) -> None:
        super().__init__(text, fish=fish, depth=depth)
        self._nesting = 0

    def script(self) -> Script:
        """Everything, statement by statement."""
        body = _nothing()
        complete = True
        while True:
            self._blank_lines()
            if self.position >= len(self.text):
                pending = [delimiter for _, delimiter, _, _ in self._heredocs]
                return Script(body, complete, self._awaited or "".join(pending[:1]))
            start = self.position
            try:
                body.items.extend(self._statement().items)
                if self.position == start:
                    raise ShellSyntaxError("unexpected character")
            except RecursionError:
                complete = False
                self._heredocs.clear()
                self._nesting = 0
                self._next_line(start)
            except ShellSyntaxError as error:
                complete = False
                self._heredocs.clear()
                self._nesting = 0
                if error.at_end:
                    return Script(body, complete, self._awaited or error.awaited)
                self._next_line(start)

    def _next_line(self, start: int) -> None:
        end = self.text.find("\n", max(start, self.position))
        self.position = len(self.text) if end < 0 else end + 1

    def _end_of_commands(self, inside: int) -> int | None:
        inner = _Parser(self.text, fish=self.fish, depth=self.depth + 1)
        inner.position = inside
        try:
            inner._list(frozenset(")"))
        except (ShellSyntaxError, RecursionError):
            return None
        return inner.position if inner.peek() == ")" else None

    # blanks, comments, newlines

    # lists

    def _statement(self) -> Sequence:
        """One line of the top level."""
        return self._list(frozenset(), one_line=True)

    def _list(self, closing: frozenset[str], *, one_line: bool = False) -> Sequence:
        """Commands up to a reserved word or character of `closing`, which is left in place."""
        self._nesting += 1
        if self._nesting > _DEPTH_LIMIT:
            raise ShellSyntaxError("nested too deep")
        out = _nothing()
        while True:
            self._blank() if one_line and out.items else self._blank_lines()
            if self.position >= len(self.text) or self._at(closing):
                break
            if self.fish and self.peek() == ";":
                self.position += 1
                continue
            if one_line and out.items and self.peek() == "\n":
                self._newline()
                break
            node = self._and_or()
            background = self._separator()
            out.items.append((node, background))
        self._nesting -= 1
        if closing and not self._at(closing):
            raise ShellSyntaxError("a compound command is not closed", at_end=self.position >= len(self.text))
        return out

    def _separator(self) -> bool:
        """`;`, `&` or nothing behind a command; True for `&`."""
        self._blank()
        if self.peek(2) in ("&&", "||", ";;", ";&"):
            if self.peek(2) in (";;", ";&"):
                return False
            raise ShellSyntaxError("unexpected operator")
        if self.peek() == "&":
            # zsh: `&|` and `&!` disown too
            self.position += 2 if self.peek(2) in ("&|", "&!") else 1
            self._blank()
            if self.peek() == ";" and self.peek(2) != ";;":
                self.position += 1
            return True
        if self.peek() == ";":
            self.position += 1
        elif self.peek() not in ("", "\n", ")") and not self._reserved():
            raise ShellSyntaxError("unexpected character")
        return False

    def _at(self, closing: frozenset[str]) -> bool:
        if self.peek() in closing:
            return self.peek() != ""
        if self.peek(2) in closing:
            return True
        return self._reserved() in closing

    def _reserved(self) -> str | None:
        match = _RESERVED.match(self.text, self.position)
        if match is None or (match[1] in _FISH_ONLY and not self.fish):
            return None
        return match[1]

    def _and_or(self) -> Node:
        first = self._pipeline()
        rest: list[tuple[str, Node]] = []
        while True:
            self._blank()
            operator = self.peek(2)
            if operator not in ("&&", "||"):
                return AndOr(first, rest) if rest else first
            self.position += 2
            self._blank_lines()
            rest.append((operator, self._pipeline()))

    def _pipeline(self) -> Node:
        negated = False
        while self._reserved() in ("!", "time"):
            negated = negated != (self._reserved() == "!")
            self.position += len(self._reserved() or "")
            self._blank()
            if self.text.startswith("-p ", self.position):
                self.position += 2
                self._blank()
        commands = [self._command()]
        while True:
            self._blank()
            if self.peek() != "|" or self.peek(2) == "||":
                break
            self.position += 2 if self.peek(2) == "|&" else 1
            self._blank_lines()
            commands.append(self._command())
        return commands[0] if len(commands) == 1 and not negated else Pipeline(commands, negated)

    # commands

    def _command(self) -> Node:
        self._blank()
        if self.peek(2) == "((":
            end = self._balanced(self.position + 2, "(", ")", required=False)
            if end > 0 and self.peek(1) and self.text[end : end + 1] == ")":
                expression = self.text[self.position + 2 : end - 1]
                self.position = end + 1
                return ArithmeticCommand(expression)
        if self.peek() == "(":
            self.position += 1
            body = self._list(frozenset(")"))
            self.position += 1
            return Group(body, subshell=True, redirects=self._redirects())
        reserved = self._reserved()
        if reserved is None:
            return self._named_function() or self._simple()
        return self._compound(reserved)

    def _compound(self, reserved: str) -> Node:
        readers = {
            "{": self._brace,
            "[[": self._test,
            "if": self._if,
            "while": self._while,
            "until": self._while,
            "for": self._for,
            "select": self._for,
            "case": self._case,
            "function": self._function,
            "begin": self._begin,
            "switch": self._switch,
            "coproc": self._coproc,
        }
        reader = readers.get(reserved)
        if reader is None:
            raise ShellSyntaxError(f"unexpected {reserved}")
        self.position += len(reserved)
        return reader()

    def _brace(self) -> Node:
        body = self._list(frozenset("}"))
        self.position += 1
        return Group(body, redirects=self._redirects())

    def _begin(self) -> Node:
        return Group(self._until("end"), redirects=self._redirects())

    def _coproc(self) -> Node:
        self._blank()
        return self._command()

    def _until(self, *words: str) -> Sequence:
        """A list up to one of these reserved words, which is read too unless several are possible."""
        body = self._list(frozenset(words))
        if len(words) == 1:
            self.position += len(words[0])
        return body

    def _if(self) -> Node:
        branches: list[tuple[Sequence, Sequence]] = []
        otherwise = None
        if self.fish:
            return self._fish_if()
        while True:
            condition = self._until("then")
            body = self._until("elif", "else", "fi")
            branches.append((condition, body))
            word = self._reserved() or ""
            self.position += len(word)
            if word == "else":
                otherwise = self._until("fi")
            if word != "elif":
                return If(branches, otherwise, self._redirects())

    def _fish_if(self) -> Node:
        branches: list[tuple[Sequence, Sequence]] = []
        otherwise = None
        while True:
            condition = self._first_command()
            body = self._until("else", "end")
            branches.append((condition, body))
            word = self._reserved() or ""
            self.position += len(word)
            self._blank()
            if word == "else" and self._reserved() == "if":
                self.position += 2
                continue
            if word == "else":
                otherwise = self._until("end")
            return If(branches, otherwise)

    def _first_command(self) -> Sequence:
        node = self._and_or()
        self._separator()
        return Sequence([(node, False)])

    def _while(self) -> Node:
        until = self.text.startswith("until", self.position - 5)
        if self.fish:
            return While(self._first_command(), self._until("end"), until)
        condition = self._until("do")
        return While(condition, self._until("done"), until, self._redirects())

    def _for(self) -> Node:
        self._blank()
        arithmetic = _FOR_ARITHMETIC.match(self.text, self.position)
        if arithmetic:
            self.position = arithmetic.end()
            body = self._loop_body()
            return ForArithmetic(arithmetic[1], arithmetic[2], arithmetic[3], body, self._redirects())
        name = self.read_word()
        if name is None or name.literal is None:
            raise ShellSyntaxError("a loop without a name")
        self._blank_lines()
        words: list[Word] | None = None
        if re.match(r"in(?=[\s;])", self.text[self.position : self.position + 3]):
            self.position += 2
            words = self._words_of_line()
        body = self._loop_body()
        return For(name.literal, words, body, self._redirects())

    def _words_of_line(self) -> list[Word]:
        words: list[Word] = []
        while True:
            self._blank()
            word = self.read_word()
            if word is None:
                return words
            words.append(word)

    def _loop_body(self) -> Sequence:
        self._blank()
        if self.peek() == ";":
            self.position += 1
        if self.fish:
            return self._until("end")
        self._blank_lines()
        word = self._reserved()
        if word not in ("do", "{"):
            raise ShellSyntaxError("a loop without do")
        self.position += len(word)
        if word == "{":
            body = self._list(frozenset("}"))
            self.position += 1
            return body
        return self._until("done")

    def _case(self) -> Node:
        self._blank()
        word = self.read_word()
        self._blank_lines()
        if word is None or not re.match(r"in(?=\s)", self.text[self.position : self.position + 3]):
            raise ShellSyntaxError("a case without in")
        self.position += 2
        branches: list[tuple[list[Word], Sequence]] = []
        while True:
            self._blank_lines()
            if self._reserved() == "esac":
                self.position += 4
                return Case(word, branches, self._redirects())
            if self.peek() == "(":
                self.position += 1
            patterns = self._patterns()
            body = self._list(frozenset((";;", ";&", "esac")))
            if self.peek() == ";":
                self.position += 2
                if self.peek() == "&":
                    self.position += 1
            branches.append((patterns, body))

    def _patterns(self) -> list[Word]:
        patterns: list[Word] = []
        while True:
            self._blank()
            pattern = self.read_word()
            if pattern is None:
                raise ShellSyntaxError("a case without a pattern", at_end=self.position >= len(self.text))
            patterns.append(pattern)
            self._blank()
            closing = self.peek()
            self.position += 1
            if closing == ")":
                return patterns
            if closing != "|":
                raise ShellSyntaxError("a bad pattern in a case")

    def _switch(self) -> Node:
        """fish: switch WORD; case PATTERN…; …; end."""
        self._blank()
        word = self.read_word()
        if word is None:
            raise ShellSyntaxError("a switch without a word")
        self._separator()
        branches: list[tuple[list[Word], Sequence]] = []
        self._blank_lines()
        while self._reserved() == "case":
            self.position += 4
            patterns = self._words_of_line()
            self._separator()
            branches.append((patterns, self._until("case", "end")))
        if self._reserved() != "end":
            raise ShellSyntaxError("a switch without end", at_end=self.position >= len(self.text))
        self.position += 3
        return Case(word, branches)

    def _function(self) -> Node:
        self._blank()
        name = self.read_word()
        if name is None or name.literal is None:
            raise ShellSyntaxError("a function without a name")
        self._blank()
        if self.fish:
            self._words_of_line()
            return Function(name.literal, Group(self._until("end")))
        if self.peek() == "(":
            self.position = self._balanced(self.position + 1, "(", ")")
        self._blank_lines()
        return Function(name.literal, self._command())

    def _named_function(self) -> Node | None:
        match = _FUNCTION.match(self.text, self.position)
        if match is None or self.fish:
            return None
        self.position = match.end()
        self._blank_lines()
        return Function(match[1], self._command())

    # simple commands
