"""Scripts in this machine's Python."""

import json
import os
import sys

import pytest

from bot.adapters.local_python import SubprocessPython
from tests.rig.processes import is_running

ECHO = b"import sys, json\nprint(json.dumps(sys.argv[1:]), flush=True)\n"


def test_gives_the_argument_and_what_the_script_prints() -> None:
    with SubprocessPython().stream(ECHO, '{"a": "b c"}') as chunks:
        assert json.loads(b"".join(chunks)) == ['{"a": "b c"}']


def test_a_script_larger_than_a_pipe_arrives_whole() -> None:
    script = b"# " + b"x" * 500_000 + b"\n" + ECHO
    with SubprocessPython().stream(script, "1") as chunks:
        assert json.loads(b"".join(chunks)) == ["1"]


def test_what_it_says_on_stderr_comes_too() -> None:
    with SubprocessPython().stream(b"raise RuntimeError('broken')\n", "") as chunks:
        assert b"RuntimeError: broken" in b"".join(chunks)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_leaving_ends_the_script_even_one_that_will_not_go() -> None:
    stubborn = (
        b"import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint(os.getpid(), flush=True)\n"
    )
    with SubprocessPython().stream(stubborn + b"time.sleep(600)\n", "") as chunks:
        pid = int(next(chunks))
        assert pid != os.getpid()
        assert is_running(pid)
    assert not is_running(pid)
