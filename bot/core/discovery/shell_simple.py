"""Reading blanks, here-documents, redirections, simple commands and `[[ … ]]`."""

import re

from bot.core.discovery.shell_syntax import Assignment, Node, Redirect, Simple, Test, Text, Word
from bot.core.discovery.shell_words import ShellSyntaxError, WordReader

_BLANK = re.compile(r"(?:[ \t\r]|\\\n)+")
_REDIRECT = re.compile(r"(\d*|\{[A-Za-z_]\w*\})(<<<|<<-|<<|<&|<>|>>|>&|>\||<(?!\()|>(?!\())|(&>>|&>)")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[(?:[^\]\n\"']|\"[^\"\n]*\"|'[^'\n]*')*\])?(\+?=)")
_DECLARING = frozenset(("export", "local", "declare", "typeset", "readonly"))


class SimpleReader(WordReader):
    """Reads commands that hold no others."""

    def __init__(self, text: str, *, fish: bool = False, depth: int = 0) -> None:
        super().__init__(text, fish=fish, depth=depth)
        self._heredocs: list[tuple[Redirect, str, bool, bool]] = []
        self._awaited = ""

    def _blank(self) -> None:
        match = _BLANK.match(self.text, self.position)
        if match:
            self.position = match.end()
        if self.peek() == "#":
            end = self.text.find("\n", self.position)
            self.position = len(self.text) if end < 0 else end

    def _blank_lines(self) -> None:
        while True:
            self._blank()
            if self.peek() != "\n":
                return
            self._newline()

    def _newline(self) -> None:
        self.position += 1
        for redirect, delimiter, quoted, tabs in self._heredocs:
            self._heredoc(redirect, delimiter, quoted, tabs)
        self._heredocs.clear()

    def _heredoc(self, redirect: Redirect, delimiter: str, quoted: bool, tabs: bool) -> None:
        lines: list[str] = []
        while self.position < len(self.text):
            end = self.text.find("\n", self.position)
            end = len(self.text) if end < 0 else end
            line = self.text[self.position : end]
            self.position = min(end + 1, len(self.text))
            line = line.lstrip("\t") if tabs else line
            if line.rstrip("\r") == delimiter:
                break
            lines.append(line + "\n")
        else:
            self._awaited = self._awaited or delimiter
        body = "".join(lines)
        word = Word((Text(body, quoted=True),)) if quoted else WordReader(body, depth=self.depth).read_heredoc_body()
        redirect.heredoc = word

    def _test(self) -> Node:
        tokens: list[Word | str] = []
        while True:
            self._blank_lines()
            if self.peek() == "":
                raise ShellSyntaxError("a [[ is not closed", at_end=True)
            if re.match(r"\]\](?=[\s;&|)]|$)", self.text[self.position : self.position + 3]):
                self.position += 2
                self._redirects()
                return Test(tokens)
            operator = next((o for o in ("&&", "||", "(", ")", "<", ">") if self.text.startswith(o, self.position)), "")
            if operator:
                self.position += len(operator)
                tokens.append(operator)
                if operator in "()" or operator in ("&&", "||"):
                    continue
                continue
            if tokens and isinstance(tokens[-1], Word) and tokens[-1].literal == "=~":
                tokens.append(self._regular_expression())
                continue
            word = self.read_word()
            if word is None:
                raise ShellSyntaxError("a bad test")
            tokens.append(word)

    def _regular_expression(self) -> Word:
        match = re.compile(r"(?:\\.|\"[^\"]*\"|'[^']*'|\([^)]*\)|[^\s])+").match(self.text, self.position)
        if match is None:
            raise ShellSyntaxError("a bad test", at_end=True)
        self.position = match.end()
        return Word((Text(match[0]),))

    def _redirects(self) -> list[Redirect]:
        found: list[Redirect] = []
        while True:
            self._blank()
            redirect = self._redirect()
            if redirect is None:
                return found
            found.append(redirect)

    def _redirect(self) -> Redirect | None:
        match = _REDIRECT.match(self.text, self.position)
        if match is None:
            return None
        self.position = match.end()
        self._blank()
        operator = match[2] or match[3]
        target = self.read_word()
        if target is None:
            raise ShellSyntaxError("a redirection without a target", at_end=self.position >= len(self.text))
        redirect = Redirect(operator, target, match[1] or "")
        if operator in ("<<", "<<-"):
            quoted = any(isinstance(part, Text) and part.quoted for part in target.parts)
            delimiter = "".join(part.text if isinstance(part, Text) else part.source for part in target.parts)
            self._heredocs.append((redirect, delimiter, quoted, operator == "<<-"))
        return redirect

    def _simple(self) -> Node:
        command = Simple(self.line())
        while True:
            self._blank()
            redirect = self._redirect()
            if redirect is not None:
                command.redirects.append(redirect)
                continue
            assignment = self._assignment(command)
            if assignment is not None:
                (command.declared if command.words else command.assignments).append(assignment)
                continue
            word = self.read_word()
            if word is None:
                break
            command.words.append(word)
        if not (command.words or command.assignments or command.redirects):
            raise ShellSyntaxError("a command is missing", at_end=self.position >= len(self.text))
        return command

    def _assignment(self, command: Simple) -> Assignment | None:
        if command.words and command.words[0].literal not in _DECLARING:
            return None
        match = _ASSIGNMENT.match(self.text, self.position)
        if match is None:
            return None
        self.position = match.end()
        index = WordReader(match[2][1:-1]).read_heredoc_body() if match[2] else None
        append = match[3] == "+="
        if self.peek() == "(" and not self.fish:
            return Assignment(match[1], None, self._array(), append, index)
        return Assignment(match[1], self.read_word() or Word(()), None, append, index)

    def _array(self) -> tuple[Word, ...]:
        self.position += 1
        words: list[Word] = []
        while True:
            self._blank_lines()
            if self.peek() == ")":
                self.position += 1
                return tuple(words)
            word = self.read_word()
            if word is None:
                raise ShellSyntaxError("an array is not closed", at_end=self.position >= len(self.text))
            words.append(word)
