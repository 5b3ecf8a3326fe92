"""Tracebacks of several processes, told apart."""

from bot.core.diagnosis import diagnose
from bot.core.diagnosis.lines import read_log
from bot.core.diagnosis.tracebacks import find_tracebacks, root_tracebacks, split_prefix

TWO_RANKS = """\
(Worker_TP0 pid=10) ERROR 01-01 00:00:00 [x.py:1] Traceback (most recent call last):
(Worker_TP1 pid=11) ERROR 01-01 00:00:00 [x.py:1] Traceback (most recent call last):
(Worker_TP0 pid=10) ERROR 01-01 00:00:00 [x.py:1]   File "/opt/a.py", line 1, in load
(Worker_TP1 pid=11) ERROR 01-01 00:00:00 [x.py:1]   File "/opt/b.py", line 2, in wait
(Worker_TP0 pid=10) ERROR 01-01 00:00:00 [x.py:1] KeyError: 'odd.weight'
(Worker_TP1 pid=11) ERROR 01-01 00:00:00 [x.py:1] EOFError
Traceback (most recent call last):
  File "/opt/c.py", line 3, in main
RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}
"""


def test_interleaved_ranks_keep_their_own_frames() -> None:
    found = find_tracebacks(read_log(TWO_RANKS).lines)
    assert [(t.process, t.exception) for t in found][:2] == [
        ("Worker_TP0 pid=10", "KeyError: 'odd.weight'"),
        ("Worker_TP1 pid=11", "EOFError"),
    ]
    assert found[0].frames == ('File "/opt/a.py", line 1, in load',)


def test_only_the_root_is_left() -> None:
    assert [t.exception for t in root_tracebacks(find_tracebacks(read_log(TWO_RANKS).lines))] == [
        "KeyError: 'odd.weight'"
    ]


def test_prefixes() -> None:
    assert split_prefix("[2026-01-01 00:00:00 TP3] Load weight begin.") == ("TP3", "Load weight begin.")
    assert split_prefix("llm-1  | plain") == ("", "plain")
    assert split_prefix("plain") == ("", "plain")


def test_unknown_shows_the_root_exception_first() -> None:
    text = 'Traceback (most recent call last):\n  File "/opt/c.py", line 3, in main\nZeroDivisionError: odd\n'
    diagnosis = diagnose(text)
    assert diagnosis.kind == "unknown"
    assert diagnosis.evidence[0].text == "ZeroDivisionError: odd"
