"""`relaunch …`: parses arguments and calls the same workflows as Slack.

Exit codes: 0 done, 1 refused or failed, 2 wrong use. JSON on stdout, prose on stderr.
"""

from bot.cli.main import main

__all__ = ["main"]
