"""Command lines that every login shell reads alike."""

import string
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.adapters.ssh.wrapping import split_pid, wrap
from bot.core.domain.shell import ShellCommand
from bot.errors import BadInputError


@given(st.text(max_size=200).filter(lambda t: "\0" not in t), st.booleans(), st.booleans())
def test_the_line_holds_nothing_that_shells_read_differently(text: str, stdin: bool, sudo: bool) -> None:
    wrapped = wrap(ShellCommand(text=text, stdin=b"x" if stdin else b""), sudo=sudo)

    assert set(wrapped.line) <= set(string.printable) - set("\\!\n\r\t\x0b\x0c")
    assert wrapped.line.count("'") in (0, 2)


@settings(max_examples=30, deadline=None)
@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=80), st.booleans())
def test_a_shell_gives_the_words_back(word: str, stdin: bool) -> None:
    command = ShellCommand(text=f"printf %s {_quote(word)}; cat", stdin=b"<in>\n" if stdin else b"")
    wrapped = wrap(command, sudo=False)

    done = subprocess.run(
        ["/bin/sh", "-c", wrapped.line], input=wrapped.preamble + command.stdin, capture_output=True, check=True
    )

    assert done.stdout == word.encode() + command.stdin
    pid, rest = split_pid(done.stderr.decode())
    assert pid is not None
    assert rest == ""


def test_a_nul_is_refused() -> None:
    with pytest.raises(BadInputError):
        wrap(ShellCommand(text="a\0b"), sudo=False)


def test_the_pid_line_is_taken_out_wherever_a_login_shell_put_words_before_it() -> None:
    assert split_pid("motd\nrelaunch-pid 12\nreal error\n") == (12, "motd\nreal error\n")
    assert split_pid("no such file\n") == (None, "no such file\n")


def _quote(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"
