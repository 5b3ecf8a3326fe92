"""Log, arguments and facts to a Diagnosis; the rules are data (`rules/`, one table per family).

`lines` reads a log of any size, `tracebacks` and `phases` say where a line stands, `matching` tries the rules, and
`diagnose` states the result. Why one measured launch is slower than another is `bot.core.measuring.explain`.
"""

from bot.core.diagnosis.diagnose import answer, diagnose, diagnose_row
from bot.core.diagnosis.launch_settings import split_command

__all__ = ["answer", "diagnose", "diagnose_row", "split_command"]
